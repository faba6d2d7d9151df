import StrataModel
import StrataTree

/// Turns commits into the state of a store, in a fork of its trees.
///
/// Events of records are gathered and folded in the order of their keys, at the latest by ``flush()``: whoever reads
/// the fork calls that first.
///
/// ```swift
/// let fold = Fold(store.fork())
/// try commit.payload.withUnsafeBytes { try fold.apply($0, offset: commit.offset, time: commit.time) }
/// try fold.flush()
/// try store.publish(fold.fork)
/// ```
public final class Fold {
    /// Gathered events are folded when there are so many, or so many bytes of them.
    private static let sliceEvents = 100_000
    private static let sliceBytes = 48 << 20

    public let fork: Fork
    let names = NameCache()
    private var slice = RecordSlice()
    var zones = ZoneTotals()
    var merger = RecordMerger()
    var digest: RecordDigest
    /// States in the making: the one before, and the next.
    var oldState = ByteWriter(reserving: 4_096)
    var newState = ByteWriter(reserving: 4_096)
    var referenceKeys = ReferenceKeys()
    /// Up to which commit everything has been applied.
    public private(set) var offset: UInt64

    public init(_ fork: Fork) {
        self.fork = fork
        digest = RecordDigest(names, fork)
        offset = fork.foldedOffset(ViewTree.records)
    }

    /// Applies the events of a commit.
    ///
    /// - Throws: ``StrataError`` if an event is malformed, does not fit the state, or is of a kind that this release
    ///   must know and does not; then the fork can only be dropped.
    public func apply(_ payload: UnsafeRawBufferPointer, offset: UInt64, time: Int64) throws {
        var walker = try EventWalker(payload)
        let header = try walker.header()
        var index: UInt32 = 0
        while let event = try walker.next() {
            let place = EventPlace(
                version: Version(offset: offset, eventIndex: index), time: time, user: header.user,
                device: header.device)
            do { try apply(event.kind, event.body, of: payload, at: place) } catch let error as StrataError {
                throw error.at(offset: offset)
            }
            index += 1
        }
        self.offset = offset
        if slice.count >= Self.sliceEvents || slice.byteCount >= Self.sliceBytes { try flush() }
    }

    private func apply(
        _ kind: EventKind, _ body: Range<Int>, of payload: UnsafeRawBufferPointer, at place: EventPlace
    ) throws {
        switch kind {
        case .recordSaved, .recordDeleted:
            var reader = ByteReader(payload, at: body.lowerBound)
            let zone = try reader.readVarint("the zone of an event")
            _ = try reader.readVarint("the type of a record event")
            let name = try reader.readStringRange("a record name", atMost: Envelope.maximumNameBytes)
            slice.append(
                kind, zone: zone, name: UnsafeRawBufferPointer(rebasing: payload[name]),
                body: UnsafeRawBufferPointer(rebasing: payload[body]), at: place)
        case .nameInterned: try applyName(UnsafeRawBufferPointer(rebasing: payload[body]))
        case _ where kind.isAudit: break
        default:
            // What follows may end a zone, or begin another life of it: its records first.
            try flush()
            try applyOther(kind, UnsafeRawBufferPointer(rebasing: payload[body]), at: place)
        }
    }

    /// Folds what has been gathered.
    public func flush() throws {
        if slice.count > 0 {
            try slice.forEachRecord { bytes, events in try foldRecord(bytes, events) }
            slice.removeAll()
        }
        try writeZones()
        for id in ViewTree.folded { fork.setFoldedOffset(id, offset) }
    }
}

extension StrataError {
    func at(offset: UInt64) -> StrataError {
        var error = self
        if error.context.offset == nil { error.context.offset = offset }
        return error
    }
}
