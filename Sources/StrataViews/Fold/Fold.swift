import StrataModel
import StrataTree

/// Turns commits into the state of a store, in a fork of its trees.
///
/// Events of records are gathered and folded in the order of their keys, at the latest by ``flush()``. Call it before
/// reading the fork.
///
/// ```swift
/// let fold = Fold(try store.fork())
/// for commit in commits {
///     try commit.payload.withUnsafeBytes { try fold.apply($0, offset: commit.offset, time: commit.time) }
/// }
/// try fold.publish(to: store)
/// ```
package final class Fold {
    /// The number and bytes of gathered events at which they are folded.
    static let sliceLimits = (events: 50_000, bytes: 8 << 20)

    package private(set) var fork: Fork
    var records = RecordFold()
    var slice = RecordSlice()
    /// The highest ordinals that events of records have used. A name that is interned later for one of them is an error
    /// that folding in the order of keys does not detect.
    var used = UsedOrdinals()
    /// True if a commit was applied or folded only in part. Such a state must not be published.
    package internal(set) var isPartial = false
    /// The offset up to which all commits have been applied.
    package internal(set) var offset: UInt64

    package init(_ fork: Fork) {
        self.fork = fork
        offset = fork.foldedOffset(ViewTree.records)
    }

    /// Folds the gathered events, publishes the fork as the newest state, and continues in a fork of that. This is
    /// faster than another fold, which has no cached names.
    ///
    /// - Parameter trees: the store that the fork belongs to.
    @discardableResult
    package func publish(to trees: TreeStore) throws -> Snapshot {
        try flush()
        return try publishFolded(to: trees)
    }

    func publishFolded(to trees: TreeStore) throws -> Snapshot {
        let snapshot = try trees.publish(fork)
        fork = try trees.fork()
        return snapshot
    }

    /// Folds the gathered events and returns the fork, which must be published first; continues in a fork of it.
    package func stack() throws -> Fork {
        try flush()
        let lower = fork
        fork = try Fork(on: lower)
        return lower
    }

    var hasFullSlice: Bool {
        slice.count >= Self.sliceLimits.events || slice.byteCount >= Self.sliceLimits.bytes
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
        if hasFullSlice { try flush() }
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
            if slice.zones.contains(try reader.readEventZone()) { try flush() }
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
        guard !isPartial else { return try flush() }
        do { try records.fold(record, of: &slice, into: fork) } catch {
            // Its events are no longer in the slice.
            isPartial = true
            throw error
        }
    }

    /// Folds the gathered events.
    package func flush() throws {
        if isPartial {
            throw StrataError(.closed, "A commit was folded only partly; the fork can only be dropped.")
        }
        do { try foldGathered() } catch {
            isPartial = true
            throw error
        }
    }

    private func foldGathered() throws {
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
