import StrataModel
import StrataSystem
import StrataTree

/// The header before the body of a sorted event in a run.
private struct SortedEventHeader: BitwiseCopyable {
    var kind: UInt64
    var version: UInt64
    var time: Int64
    var user: UInt64
    var device: UInt64

    static var byteCount: Int { MemoryLayout<SortedEventHeader>.size }
}

extension RunWriter {
    func append(_ event: SortedEvent) throws {
        let place = event.place
        let header = SortedEventHeader(
            kind: event.kind.rawValue, version: place.version.packed, time: place.time, user: place.user,
            device: place.device)
        try withUnsafeBytes(of: header) { try append(event.key, $0, event.body) }
    }
}

extension SortedEvent {
    init(_ entry: RunEntry) throws {
        guard entry.value.count >= SortedEventHeader.byteCount else {
            throw StrataError(.inputOutput, "A sorted event that was read from its file is corrupt.")
        }
        let header = entry.value.loadUnaligned(as: SortedEventHeader.self)
        self.init(
            key: entry.key, body: .init(rebasing: entry.value[SortedEventHeader.byteCount...]),
            kind: EventKind(rawValue: header.kind),
            place: EventPlace(
                version: Version(packed: header.version), time: header.time, user: header.user, device: header.device)
        )
    }
}

/// Sorts more events of records by key than memory should hold: sorted slices go to an unnamed file, and are merged
/// when they are read back.
///
/// The file belongs to this process alone and ends with it at the latest; damage to it is detected.
final class EventSorter {
    /// The positions of the sorted slices in the file.
    private var runs: [Range<Int>] = []
    private var writer: RunWriter?
    private let files: any FileSystem
    private let path: String
    private(set) var eventCount = 0
    private(set) var byteCount = 0
    /// The zones whose records have events here.
    private(set) var zones: Set<UInt64> = []

    init(files: any FileSystem, path: String) {
        self.files = files
        self.path = path
    }

    var isEmpty: Bool { runs.isEmpty }

    /// Writes the events of a slice, which keeps them.
    ///
    /// - Throws: ``StrataError`` of the file; then nothing has been added.
    func add(_ slice: inout RecordSlice) throws {
        let writer = try self.writer ?? RunWriter(try files.openUnnamed(path))
        self.writer = writer
        let start = runs.last?.upperBound ?? 0
        writer.start(at: start)
        try slice.forEachEvent { try writer.append($0) }
        try writer.finish()
        runs.append(start..<writer.end)
        eventCount += slice.count
        byteCount += slice.byteCount
        zones.formUnion(slice.zones)
    }

    func removeAll() throws {
        (runs, eventCount, byteCount, zones) = ([], 0, 0, [])
        try writer?.file.truncate(to: 0)
    }

    /// Calls `body` with all events in the order of their keys; those of one key oldest first.
    ///
    /// - Parameter body: receives an event that is valid only until it returns.
    func forEachEvent(_ body: (SortedEvent) throws -> Void) throws {
        guard let file = writer?.file else { return }
        // Slices come in the order of the log, so among events of one key those of an earlier run are older.
        var merge = try RunMerge(runs.map { RunReader(file, $0) })
        while let entry = merge.first {
            try body(try SortedEvent(entry))
            try merge.advance()
        }
    }
}
