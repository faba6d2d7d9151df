import StrataLog
import StrataModel
import StrataSystem

/// The parts that were read since the last valid entry. All copies collect the same, so that they agree whether an
/// entry has all of its parts.
struct CollectedParts {
    private var parts: [Identifier: [EntryPart]] = [:]

    /// Adds a part that continues those of its entry; another one, for example a repeated one, changes nothing.
    mutating func add(_ part: EntryPart) {
        guard part.index == parts[part.whole]?.count ?? 0 else { return }
        parts[part.whole, default: []].append(part)
    }

    /// Returns the number of parts of an entry that came.
    func count(of entry: Identifier) -> Int { parts[entry]?.count ?? 0 }

    mutating func removeAll() {
        if !parts.isEmpty { parts = [:] }
    }

    /// Returns an entry with its commits in place of a reference to its parts; nil if parts of it are missing.
    func assembled(_ entry: SequencedEntry) throws -> SequencedEntry? {
        guard case .whole(let whole) = entry.content else { return entry }
        guard let found = parts[entry.id], found.count == Int(whole.partCount) else { return nil }
        let bytes = found.flatMap(\.bytes)
        guard bytes.count == whole.byteCount, bytes.withUnsafeBytes({ CRC32C.checksum($0) }) == whole.checksum else {
            return nil
        }
        var entry = entry
        entry.content = .commits(
            try bytes.withUnsafeBytes { bytes in
                var reader = ByteReader(bytes, at: 0)
                let commits = try SequencedEntry.commits(whole.commitCount, &reader, of: bytes)
                try reader.expectEnd("the commits of an entry")
                return commits
            })
        return entry
    }
}
