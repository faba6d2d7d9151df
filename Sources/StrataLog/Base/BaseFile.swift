import StrataModel
import StrataSystem

/// What a base says of itself: which commits it stands for (docs/format.md §27).
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
    /// The last commit that it stands for.
    let horizon: Position
    /// Of that commit.
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

/// Writes the payloads of a base, one block each, into a file that nobody reads yet.
struct BaseWriter: ~Copyable {
    private let header: BaseHeader
    private let file: any File
    private var writer: BlockWriter
    private var count: UInt64 = 0

    /// - Parameter file: an empty file.
    init(_ file: any File, storeID: Identifier, baseID: Identifier, horizon: Position, time: Int64) throws {
        let (header, bytes) = try BaseHeader.make(storeID: storeID, baseID: baseID, horizon: horizon, time: time)
        try file.write(bytes, at: 0)
        self.header = header
        self.file = file
        writer = BlockWriter(file, salt: header.salt, at: header.byteCount)
    }

    mutating func append(_ payload: ArraySlice<UInt8>) throws {
        guard payload.count <= LogFormat.maximumCommitBytes else {
            throw StrataError(
                .tooLarge, "A payload of a base is larger than a commit may be.",
                .init(expected: "at most \(LogFormat.maximumCommitBytes) bytes", found: "\(payload.count)"))
        }
        var block = BlockHeader(kind: .state)
        block.first = count
        block.count = 1
        try writer.append(block, Array(payload))
        count += 1
    }

    /// The file is complete and durable on return.
    consuming func finish() throws {
        let position = writer.position
        var end = BlockHeader(kind: .end)
        end.first = header.horizon.offset
        end.count = UInt32(clamping: count)
        end.chain = header.horizon.chain
        end.time = header.time
        var body = ByteWriter(reserving: 16)
        body.append(count)
        body.append(UInt64(position + SegmentSealer.endBytes))
        try writer.append(end, body.bytes, compresses: false)
        try writer.flush()
        try file.sync()
    }
}

/// Gives the payloads of a base one after another.
///
/// ```swift
/// var base = try log.readBase()
/// while let payload = try base?.next() { fold(payload) }
/// ```
public struct BaseReader {
    private let header: BaseHeader
    public let path: String
    private let window: FileWindow
    private var position: Int
    private var count: UInt64 = 0
    private var isDone = false

    /// The commit up to which the base stands for all.
    public var horizon: Position { header.horizon }
    /// Of that commit, in microseconds since 1970.
    public var time: Int64 { header.time }
    /// Another one for each base that is written, also where it stands for the same commits.
    public var id: Identifier { header.baseID }
    /// Of the whole file.
    public var byteCount: Int { window.limit }

    init(_ file: any File) throws {
        header = try BaseHeader(
            decoding: try file.read(count: LogFormat.headerBlockMaximumBytes, at: 0), path: file.path)
        path = file.path
        window = FileWindow(file, limit: try file.size())
        position = header.byteCount
    }

    /// The floor that the base is for.
    var mark: FloorMark {
        FloorMark(storeID: header.storeID, position: header.horizon, time: header.time, hasBase: true)
    }

    /// Throws unless the base is the one that a floor is for.
    func require(_ floor: FloorMark) throws {
        guard header.storeID == floor.storeID, header.horizon == floor.position, header.time == floor.time else {
            throw StrataError(
                .foreignSegment, "A base is not that of the floor.",
                .init(
                    path: path, expected: "store \(floor.storeID) at \(floor.position)",
                    found: "store \(header.storeID) at \(header.horizon)"))
        }
    }

    /// The next payload; nil behind the last.
    public mutating func next() throws -> ArraySlice<UInt8>? {
        if isDone { return nil }
        do {
            let block = try nextBlock()
            switch block.header.kind {
            case .state where block.header.first == count:
                count += 1
                return block.bytes[...]
            case .end:
                try check(end: block)
                isDone = true
                return nil
            default:
                throw block.malformed(
                    "A block has no place in a base.", expected: "payload \(count), or the end",
                    found: "\(block.header.kind) \(block.header.first)")
            }
        } catch let error as StrataError { throw error.located(path: path, offset: horizon.offset) }
    }

    private mutating func nextBlock() throws -> Block {
        let head = try window.bytes(at: position, count: BlockHeader.byteCount)
        let length = try BlockHeader(decoding: head, salt: header.salt, position: position).blockBytes
        let bytes = try window.bytes(at: position, count: length)
        let block = try Block(decoding: bytes, salt: header.salt, position: position)
        position += length
        return block
    }

    /// Where the next block stands; all that is left where it does not say so.
    func nextRange() throws -> Range<Int> {
        let head = try window.bytes(at: position, count: BlockHeader.byteCount)
        let header = try? BlockHeader(decoding: head, salt: self.header.salt, position: position)
        let limit = header.map { min(position + $0.blockBytes, window.limit) } ?? window.limit
        return position..<max(position, limit)
    }

    private func check(end: Block) throws {
        let numbers = end.bytes.withUnsafeBytes { bytes in
            bytes.count == 16
                ? (
                    UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)),
                    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
                ) : (UInt64.max, UInt64.max)
        }
        guard numbers == (count, UInt64(position)), position == window.limit, end.header.first == horizon.offset,
            end.header.chain == horizon.chain, end.header.time == header.time
        else {
            throw end.malformed(
                "A base does not end where it says.", expected: "\(count) payloads, \(position) bytes",
                found: "\(numbers.0) payloads, \(numbers.1) bytes in a file of \(window.limit)")
        }
    }
}
