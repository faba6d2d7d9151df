import StrataModel
import StrataSystem

/// An entry of a run.
struct RunEntry {
    // Both are valid only as long as the function that provides the entry says.
    var key: UnsafeRawBufferPointer
    var value: UnsafeRawBufferPointer
}

/// The header before a key and its value. Only the process that wrote it reads it.
private struct RunEntryHeader: BitwiseCopyable {
    var keyBytes: UInt32
    var valueBytes: UInt32

    static var byteCount: Int { MemoryLayout<RunEntryHeader>.size }
}

/// The header of a block of entries.
private struct RunBlock: BitwiseCopyable {
    /// The bytes at which a block is full.
    static let fullBytes = 256 << 10

    var byteCount: UInt32
    var checksum: UInt32

    static var headerBytes: Int { MemoryLayout<RunBlock>.size }
}

/// Writes entries to a file in the order in which they come.
final class RunWriter {
    let file: any File
    private(set) var end = 0
    private var block: [UInt8] = []

    init(_ file: any File) { self.file = file }

    func start(at position: Int) {
        end = position
        startBlock()
    }

    private func startBlock() {
        block.removeAll(keepingCapacity: true)
        withUnsafeBytes(of: RunBlock(byteCount: 0, checksum: 0)) { block.append(contentsOf: $0) }
    }

    /// - Parameter rest: the rest of the value.
    func append(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
        _ rest: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
    ) throws {
        let header = RunEntryHeader(keyBytes: UInt32(key.count), valueBytes: UInt32(value.count + rest.count))
        withUnsafeBytes(of: header) { block.append(contentsOf: $0) }
        block.append(contentsOf: key)
        block.append(contentsOf: value)
        block.append(contentsOf: rest)
        if block.count >= RunBlock.fullBytes { try finish() }
    }

    func finish() throws {
        guard block.count > RunBlock.headerBytes else { return }
        try block.withUnsafeMutableBytes { bytes in
            let entries = UnsafeRawBufferPointer(rebasing: bytes[RunBlock.headerBytes...])
            let header = RunBlock(byteCount: UInt32(entries.count), checksum: CRC32C.checksum(entries))
            bytes.storeBytes(of: header, as: RunBlock.self)
            try file.write(UnsafeRawBufferPointer(bytes), at: end)
        }
        end += block.count
        startBlock()
    }
}

/// Reads one run of entries block by block.
final class RunReader {
    private let file: any File
    /// The part of the run that has not been read yet.
    private var rest: Range<Int>
    private var buffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// The part of the buffer with entries that have not been returned yet.
    private var entries = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The current entry, once ``advance()`` has returned true; valid until the next call.
    private(set) var entry: RunEntry

    init(_ file: any File, _ run: Range<Int>) {
        self.file = file
        rest = run
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        entry = RunEntry(key: none, value: none)
    }

    deinit { buffer.deallocate() }

    /// Moves to the next entry; returns false if there is none.
    func advance() throws -> Bool {
        if entries.isEmpty {
            if rest.isEmpty { return false }
            try readBlock()
        }
        guard entries.count >= RunEntryHeader.byteCount else { throw damaged("length") }
        let header = entries.loadUnaligned(as: RunEntryHeader.self)
        let valueStart = RunEntryHeader.byteCount + Int(header.keyBytes)
        let end = valueStart + Int(header.valueBytes)
        guard end <= entries.count else { throw damaged("length") }
        entry = RunEntry(
            key: .init(rebasing: entries[RunEntryHeader.byteCount..<valueStart]),
            value: .init(rebasing: entries[valueStart..<end]))
        entries = .init(rebasing: entries[end...])
        return true
    }

    private func readBlock() throws {
        let start = rest.lowerBound + RunBlock.headerBytes
        let bytes = try file.read(count: RunBlock.headerBytes, at: rest.lowerBound)
        guard bytes.count == RunBlock.headerBytes, start <= rest.upperBound else { throw damaged("length") }
        let header = bytes.withUnsafeBytes { $0.loadUnaligned(as: RunBlock.self) }
        let count = Int(header.byteCount)
        guard count <= rest.upperBound - start else { throw damaged("length") }
        if buffer.count < count {
            buffer.deallocate()
            buffer = .allocate(byteCount: count, alignment: 16)
        }
        let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
        guard try file.read(into: part, at: start) == count,
            CRC32C.checksum(UnsafeRawBufferPointer(part)) == header.checksum
        else { throw damaged("checksum") }
        rest = start + count..<rest.upperBound
        entries = UnsafeRawBufferPointer(part)
    }

    private func damaged(_ what: String) -> StrataError {
        StrataError(
            .inputOutput, "Sorted entries that were read from their file are corrupt.",
            .init(position: UInt64(rest.lowerBound), path: file.path, found: "another \(what)"))
    }
}

/// Merges runs: a heap finds the smallest of their current entries. Of equal keys, that of the earlier run comes first.
struct RunMerge {
    private struct Node {
        /// The key's first bytes, which usually decide.
        var head: UInt64
        var run: Int
    }

    private let readers: [RunReader]
    private var heap: Heap<Node>

    init(_ readers: [RunReader]) throws {
        self.readers = readers
        heap = Heap { a, b in
            if a.head != b.head { return a.head < b.head }
            let order = RecordSlice.compare(readers[a.run].entry.key, readers[b.run].entry.key)
            return order == 0 ? a.run < b.run : order < 0
        }
        for (run, reader) in readers.enumerated() where try reader.advance() {
            heap.push(Node(head: RecordSlice.head(of: reader.entry.key), run: run))
        }
    }

    var first: RunEntry? { heap.first.map { readers[$0.run].entry } }

    mutating func advance() throws {
        guard let run = heap.first?.run else { return }
        if try readers[run].advance() {
            heap.replaceFirst(by: Node(head: RecordSlice.head(of: readers[run].entry.key), run: run))
        } else {
            // The other runs' entries stay in place while they are compared.
            _ = heap.pop()
        }
    }
}
