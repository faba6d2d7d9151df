import StrataModel
import StrataSystem

/// Reads the payloads of a base one after another.
///
/// ```swift
/// var base = try log.readBase()
/// while let payload = try base?.next() { fold(payload) }
/// ```
package struct BaseReader {
    private let header: BaseHeader
    package let path: String
    private let window: FileWindow
    private var position: Int
    private var count: UInt64 = 0
    private var isDone = false

    /// The last commit that the base replaces.
    package var horizon: Position { header.horizon }
    /// The time of that commit, in microseconds since 1970.
    package var time: Int64 { header.time }
    /// A new id for each base that is written, even if it replaces the same commits as another one.
    package var id: Identifier { header.baseID }
    /// The store of which it is a base.
    package var storeID: Identifier { header.storeID }
    /// The size of the whole file.
    package var byteCount: Int { window.limit }

    /// - Parameter file: the file of a base, as a log keeps it.
    package init(_ file: any File) throws {
        header = try BaseHeader(
            decoding: try file.read(count: LogFormat.headerBlockMaximumBytes, at: 0), path: file.path)
        path = file.path
        window = FileWindow(file, limit: try file.size())
        position = header.byteCount
    }

    /// The floor that the base belongs to.
    var mark: FloorMark {
        FloorMark(storeID: header.storeID, position: header.horizon, time: header.time, hasBase: true)
    }

    /// Throws unless the base belongs to the floor.
    func require(_ floor: FloorMark) throws {
        guard header.storeID == floor.storeID, header.horizon == floor.position, header.time == floor.time else {
            throw StrataError(
                .foreignSegment, "The base does not belong to the floor.",
                .init(
                    path: path, expected: "store \(floor.storeID) at \(floor.position)",
                    found: "store \(header.storeID) at \(header.horizon)"))
        }
    }

    /// Returns the next payload; nil after the last.
    package mutating func next() throws -> ArraySlice<UInt8>? {
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
                    "A base contains a block of the wrong kind or out of order.",
                    expected: "payload \(count), or the end",
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

    /// Returns the range of the next block; all the rest of the file if the block's header is damaged.
    func nextRange() throws -> Range<Int> {
        let head = try window.bytes(at: position, count: BlockHeader.byteCount)
        let header = try? BlockHeader(decoding: head, salt: self.header.salt, position: position)
        let limit = header.map { min(position + $0.blockBytes, window.limit) } ?? window.limit
        return position..<max(position, limit)
    }

    private func check(end: Block) throws {
        let numbers = end.endNumbers() ?? (.max, .max)
        guard numbers == (count, UInt64(position)), position == window.limit, end.header.first == horizon.offset,
            end.header.chain == horizon.chain, end.header.time == header.time
        else {
            throw end.malformed(
                "The end of a base does not match its content.", expected: "\(count) payloads, \(position) bytes",
                found: "\(numbers.0) payloads, \(numbers.1) bytes in a file of \(window.limit)")
        }
    }
}
