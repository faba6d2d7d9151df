import StrataModel
import StrataViews

/// The records that one commit erases, and their cascades (docs/rules.md §13).
struct Erasure {
    private let resolved: ResolvedRequest
    private let view: RulesView
    private let limits: Limits
    private let reason: String
    private let time: Int64
    private var events: [RecordErasedEvent] = []
    private var known: Set<RecordKey> = []
    /// The names of existing records, by the ordinals of their zones.
    private var living: [UInt64: [String]] = [:]

    init(_ resolved: ResolvedRequest, _ view: RulesView, _ limits: Limits, reason: String, time: Int64) {
        self.resolved = resolved
        self.time = time
        self.view = view
        self.limits = limits
        self.reason = reason
    }

    /// - Throws: ``Refusal`` for a zone that never existed, or a type that was never used.
    mutating func add(_ item: RecordToErase, typeName: String?) throws {
        try Judging.checkRoom(for: item.record.name)
        let zone = resolved.zones[try resolved.zoneIndex(of: item.record.zone)]
        guard zone.ordinal != 0 else { throw Refusal.missingZone(zone.name) }
        let key = RecordKey(zone: zone.ordinal, name: item.record.name)
        guard known.insert(key).inserted else { return }
        if zone.row?.status == .alive, let header = try view.header(key) {
            events.append(RecordErasedEvent(key, type: header.type, previous: header.version, reason: reason))
            living[zone.ordinal, default: []].append(key.name)
            return
        }
        guard let typeName, let type = try view.ordinal(of: .recordType(typeName)) else {
            throw Refusal(
                .unknownItem, "No record named '\(key.name)' exists or ever existed.", rule: .administration)
        }
        events.append(RecordErasedEvent(key, type: type, previous: nil, reason: reason))
    }

    /// - Throws: ``Refusal`` if a record that stays would lose its parent.
    func append(to commit: inout CommitBuilder) throws {
        for event in events { try commit.append(event) }
        for (zone, names) in living.sorted(by: { $0.key < $1.key }) {
            let going = try goingWith(names, in: zone)
            let shares = try endedShares(by: names + going.map(\.name), in: zone)
            for record in going {
                guard let header = try view.header(record) else { continue }
                try commit.append(
                    RecordDeletedEvent(record, type: header.type, previous: header.version, isCascade: true))
            }
            try appendShares(shares, gone: names + going.map(\.name), in: zone, to: &commit)
        }
    }

    /// Returns the shares whose records or roots are erased.
    private func endedShares(by names: [String], in zone: UInt64) throws -> [ShareSavedEvent] {
        var ended: [UInt64: ShareSavedEvent] = [:]
        for record in names.map({ RecordKey(zone: zone, name: $0) }) {
            guard let share = try view.share(rootedAt: record) ?? view.share(ofRecord: record) else { continue }
            ended[share.share] = share
        }
        return ended.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Appends what erasing records changes in shares: the end of shares, and the records that leave them.
    private func appendShares(
        _ ended: [ShareSavedEvent], gone: [String], in zone: UInt64, to commit: inout CommitBuilder
    ) throws {
        guard try view.hasShares && view.fold.fork.hasSharedRecords(in: zone) || !ended.isEmpty else { return }
        var hierarchy = Hierarchy(view, zone: zone)
        for name in gone { hierarchy.delete(name) }
        for share in ended {
            guard let stored = try view.record(share.record) else { continue }
            try ShareEffect(before: try view.shareState(of: stored), after: nil).append(
                of: share.record, to: &commit, view, user: { try view.ordinal(of: .user($0)) ?? 0 })
            try hierarchy.end(share.share)
        }
        var names = gone
        for name in hierarchy.moved { names += try hierarchy.subtree(of: name).names }
        var seen: Set<RecordKey> = []
        for name in names where seen.insert(Hierarchy.key(name)).inserted {
            let record = RecordKey(zone: zone, name: name)
            guard let share = try hierarchy.shareBefore(name), let type = try view.header(record)?.type else {
                continue
            }
            try commit.append(SharedRecordEvent(record, type: type, share: share, isGone: true))
        }
        for share in ended {
            guard let root = share.root, !gone.contains(where: { isSameText($0, root) }) else { continue }
            let record = RecordKey(zone: zone, name: root)
            guard let stored = try view.record(record) else { continue }
            var event = RecordSavedEvent(.update, record, type: stored.header.type, previous: stored.header.version)
            event.share = .removed
            event.modified = stored.nextModified(at: time)
            if stored.isFullDue { try event.complete(from: stored) }
            try commit.append(event)
        }
    }

    private func goingWith(_ names: [String], in zone: UInt64) throws -> [RecordKey] {
        let edges = resolved.scope == .public ? nil : try ShareEdges(of: zone, owner: resolved.ownerOrdinal, view)
        var graph = LinkGraph(zone: zone, view, limits, in: resolved.scope, edges)
        let numbers = names.map { graph.number(of: $0) }
        try graph.follow()
        var gone = Array(repeating: false, count: graph.names.count)
        var order: [Int] = []
        for number in numbers where !gone[number] {
            order += try graph.cascade(from: number, sparing: &gone) { _ in true }
        }
        if let (parent, orphan) = graph.orphans(without: gone).min(by: { $0.key < $1.key }) {
            throw Refusal(
                .referenceViolation,
                "Record '\(graph.names[parent])' cannot be erased alone: '\(orphan)' would lose its parent.",
                rule: .neededParent)
        }
        return order.map { RecordKey(zone: zone, name: graph.names[$0]) }.filter { !known.contains($0) }
    }
}
