import StrataModel

extension LogReader {
    /// Returns the names that the commits of a sealed segment use or introduce, as stored in the segment
    /// (docs/format.md §25); nil for a segment of frames, which has no such list.
    ///
    /// ```swift
    /// for segment in reader.segments { print(try reader.names(of: segment) ?? []) }
    /// ```
    package func names(of segment: Segment) throws -> [InternedName]? {
        let known = catalog.read { state in state.segments.first { $0.firstOffset == segment.firstOffset } }
        guard let known else { return nil }
        return try catalog.reading(known) { try catalog.sealed($0)?.names() }
    }
}
