import StrataModel
import StrataSystem

/// The part of a log that is known to survive a loss of power, as far as its files tell.
///
/// ```swift
/// let durability = try reader.durability()
/// print("all up to \(durability.offset)")
/// ```
package struct LogDurability: Sendable, Equatable {
    /// The evidence for the durable offset.
    package enum Source: String, Sendable {
        /// A live writer, in `log/tail`.
        case writer
        /// The log was closed: its end is written after a sync of everything before it.
        case closed
        /// A frame, which names the last commit that had been synced when it was written. More may be durable.
        case witness
    }

    /// A program that has the log open for writing.
    package struct Writer: Sendable, Equatable {
        package var processIdentifier: Int32
        /// The time when it opened the log, in microseconds since 1970.
        package var opened: Int64
    }

    /// The last commit known to be durable; the floor if none is.
    package var offset: UInt64
    package var source: Source
    /// Nil if no writer lives, or none that announces itself.
    package var writer: Writer?
}

extension LogDurability {
    /// Returns what the live writer of a store announces; nil if there is none. The log itself is not read, and need
    /// not be whole.
    package static func announced(at path: String, files: any FileSystem = RealFileSystem()) -> LogDurability? {
        let paths = StorePaths(path)
        guard let identity = try? LogDirectory.readIdentity(paths, files),
            case .live(let hint, _) = TailReader(paths, files, storeID: identity.storeID).outlook()
        else { return nil }
        return LogDurability(hint, offset: hint.durableEnd.offset)
    }

    fileprivate init(_ hint: TailHint, offset: UInt64) {
        self.init(
            offset: offset, source: .writer,
            writer: Writer(processIdentifier: hint.processIdentifier, opened: hint.opened))
    }
}

extension LogReader {
    /// Returns what the writer announces, if one lives; otherwise what the last frames prove.
    package func durability() throws -> LogDurability {
        if case .live(let hint, _) = tail.outlook() {
            // Commits appended since this reader last looked are not visible to it.
            return LogDurability(hint, offset: max(floor.offset, min(hint.durableEnd.offset, end.offset)))
        }
        let (segment, end) = catalog.read { ($0.segments[$0.segments.count - 1], $0.end) }
        // A segment without commits follows closed ones, or nothing.
        guard segment.seal == nil, end.offset >= segment.firstOffset else {
            return LogDurability(offset: end.offset, source: .closed)
        }
        guard let range = try catalog.withIndex(of: segment, { $0.range(of: end.offset) }) else {
            return LogDurability(offset: segment.firstOffset - 1, source: .closed)
        }
        let file = try catalog.newestFile(of: segment) ?? catalog.open(segment)
        if try Self.isMark(segment, file, endingAt: range.upperBound) {
            return LogDurability(offset: end.offset, source: .closed)
        }
        let last = try FrameLoader(segment: segment, file: file).lastHeader(offset: end.offset, in: range)
        return LogDurability(
            offset: max(last.witnessedOffset ?? 0, segment.firstOffset - 1), source: .witness)
    }

    private static func isMark(_ segment: SegmentFile, _ file: any File, endingAt limit: Int) throws -> Bool {
        let position = limit - LogFormat.frameHeaderBytes
        let bytes = try file.read(count: LogFormat.frameHeaderBytes, at: position)
        let frame = bytes.withUnsafeBytes { FrameHeader(valid: $0, salt: segment.header.salt, position: position) }
        return frame?.kind == .mark
    }
}
