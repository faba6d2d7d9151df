import StrataLog
import StrataModel
import StrataViews

/// The records that commits touched, each with the version that it had in front of them and the one behind them.
struct ChangedRecords {
    struct Change {
        let record: RecordKey
        /// Nil where the record was not there.
        let before: Version?
        var after: Version?
    }

    /// What a record held at both ends; nil where it was not there.
    struct States {
        let before: [UInt8]?
        let after: [UInt8]?
        var byteCount: Int { (before?.count ?? 0) + (after?.count ?? 0) }
    }

    /// In the order of the records' keys.
    let all: [Change]

    /// Nil if it takes more than the commits to tell: too many records, or some that went with their zone or lost what
    /// they held.
    init?(_ log: any EventLog, behind first: UInt64, through last: UInt64, atMost limit: Int) throws {
        var changes: [[UInt8]: Change] = [:]
        var cursor = try log.read(from: first + 1)
        while let commit = try cursor.next(), commit.offset <= last {
            let isTold = try commit.payload.withUnsafeBytes { payload in
                var walker = try EventWalker(payload)
                while let event = try walker.next() {
                    let version = Version(offset: commit.offset, eventIndex: UInt32(walker.eventIndex - 1))
                    switch event.kind {
                    case .recordSaved:
                        guard try Self.add(payload, event.body, at: version, to: &changes) else { return false }
                    case .recordDeleted:
                        let deleted = try RecordDeletedEvent(
                            decoding: ArraySlice(UnsafeRawBufferPointer(rebasing: payload[event.body])))
                        Self.add(Change(record: deleted.record, before: deleted.previous, after: nil), to: &changes)
                    case .recordErased, .zoneDeleted: return false
                    default: continue
                    }
                }
                return changes.count <= limit
            }
            guard isTold else { return nil }
            if commit.offset == last { break }
        }
        all = changes.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
            .filter { $0.before != nil || $0.after != nil }
    }

    /// False for a save of which there is only a part left.
    private static func add(
        _ payload: UnsafeRawBufferPointer, _ body: Range<Int>, at version: Version,
        to changes: inout [[UInt8]: Change]
    ) throws -> Bool {
        let saved = try RecordSavedView(payload, in: body)
        guard !saved.isErased else { return false }
        let name = String(decoding: payload[saved.name], as: UTF8.self)
        add(
            Change(
                record: RecordKey(zone: saved.zone, name: name),
                before: saved.change == .create ? nil : saved.previous, after: version),
            to: &changes)
        return true
    }

    private static func add(_ change: Change, to changes: inout [[UInt8]: Change]) {
        let key = RecordKey.viewKey(zone: change.record.zone, name: Array(change.record.name.utf8))
        if changes[key] == nil { changes[key] = change } else { changes[key]?.after = change.after }
    }
}

/// How far states that differ are told without folding them.
package struct DifferenceLimits {
    /// Beyond these both states are folded, which takes no memory for each record.
    package var maximumRecords = 50_000
    package var maximumBytes = 64 << 20
    /// One record is looked for in the time that it takes to read so many commits (Benchmarks/RESULTS.md).
    package var commitsPerLookup = 1_000

    package init() {}
}

extension StoreSnapshot {
    /// Calls `body` with each record that is not the same at two offsets up to that of the snapshot, in the order of
    /// ``forEachDifference(since:in:_:)``, until it returns false; without folding either state.
    ///
    /// - Returns: false, before anything was given, if the commits between do not tell it, or it takes too much memory,
    ///   or something that it takes cannot be read.
    package func forEachDifference(
        from first: UInt64, to last: UInt64, within limits: DifferenceLimits = DifferenceLimits(),
        _ body: (RecordDifference) throws -> Bool
    ) throws -> Bool {
        try gate.requireOpen()
        let history = context.history
        let changes = try history.changes(behind: first, through: last, atMost: limits.maximumRecords)
        guard let changes, let states = try statesIfWhole(of: changes, from: first, to: last, limits) else {
            return false
        }
        try give(changes, states, body)
        return true
    }

    /// Nil, too, where a page is damaged: whoever folds states gets on without it.
    private func statesIfWhole(
        of changes: ChangedRecords, from first: UInt64, to last: UInt64, _ limits: DifferenceLimits
    ) throws -> [ChangedRecords.States]? {
        do { return try states(of: changes, from: first, to: last, limits) } catch let error as StrataError
            where Views.isDamage(error)
        { return nil }
    }

    /// In the order of the changes.
    private func states(
        of changes: ChangedRecords, from first: UInt64, to last: UInt64, _ limits: DifferenceLimits
    ) throws -> [ChangedRecords.States]? {
        let history = context.history
        let checkpoint = try context.replacements?.checkpoint(upTo: first)
        let start = max(checkpoint?.offset ?? 0, history.floor)
        var all: [ChangedRecords.States] = []
        guard UInt64(changes.all.count * limits.commitsPerLookup) < last - start else {
            let folded = try history.states(
                of: changes, behind: first, through: last, from: checkpoint, atMost: limits.maximumBytes)
            guard let folded else { return nil }
            for change in changes.all {
                guard let states = try folded.states(of: change) else { return nil }
                all.append(states)
            }
            return all
        }
        var byteCount = 0
        for change in changes.all {
            let before = try change.before.map { try history.state(of: change.record, at: $0, trees) }
            let after = try change.after.map { try history.state(of: change.record, at: $0, trees) }
            // A version that the log does not have any more is one that was erased.
            if case .some(nil) = before { return nil }
            if case .some(nil) = after { return nil }
            let states = ChangedRecords.States(before: before ?? nil, after: after ?? nil)
            byteCount += states.byteCount
            guard byteCount <= limits.maximumBytes else { return nil }
            all.append(states)
        }
        return all
    }

    private func give(
        _ changes: ChangedRecords, _ states: [ChangedRecords.States], _ body: (RecordDifference) throws -> Bool
    ) throws {
        var known: (zone: UInt64, origin: RecordOrigin)?
        for (change, states) in zip(changes.all, states) {
            let (zone, name) = (change.record.zone, change.record.name)
            let origin = try known.flatMap { $0.zone == zone ? $0.origin : nil } ?? origin(ofZone: zone)
            known = (zone, origin)
            let difference = RecordDifference(
                RecordID(name, zone: origin.zone), in: origin.database,
                before: try states.before.map { try Record(name, $0, origin) },
                after: try states.after.map { try Record(name, $0, origin) })
            guard try body(difference) else { return }
        }
    }

    private func origin(ofZone ordinal: UInt64) throws -> RecordOrigin {
        let (database, zone) = try zoneName(ordinal)
        return RecordOrigin(database, zone, trees, context, desiredKeys: nil)
    }
}
