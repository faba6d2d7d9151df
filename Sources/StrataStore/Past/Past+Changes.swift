import StrataLog
import StrataModel
import StrataTree
import StrataViews

/// The limits up to which the changes between two offsets come from the log alone.
struct ChangeLimits {
    /// Above these, the states at both offsets are compared, which takes no memory for each record.
    var maximumRecords = 150_000
    var maximumBytes = 128 << 20
    /// Above this number, records are not looked up in a base.
    var maximumFromBase = 50_000
    /// The number of commits that can be read in the time of one record lookup (Benchmarks/RESULTS.md).
    var commitsPerLookup = 1_000
}

extension Past {
    /// Calls `body` with each record that differs between two offsets, zone by zone, until it returns false.
    ///
    /// The commits between them name the records. If these are few, each is looked up at both offsets; otherwise all
    /// are followed from a state on disk before the first offset, only up to that one if the other is the end. If the
    /// commits touch too many records, delete a zone or contain an erasure, the states at both offsets are compared
    /// instead.
    ///
    /// - Throws: ``StrataError`` `outOfRange` for offsets that do not ascend, are past the end, or whose history was
    ///   removed.
    public func forEachChange(
        from first: UInt64, to last: UInt64, _ body: (RecordDifference) throws -> Bool
    ) throws {
        try forEachChange(from: first, to: last, within: ChangeLimits(), body)
    }

    /// - Returns: true if the changes came from the log alone.
    @discardableResult
    func forEachChange(
        from first: UInt64, to last: UInt64, within limits: ChangeLimits, _ body: (RecordDifference) throws -> Bool
    ) throws -> Bool {
        try store.gate.requireOpen()
        let newest = store.snapshot()
        let floor = store.log.floor.offset
        guard floor <= first, first <= last, last <= newest.offset else {
            throw StrataError(
                .outOfRange, "The store does not have the states to compare.",
                .init(expected: "ascending offsets from \(floor) to \(newest.offset)", found: "\(first) to \(last)"))
        }
        let changes = try ChangedRecords(of: store.log, from: first, to: last, atMost: limits.maximumRecords)
        if let changes, let states = try states(of: changes.all, from: first, to: last, newest, limits) {
            try newest.give(changes.all, states, body)
            return true
        }
        let older = try state(at: first)
        defer { try? older.close() }
        let newer = last == newest.offset ? nil : try state(at: last)
        defer { try? newer?.close() }
        try (newer?.snapshot() ?? newest).forEachDifference(sinceEarlier: older.snapshot(), body)
        return false
    }

    // MARK: States

    /// The state of a record before and after the commits; nil where the record did not exist.
    fileprivate typealias States = (before: [UInt8]?, after: [UInt8]?)

    /// Returns the states in the order of the changes; nil if the log lacks one of them, or they take too much memory.
    private func states(
        of changes: [ChangedRecords.Change], from first: UInt64, to last: UInt64, _ newest: StoreSnapshot,
        _ limits: ChangeLimits
    ) throws -> [States]? {
        if changes.isEmpty { return [] }
        let floor = store.log.floor.offset
        // It only saves time.
        let found = try? store.engine.durableState(upTo: first)
        let older = found.flatMap { $0.foldedOffset(ViewTree.records) < floor ? nil : $0 }
        let end = last == newest.offset ? first : last
        let wayBack = end - (older?.foldedOffset(ViewTree.records) ?? floor)
        if UInt64(changes.count * limits.commitsPerLookup) < wayBack { return try lookedUp(changes, limits) }
        if let older, let start = try? followed(changes, limits, { try older.withRecord($0) { [UInt8]($0) } }) {
            let beginning = older.foldedOffset(ViewTree.records)
            return try states(of: changes, start, from: beginning, between: first, and: last, newest, limits)
        }
        guard floor == 0 || changes.count <= limits.maximumFromBase else { return nil }
        let history = store.engine.reader.context.history
        guard let start = try followed(changes, limits, { try history.stateAtFloor($0) }) else { return nil }
        return try states(of: changes, start, from: floor, between: first, and: last, newest, limits)
    }

