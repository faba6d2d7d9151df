import StrataModel

/// The header of a base file: the commits that the base replaces (docs/format.md §27).
struct BaseHeader: Sendable, Equatable {
    private enum Tag {
        static let storeID: UInt16 = 1
        static let offset: UInt16 = 2
        static let chain: UInt16 = 3
        static let baseID: UInt16 = 5
        static let time: UInt16 = 6
        static let all: Set<UInt16> = [storeID, offset, chain, baseID, time]
    }

    let storeID: Identifier
    let baseID: Identifier
    /// The last commit that the base replaces.
    let horizon: Position
    /// The time of that commit.
    let time: Int64
    let salt: UInt32
    let byteCount: Int

    static func make(
        storeID: Identifier, baseID: Identifier, horizon: Position, time: Int64
    ) throws -> (header: BaseHeader, bytes: [UInt8]) {
        let bytes = HeaderBlock(
            magic: LogFormat.baseMagic,
            fields: [
                .init(Tag.storeID, storeID), .init(Tag.offset, horizon.offset), .init(Tag.chain, horizon.chain),
                .init(Tag.baseID, baseID), .init(Tag.time, time),
            ]
        ).encoded()
        return (try BaseHeader(decoding: bytes, path: "a new base"), bytes)
    }

    init(decoding bytes: [UInt8], path: String) throws {
        let block = try HeaderBlock(decoding: bytes, magic: LogFormat.baseMagic, path: path)
        try block.requireKnown(Tag.all, path: path)
        storeID = try block.identifier(Tag.storeID, path: path)
        baseID = try block.identifier(Tag.baseID, path: path)
        horizon = Position(
            offset: try block.number(Tag.offset, as: UInt64.self, path: path),
            chain: try block.number(Tag.chain, as: UInt32.self, path: path))
        time = try block.number(Tag.time, as: Int64.self, path: path)
        salt = block.checksum
        byteCount = Int(bytes[10]) | Int(bytes[11]) << 8
    }
}
