import StrataModel
import StrataViews

/// The records that one commit erases, and their cascades (docs/rules.md §13).
struct Erasure {
    private let resolved: ResolvedRequest
    private let view: RulesView
    private let limits: Limits
    private let reason: String
    private var events: [RecordErasedEvent] = []
    private var known: Set<RecordKey> = []
    /// The names of existing records, by the ordinals of their zones.
    private var living: [UInt64: [String]] = [:]

    init(_ resolved: ResolvedRequest, _ view: RulesView, _ limits: Limits, reason: String) {
        self.resolved = resolved
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
            throw Refusal(.unknownItem, "There is no record '\(key.name)', and was none.", rule: .administration)
        }
        events.append(RecordErasedEvent(key, type: type, previous: nil, reason: reason))
    }

    /// - Throws: ``Refusal`` if a record that stays would lose its parent.
    func append(to commit: inout CommitBuilder) throws {
        for event in events { try commit.append(event) }
        for (zone, names) in living.sorted(by: { $0.key < $1.key }) {
            for record in try goingWith(names, in: zone) {
                guard let header = try view.header(record) else { continue }
                try commit.append(
                    RecordDeletedEvent(record, type: header.type, previous: header.version, isCascade: true))
            }
        }
    }

    private func goingWith(_ names: [String], in zone: UInt64) throws -> [RecordKey] {
        var graph = LinkGraph(zone: zone, view, limits, in: resolved.scope)
        let numbers = names.map { graph.number(of: $0) }
        try graph.follow()
        var gone = Array(repeating: false, count: graph.names.count)
        var order: [Int] = []
        for number in numbers where !gone[number] { order += try graph.cascade(from: number, sparing: &gone) }
        if let (parent, orphan) = graph.orphans(without: gone).min(by: { $0.key < $1.key }) {
            throw Refusal(
                .referenceViolation,
                "Record '\(graph.names[parent])' cannot be erased alone: '\(orphan)' would lose its parent.",
                rule: .neededParent)
        }
        return order.map { RecordKey(zone: zone, name: graph.names[$0]) }.filter { !known.contains($0) }
    }
}