    private func lookedUp(_ changes: [ChangedRecords.Change], _ limits: ChangeLimits) throws -> [States]? {
        var all: [States] = []
        var byteCount = 0
        for change in changes {
            let before = try change.before.map { try record(change.record, at: $0) }
            let after = try change.after.map { try record(change.record, at: $0) }
            // A version that the log no longer has was erased.
            if case .some(nil) = before { return nil }
            if case .some(nil) = after { return nil }
            let states = (before: before ?? nil, after: after ?? nil)
            byteCount += (states.before?.count ?? 0) + (states.after?.count ?? 0)
            guard byteCount <= limits.maximumBytes else { return nil }
            all.append(states)
        }
        return all
    }

    /// Returns the changed records with the states that they begin with; nil if these take too much memory.
    private func followed(
        _ changes: [ChangedRecords.Change], _ limits: ChangeLimits, _ state: (RecordKey) throws -> [UInt8]?
    ) throws -> FollowedRecords? {
        var followed = FollowedRecords()
        for change in changes {
            followed.add(Array(change.record.name.utf8), in: change.record.zone, try state(change.record))
            if followed.byteCount > limits.maximumBytes { return nil }
        }
        return followed
    }

    private func states(
        of changes: [ChangedRecords.Change], _ start: FollowedRecords, from offset: UInt64, between first: UInt64,
        and last: UInt64, _ newest: StoreSnapshot, _ limits: ChangeLimits
    ) throws -> [States]? {
        var followed = start
        guard try follow(&followed, after: offset, through: first, limits) else { return nil }
        let old = followed.states()
        var rest = limits
        rest.maximumBytes -= followed.byteCount
        let new: [[UInt8]?]
        if last < newest.offset {
            guard try follow(&followed, after: first, through: last, rest) else { return nil }
            new = followed.states()
        } else {
            guard let found = try newest.reading({ try states(of: changes, in: $0, rest) }) else { return nil }
            new = found
        }
        var all: [States] = []
        for (place, change) in changes.enumerated() {
            let (before, after) = (old[place], new[place])
            // A version that the log no longer has was erased.
            guard try before.map(RecordStateView.version(of:)) == change.before,
                try after.map(RecordStateView.version(of:)) == change.after
            else { return nil }
            all.append((before, after))
        }
        return all
    }

    /// Looks up the changed records in a state; nil if their states take too much memory.
    private func states(
        of changes: [ChangedRecords.Change], in trees: Snapshot, _ limits: ChangeLimits
    ) throws -> [[UInt8]?]? {
        var all: [[UInt8]?] = []
        var byteCount = 0
        for change in changes {
            let state = try trees.withRecord(change.record) { [UInt8]($0) }
            byteCount += state?.count ?? 0
            if byteCount > limits.maximumBytes { return nil }
            all.append(state)
        }
        return all
    }

    /// Returns false if the states take too much memory.
    private func follow(
        _ followed: inout FollowedRecords, after offset: UInt64, through last: UInt64, _ limits: ChangeLimits
    ) throws -> Bool {
        var cursor = try store.log.read(from: offset + 1)
        while followed.byteCount <= limits.maximumBytes, let commit = try cursor.next(), commit.offset <= last {
            try followed.apply(commit)
            if commit.offset == last { break }
        }
        return followed.byteCount <= limits.maximumBytes
    }
}

extension StoreSnapshot {
    fileprivate func give(
        _ changes: [ChangedRecords.Change], _ states: [Past.States], _ body: (RecordDifference) throws -> Bool
    ) throws {
        var known: (zone: UInt64, origin: RecordOrigin)?
        for (change, states) in zip(changes, states) {
            let (zone, name) = (change.record.zone, change.record.name)
            let origin =
                if let known, known.zone == zone { known.origin } else {
                    try reading { try self.origin(ofZone: zone, in: $0) }
                }
            known = (zone, origin)
            let difference = RecordDifference(
                RecordID(name, zone: origin.zone), in: origin.database,
                before: try states.before.map { try Record(name, $0, origin) },
                after: try states.after.map { try Record(name, $0, origin) })
            guard try body(difference) else { return }
        }
    }
}
