import StrataModel
import StrataSystem

/// The identity of a store: the content of its `STORE` file.
package struct StoreIdentity: Sendable, Equatable {
    private enum Tag {
        static let storeID: UInt16 = 1
        static let containerIdentifier: UInt16 = 2
        static let created: UInt16 = 3
    }

    package let storeID: Identifier
    package let containerIdentifier: String
    /// In microseconds since 1970.
    package let created: Int64

    package init(storeID: Identifier, containerIdentifier: String, created: Int64) throws {
        guard (1...LogFormat.containerIdentifierMaximumBytes).contains(containerIdentifier.utf8.count) else {
            throw StrataError(
                .invalidArgument, "A container identifier must have 1 to 255 bytes.",
                .init(found: "\(containerIdentifier.utf8.count) bytes"))
        }
        self.storeID = storeID
        self.containerIdentifier = containerIdentifier
        self.created = created
    }

    func encoded() -> [UInt8] {
        HeaderBlock(
            magic: LogFormat.storeMagic,
            fields: [
                .init(Tag.storeID, storeID),
                .init(tag: Tag.containerIdentifier, value: [UInt8](containerIdentifier.utf8)),
                .init(Tag.created, created),
            ]
        ).encoded()
    }

    /// Returns the identity of the store in a directory; nil if there is none.
    package static func read(_ paths: StorePaths, _ files: any FileSystem) throws -> StoreIdentity? {
        try files.exists(paths.identity) ? try LogDirectory.readIdentity(paths, files) : nil
    }

    init(decoding bytes: [UInt8], path: String) throws {
        let block = try HeaderBlock(decoding: bytes, magic: LogFormat.storeMagic, path: path)
        try block.requireKnown([Tag.storeID, Tag.containerIdentifier, Tag.created], path: path)
        storeID = try block.identifier(Tag.storeID, path: path)
        created = try block.number(Tag.created, as: Int64.self, path: path)
        let name = try block.value(
            Tag.containerIdentifier, bytes: 1...LogFormat.containerIdentifierMaximumBytes, path: path)
        guard let text = name.withUnsafeBytes({ String(utf8: $0) }) else {
            throw StrataError(.malformed, "The container identifier is not valid UTF-8.", .init(path: path))
        }
        containerIdentifier = text
    }
}

/// The position up to which history was discarded: the content of `log/FLOOR`.
struct FloorMark: Sendable, Equatable {
    private enum Tag {
        static let storeID: UInt16 = 1
        static let offset: UInt16 = 2
        static let chain: UInt16 = 3
        static let time: UInt16 = 6
        /// Mandatory: a reader that does not know bases must not take the rest of the log for all of it.
        static let hasBase: UInt16 = 7
        static let all: Set<UInt16> = [storeID, offset, chain, time, hasBase]
    }

    var storeID: Identifier
    var position: Position
    var time: Int64
    /// True if a base replaces the discarded commits.
    var hasBase = false

    /// Reads the store's `FLOOR`; nil if no history was discarded.
    static func read(_ paths: StorePaths, _ files: any FileSystem) throws -> FloorMark? {
        guard try files.exists(paths.floor) else { return nil }
        let bytes = try files.readAll(paths.floor, atMost: LogFormat.headerBlockMaximumBytes)
        return try FloorMark(decoding: bytes, path: paths.floor)
    }

    func encoded() -> [UInt8] {
        HeaderBlock(
            magic: LogFormat.floorMagic,
            fields: [
                .init(Tag.storeID, storeID), .init(Tag.offset, position.offset), .init(Tag.chain, position.chain),
                .init(Tag.time, time),
            ] + (hasBase ? [.init(Tag.hasBase, 1 as UInt32)] : [])
        ).encoded()
    }
}

extension FloorMark {
    init(decoding bytes: [UInt8], path: String) throws {
        let block = try HeaderBlock(decoding: bytes, magic: LogFormat.floorMagic, path: path)
        try block.requireKnown(Tag.all, path: path)
        if block.fields.contains(where: { $0.tag == Tag.hasBase }) {
            hasBase = try block.number(Tag.hasBase, as: UInt32.self, path: path) == 1
        }
        storeID = try block.identifier(Tag.storeID, path: path)
        position = Position(
            offset: try block.number(Tag.offset, as: UInt64.self, path: path),
            chain: try block.number(Tag.chain, as: UInt32.self, path: path))
        time = try block.number(Tag.time, as: Int64.self, path: path)
        guard position.offset <= Version.maximumOffset else {
            throw StrataError(
                .malformed, "The floor's offset is invalid.",
                .init(path: path, expected: "at most \(Version.maximumOffset)", found: "\(position.offset)"))
        }
    }
}
