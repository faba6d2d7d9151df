import StrataModel
import StrataTree

extension TreeReading {
    /// What tells this state from any other (docs/format-keys.md §5). Reads a row for each zone, subscription, user
    /// and the like, and no record.
    public func digests() throws -> Digests {
        var sum = Digests()
        try scan(ViewTree.zones, from: nil, to: nil) { _, row in
            let zone = try ZoneRow(decoding: row)
            sum += zone.recordDigests
            sum += zone.ownDigests
            return true
        }
        for id in ViewTree.plain {
            try scan(id, from: nil, to: nil) { _, row in
                var reader = ByteReader(row)
                _ = try reader.readPackedVersion("a row's version")
                sum += try reader.readDigests()
                return true
            }
        }
        return sum
    }
}
