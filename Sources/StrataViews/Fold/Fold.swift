import StrataModel
import StrataTree

/// Turns commits into the state of a store, in a fork of its trees.
///
/// Events of records are gathered and folded in the order of their keys, at the latest by ``flush()``. Call it before
/// reading the fork.
///
/// ```swift
/// let fold = Fold(store.fork())
/// for commit in commits {
///     try commit.payload.withUnsafeBytes { try fold.apply($0, offset: commit.offset, time: commit.time) }
/// }
/// try fold.publish(to: store)
/// ```
package final class Fold {
    /// The number and bytes of gathered events at which they are folded or handed to the sorter.
    struct SliceLimits {
        var events = 250_000
        var bytes = 96 << 20
    }

    package private(set) var fork: Fork
    var records = RecordFold()
    var slice = RecordSlice()
    /// The highest ordinals that events of records have used. A name that is interned later for one of them is an error
    /// that folding in the order of keys does not detect.
    var used = UsedOrdinals()
    /// True if a commit was applied or folded only in part. Such a state must not be published.
    package internal(set) var isPartial = false
    private let limits: SliceLimits
    /// Takes full slices, so that all are folded together; nil if each is folded by itself.
    let sorter: EventSorter?
    /// The offset up to which all commits have been applied.
    package internal(set) var offset: UInt64

    package convenience init(_ fork: Fork) { self.init(fork, sorter: nil) }

    init(_ fork: Fork, sorter: EventSorter?, limits: SliceLimits = SliceLimits()) {
        self.fork = fork
        self.sorter = sorter
        self.limits = limits
        offset = fork.foldedOffset(ViewTree.records)
    }

    /// Folds the gathered events, publishes the fork as the newest state, and continues in a fork of that. This is
    /// faster than another fold, which has no cached names.
    ///
    /// - Parameter pages: the store that the fork belongs to.
    @discardableResult
    package func publish(to pages: PageStore) throws -> Snapshot { try publish(to: pages) { _ in } }

    /// - Parameter progress: see ``flush(progress:)``.
    func publish(to pages: PageStore, progress: (Int) -> Void) throws -> Snapshot {
        try flush(progress: progress)
        let snapshot = try pages.publish(fork)
        fork = pages.fork()
        return snapshot
    }

    /// Folds the gathered events and returns the fork, which must be published first; continues in a fork of it.
    package func stack() throws -> Fork {
        try flush()
        let lower = fork
        fork = Fork(on: lower)
        return lower
    }

    /// Applies the events of a commit.
    ///
    /// - Throws: ``StrataError`` if an event is malformed, does not fit the state, or is of a kind that this release
    ///   must know and does not. The fork can then only be dropped.
    /// - Parameter found: the states of records that the commit changes, as they are in this fold.
    package func apply(
        _ payload: UnsafeRawBufferPointer, offset: UInt64, time: Int64, found: FoundStates = FoundStates()
    ) throws {
        guard offset > self.offset, offset <= Version.maximumOffset else {
            throw StrataError(
                .brokenSequence, "A commit is not after the commits already folded.",
                .init(
                    offset: offset, expected: "\(self.offset + 1) to \(Version.maximumOffset)", found: "\(offset)"))
        }
        do { try applyEvents(of: payload, offset: offset, time: time, found) } catch {
            isPartial = true
            throw (error as? StrataError)?.located(offset: offset) ?? error
        }
        self.offset = offset
        guard slice.count >= limits.events || slice.byteCount >= limits.bytes else { return }
        if try !handOver() { try flush() }
    }

    /// The number and bytes of the events that have been gathered and not yet folded.
    var gathered: (events: Int, bytes: Int) {
        ((sorter?.eventCount ?? 0) + slice.count, (sorter?.byteCount ?? 0) + slice.byteCount)
    }

    private func hasGathered(from zone: UInt64) -> Bool {
        slice.zones.contains(zone) || sorter?.zones.contains(zone) == true
    }

    /// Adds the slice to those in the sorter; returns false if there is no sorter, or no space for another slice.
    private func handOver() throws -> Bool {
        guard let sorter else { return false }
        do { try sorter.add(&slice) } catch let error as StrataError where error.code == .noSpace { return false }
        slice.removeAll()
        return true
    }

    private func applyEvents(
        of payload: UnsafeRawBufferPointer, offset: UInt64, time: Int64, _ found: consuming FoundStates
    ) throws {
        var walker = try EventWalker(payload)
        let header = try walker.header()
        var index: UInt32 = 0
        while let event = try walker.next() {
            let place = EventPlace(
                version: Version(offset: offset, eventIndex: index), time: time, user: header.user,
                device: header.device)
            try apply(event.kind, event.body, of: payload, at: place, found.take(before: index))
            index += 1
        }
    }

    private func apply(
        _ kind: EventKind, _ range: Range<Int>, of payload: UnsafeRawBufferPointer, at place: EventPlace,
        _ found: FoundState
    ) throws {
        let body = UnsafeRawBufferPointer(rebasing: payload[range])
        switch kind {
        case .recordSaved, .recordDeleted, .recordErased:
            // Erasing a record that no longer exists changes nothing, whatever happened to its zone.
            let event = try RecordEvent(kind, body)
            guard try event.changesRecord else { return }
            try event.requireText()
            used.add(place, zone: event.zone, type: event.type)
            slice.append(kind, zone: event.zone, name: event.nameBytes, body: body, at: place, before: found)
        case .zoneSaved, .zoneDeleted:
            var reader = ByteReader(body)
            // The zone may end or begin another life, so its records are folded first.
            if hasGathered(from: try reader.readEventZone()) { try flush() }
            try maintain(kind, body, at: place)
        case .baseMarker:
            throw StrataError(.brokenSequence, "A commit contains the marker of a base.")
        default: try maintain(kind, body, at: place)
        }
    }

    /// Passes the event to the maintainer of its tree. Audits that no tree keeps change nothing.
    func maintain(_ kind: EventKind, _ body: UnsafeRawBufferPointer, at place: EventPlace) throws {
        if let maintainer = ViewTree.maintainer(applying: kind) {
            try maintainer.apply(kind, body, at: place, to: self)
        } else if !kind.isAudit {
            throw StrataError(
                .newerFormat, "A mandatory event is unknown to this release.",
                .init(offset: place.version.offset, found: "\(kind)"))
        }
    }

    /// Folds the gathered events of one record.
    func settle(_ record: UnsafeRawBufferPointer) throws {
        // The sorter's events are older.
        guard !isPartial, sorter == nil else { return try flush() }
        do { try records.fold(record, of: &slice, into: fork) } catch {
            // Its events are no longer in the slice.
            isPartial = true
            throw error
        }
    }

    /// Folds the gathered events.
    package func flush() throws { try flush { _ in } }

    /// - Parameter progress: called with the number of events folded so far, if there are many.
    private func flush(progress: (Int) -> Void) throws {
        if isPartial {
            throw StrataError(.closed, "A commit was folded only partly; the fork can only be dropped.")
        }
        do { try foldGathered(progress) } catch {
            isPartial = true
            throw error
        }
    }

    private func foldGathered(_ progress: (Int) -> Void) throws {
        if let sorter, !sorter.isEmpty {
            // The slice's memory is better used for pages.
            if try slice.count > 0 && handOver() { slice = RecordSlice() }
            try records.fold(sorter, into: fork, progress: progress)
            try sorter.removeAll()
        }
        if slice.count > 0 {
            try records.fold(&slice, into: fork)
            slice.removeAll()
        }
        try writeZones()
        for id in ViewTree.folded { try fork.setFoldedOffset(id, offset) }
    }
}

/// The highest ordinal of each namespace that events of records have used.
struct UsedOrdinals {
    private var user: UInt64 = 0
    private var device: UInt64 = 0
    private var zone: UInt64 = 0
    private var type: UInt64 = 0

    mutating func add(_ place: EventPlace, zone: UInt64, type: UInt64) {
        user = max(user, place.user)
        device = max(device, place.device)
        self.zone = max(self.zone, zone)
        self.type = max(self.type, type)
    }

    /// Returns true if an event may have used a new name's ordinal already. Ordinals of a namespace ascend, so the
    /// highest one decides.
    func has(_ name: InternedName) -> Bool {
        switch name.name {
        case .user: name.ordinal <= user
        case .device: name.ordinal <= device
        case .zone: name.ordinal <= zone
        case .recordType: name.ordinal <= type
        case .database, .field: false
        }
    }
}
