import StrataLog
import StrataModel
import StrataSystem

/// The parts that were read since the last valid entry. All copies collect the same, so that they agree whether an
/// entry has all of its parts.
struct CollectedParts {
    /// The parts of the newest entry of each writer, which has one entry on its way.
    private var parts: [Identifier: [EntryPart]] = [:]

    /// Adds a part that continues those of its entry, or begins another one; a repeated part changes nothing.
    mutating func add(_ part: EntryPart, of writer: Identifier) {
        let known = parts[writer]
        if part.index == 0, known?.first?.whole != part.whole {
            parts[writer] = [part]
        } else if let known, known[0].whole == part.whole, part.index == known.count {
            parts[writer]?.append(part)
        }
    }

    /// Returns the number of parts of a writer's entry that have arrived.
    func count(of entry: Identifier, by writer: Identifier) -> Int {
        guard let known = parts[writer], known[0].whole == entry else { return 0 }
        return known.count
    }

    mutating func removeAll() {
        if !parts.isEmpty { parts = [:] }
    }

    /// Returns an entry with its commits in place of a reference to its parts; nil if parts of it are missing.
    func assembled(_ entry: SequencedEntry) throws -> SequencedEntry? {
        guard case .whole(let whole) = entry.content else { return entry }
        guard let found = parts[entry.writer], found[0].whole == entry.id, found.count == Int(whole.partCount) else {
            return nil
        }
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
