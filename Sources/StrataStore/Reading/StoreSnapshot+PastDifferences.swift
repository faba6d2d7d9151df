import StrataModel
import StrataViews

/// The limits up to which the differences of states are found without folding them.
package struct DifferenceLimits {
    /// Above this number both states are folded, which takes no memory for each record.
    package var maximumRecords = 50_000
    package var maximumBytes = 64 << 20
    /// The number of commits that can be read in the time of one record lookup (Benchmarks/RESULTS.md).
    package var commitsPerLookup = 1_000

    package init() {}
}

extension StoreSnapshot {
    /// Calls `body` with each record that differs between two offsets up to the snapshot's, in the order of
    /// ``forEachDifference(since:in:_:)``, until it returns false. Neither state is folded.
    ///
    /// Returns false, before any call of `body`, if the commits between are not enough, if it takes too much memory, or
    /// if a page that it needs is damaged.
    package func forEachDifference(
        from first: UInt64, to last: UInt64, within limits: DifferenceLimits = DifferenceLimits(),
        _ body: (RecordDifference) throws -> Bool
    ) throws -> Bool {
        try gate.requireOpen()
        let history = context.history
        let changes = try history.changes(after: first, through: last, atMost: limits.maximumRecords)
        guard let changes, let states = try statesIfWhole(of: changes, from: first, to: last, limits) else {
            return false
        }
        try give(changes, states, body)
        return true
    }

    /// Returns nil also if a page is damaged: folding the states does not need that page.
    private func statesIfWhole(
        of changes: ChangedRecords, from first: UInt64, to last: UInt64, _ limits: DifferenceLimits
    ) throws -> [ChangedRecords.States]? {
        var found: [ChangedRecords.States]?
        let damage = try Views.damage { found = try states(of: changes, from: first, to: last, limits) }
        return damage == nil ? found : nil
    }

    /// Returns the states in the order of the changes.
    private func states(
        of changes: ChangedRecords, from first: UInt64, to last: UInt64, _ limits: DifferenceLimits
    ) throws -> [ChangedRecords.States]? {
        let history = context.history
        let checkpoint = try context.checkpoint(upTo: first)
        let start = max(checkpoint?.offset ?? 0, history.floor)
        var all: [ChangedRecords.States] = []
        guard UInt64(changes.all.count * limits.commitsPerLookup) < last - start else {
            let folded = try history.states(
                of: changes, after: first, through: last, from: checkpoint, atMost: limits.maximumBytes)
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
            // A version that the log no longer has was erased.
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
            let origin = try known.flatMap { $0.zone == zone ? $0.origin : nil } ?? origin(ofZone: zone, in: trees)
            known = (zone, origin)
            let difference = RecordDifference(
                RecordID(name, zone: origin.zone), in: origin.database,
                before: try states.before.map { try Record(name, $0, origin) },
                after: try states.after.map { try Record(name, $0, origin) })
            guard try body(difference) else { return }
        }
    }
}
