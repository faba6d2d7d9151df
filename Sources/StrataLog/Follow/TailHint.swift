import StrataModel

/// A writer's announcement to readers in other processes, in `log/tail`: a hint, never authoritative (docs/format.md
/// §26).
struct TailHint: Sendable, Equatable {
    /// The places of the parts of the page.
    enum Place {
        static let block = 0..<256
        /// Counts the announcements.
        static let news = 256
        /// Not 0 if a reader waits for news.
        static let isAwaited = 320
    }

    private enum Tag {
        static let storeID: UInt16 = 1
        static let durableOffset: UInt16 = 2
        static let durableChain: UInt16 = 3
        static let endOffset: UInt16 = 4
        static let endChain: UInt16 = 5
        static let bootID: UInt16 = 6
        static let process: UInt16 = 7
        static let opened: UInt16 = 8
        static let isClosed: UInt16 = 9
        static let all: Set<UInt16> = [
            storeID, durableOffset, durableChain, endOffset, endChain, bootID, process, opened, isClosed,
        ]
    }

    var storeID: Identifier
    var durableEnd: Position
    var end: Position
    var bootID: Identifier
    /// The writer's process, for people who look for it.
    var processIdentifier: Int32
    /// In microseconds since 1970.
    var opened: Int64
    var isClosed = false

    func encoded() -> [UInt8] {
        HeaderBlock(
            magic: LogFormat.tailMagic,
            fields: [
                .init(Tag.storeID, storeID), .init(Tag.durableOffset, durableEnd.offset),
                .init(Tag.durableChain, durableEnd.chain), .init(Tag.endOffset, end.offset),
                .init(Tag.endChain, end.chain), .init(Tag.bootID, bootID), .init(Tag.process, processIdentifier),
                .init(Tag.opened, opened), .init(Tag.isClosed, isClosed ? 1 as UInt32 : 0),
            ]
        ).encoded()
    }
}

extension TailHint {
    init(decoding bytes: [UInt8], path: String) throws {
        let block = try HeaderBlock(decoding: bytes, magic: LogFormat.tailMagic, path: path)
        try block.requireKnown(Tag.all, path: path)
        storeID = try block.identifier(Tag.storeID, path: path)
        durableEnd = Position(
            offset: try block.number(Tag.durableOffset, as: UInt64.self, path: path),
            chain: try block.number(Tag.durableChain, as: UInt32.self, path: path))
        end = Position(
            offset: try block.number(Tag.endOffset, as: UInt64.self, path: path),
            chain: try block.number(Tag.endChain, as: UInt32.self, path: path))
        bootID = try block.identifier(Tag.bootID, path: path)
        processIdentifier = try block.number(Tag.process, as: Int32.self, path: path)
        opened = try block.number(Tag.opened, as: Int64.self, path: path)
        isClosed = try block.number(Tag.isClosed, as: UInt32.self, path: path) != 0
    }
}
