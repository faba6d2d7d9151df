import StrataModel
import StrataSystem

/// An event of a record beside the record's key.
struct SortedEvent {
    // Both are valid only as long as whoever hands the event out says.
    var key: UnsafeRawBufferPointer
    var body: UnsafeRawBufferPointer
    var kind: EventKind
    var place: EventPlace
}

/// What stands in front of the key and the body of a sorted event. Only the process that wrote it reads it.
private struct EventRunEntry: BitwiseCopyable {
    var keyBytes: UInt32
    var bodyBytes: UInt32
    var kind: UInt64
    var version: UInt64
    var time: Int64
    var user: UInt64
    var device: UInt64

    static var byteCount: Int { MemoryLayout<EventRunEntry>.size }
}

/// What stands in front of some events.
private struct EventRunBlock: BitwiseCopyable {
    /// A block is full when it has at least so many.
    static let fullBytes = 256 << 10

    var byteCount: UInt32
    var checksum: UInt32

    static var headerBytes: Int { MemoryLayout<EventRunBlock>.size }
}

/// Writes events to a file in the order in which they come.
final class EventRunWriter {
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
        withUnsafeBytes(of: EventRunBlock(byteCount: 0, checksum: 0)) { block.append(contentsOf: $0) }
    }

    func append(_ event: SortedEvent) throws {
        let entry = EventRunEntry(
            keyBytes: UInt32(event.key.count), bodyBytes: UInt32(event.body.count), kind: event.kind.rawValue,
            version: event.place.version.packed, time: event.place.time, user: event.place.user,
            device: event.place.device)
        withUnsafeBytes(of: entry) { block.append(contentsOf: $0) }
        block.append(contentsOf: event.key)
        block.append(contentsOf: event.body)
        if block.count >= EventRunBlock.fullBytes { try finish() }
    }

    func finish() throws {
        guard block.count > EventRunBlock.headerBytes else { return }
        try block.withUnsafeMutableBytes { bytes in
            let events = UnsafeRawBufferPointer(rebasing: bytes[EventRunBlock.headerBytes...])
            let header = EventRunBlock(byteCount: UInt32(events.count), checksum: CRC32C.checksum(events))
            bytes.storeBytes(of: header, as: EventRunBlock.self)
            try file.write(UnsafeRawBufferPointer(bytes), at: end)
        }
        end += block.count
        startBlock()
    }
}

/// Reads one run of events block by block.
final class EventRunReader {
    private let file: any File
    /// What has not been read yet.
    private var rest: Range<Int>
    private var buffer = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// The part of the buffer that has events still to come.
    private var events = UnsafeRawBufferPointer(start: nil, count: 0)
    /// Where the run is once ``advance()`` has said that there is one; valid until the next call.
    private(set) var event: SortedEvent

    init(_ file: any File, _ run: Range<Int>) {
        self.file = file
        rest = run
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        event = SortedEvent(
            key: none, body: none, kind: .recordSaved, place: EventPlace(version: Version(packed: 0), time: 0, user: 0))
    }

    deinit { buffer.deallocate() }

    /// Goes on to the next event; false if there is none.
    func advance() throws -> Bool {
        if events.isEmpty {
            if rest.isEmpty { return false }
            try readBlock()
        }
        guard events.count >= EventRunEntry.byteCount else { throw damaged("length") }
        let entry = events.loadUnaligned(as: EventRunEntry.self)
        let bodyStart = EventRunEntry.byteCount + Int(entry.keyBytes)
        let end = bodyStart + Int(entry.bodyBytes)
        guard end <= events.count else { throw damaged("length") }
        event = SortedEvent(
            key: .init(rebasing: events[EventRunEntry.byteCount..<bodyStart]),
            body: .init(rebasing: events[bodyStart..<end]), kind: EventKind(rawValue: entry.kind),
            place: EventPlace(
                version: Version(packed: entry.version), time: entry.time, user: entry.user, device: entry.device))
        events = .init(rebasing: events[end...])
        return true
    }

    private func readBlock() throws {
        let start = rest.lowerBound + EventRunBlock.headerBytes
        let bytes = try file.read(count: EventRunBlock.headerBytes, at: rest.lowerBound)
        guard bytes.count == EventRunBlock.headerBytes, start <= rest.upperBound else { throw damaged("length") }
        let header = bytes.withUnsafeBytes { $0.loadUnaligned(as: EventRunBlock.self) }
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
        events = UnsafeRawBufferPointer(part)
    }

    private func damaged(_ what: String) -> StrataError {
        StrataError(
            .inputOutput, "Sorted events did not come back from their file as they went there.",
            .init(position: UInt64(rest.lowerBound), path: file.path, found: "another \(what)"))
    }
}
