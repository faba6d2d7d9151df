import StrataModel
import StrataSystem

/// The log position in a header slot of the page file (docs/format-views.md §6). Nothing else of the page file matters
/// here.
struct CheckpointMark: Equatable {
    static let slotCount = 2
    static let slotBytes = 4_096
    private static let magic = "StrataVw"
    private static let version: UInt16 = 1
    private static let versionPlace = 8
    private static let checksumPlace = 12
    private static let storePlace = 32

    var storeID: Identifier
    /// The last commit that is folded into the checkpoint.
    var position: Position

    init(storeID: Identifier, position: Position) {
        self.storeID = storeID
        self.position = position
    }

    /// Decodes a slot; returns nil if it is empty, damaged, or of another version.
    init?(decoding slot: [UInt8]) {
        guard slot.count == Self.slotBytes, slot.starts(with: Self.magic.utf8) else { return nil }
        var unsigned = slot
        for place in Self.checksumPlace..<Self.checksumPlace + 4 { unsigned[place] = 0 }
        let sum = unsigned.withUnsafeBytes { CRC32C.checksum($0) }
        let mark = try? slot.withUnsafeBytes { bytes -> CheckpointMark? in
            var reader = ByteReader(bytes, at: Self.versionPlace)
            let version = try reader.read(UInt16.self, "version")
            _ = try reader.read(UInt16.self, "page size")
            guard version == Self.version, try reader.read(UInt32.self, "checksum") == sum else { return nil }
            reader = ByteReader(bytes, at: Self.storePlace)
            let storeID = try reader.readIdentifier("store id")
            let offset = try reader.read(UInt64.self, "offset")
            return CheckpointMark(
                storeID: storeID, position: Position(offset: offset, chain: try reader.read(UInt32.self, "chain value"))
            )
        }
        guard let mark = mark ?? nil else { return nil }
        self = mark
    }
}
