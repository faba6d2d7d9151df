import StrataModel
import StrataViews

/// What one record refers to, within its zone.
struct Links {
    var parent: String?
    /// Targets of `deleteSelf` references; without their zone, which is the record's own.
    var owners: Set<RecordKey> = []

    var isEmpty: Bool { parent == nil && owners.isEmpty }

    mutating func add(_ reference: FieldValue.Reference) {
        if reference.action == .deleteSelf { owners.insert(RecordKey(zone: 0, name: reference.target.name)) }
    }
}

/// Who refers to whom in one zone: as stored, but for the records that the request saves.
struct LinkGraph {
    private let zone: UInt64
    private let view: RulesView
    /// Records whose stored references do not count any more.
    private var replaced: Set<RecordKey> = []
    private var sources: [RecordKey: [(source: String, kind: ReferenceKind)]] = [:]

    /// Stored names of the records that have one for a parent that a cascade came by.
    private var children: [RecordKey: [String]] = [:]

    init(zone: UInt64, _ view: RulesView) {
        self.zone = zone
        self.view = view
    }

    private func key(_ name: String) -> RecordKey { RecordKey(zone: zone, name: name) }

    mutating func replace(_ source: String, by links: Links) {
        replaced.insert(key(source))
        if let parent = links.parent { sources[key(parent), default: []].append((source, .parent)) }
        for owner in links.owners { sources[key(owner.name), default: []].append((source, .deleting)) }
    }

    /// In the order of names.
    private func sources(of target: String, _ kind: ReferenceKind, stored: [String]) -> [String] {
        if replaced.isEmpty { return stored }
        let new = (sources[key(target)] ?? []).filter { $0.kind == kind }.map(\.source)
        let kept = stored.filter { !replaced.contains(key($0)) }
        return new.isEmpty ? kept : (kept + new).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// A record and all that goes with it, breadth first.
    mutating func cascade(from name: String) throws -> [String] {
        var order = [name]
        var known: Set<RecordKey> = [key(name)]
        var next = 0
        while next < order.count {
            let target = order[next]
            let stored = try view.linkedRecords(to: key(target))
            if !stored.children.isEmpty { children[key(target)] = stored.children }
            for source in sources(of: target, .deleting, stored: stored.owned) where known.insert(key(source)).inserted {
                order.append(source)
            }
            next += 1
        }
        return order
    }

    /// A record that stays and has its parent among those that go; nil if there is none. The cascade is one that this
    /// graph found.
    func orphan(of cascade: [String], without gone: Set<RecordKey>) -> String? {
        if children.isEmpty, sources.isEmpty { return nil }
        for name in cascade {
            for child in sources(of: name, .parent, stored: children[key(name)] ?? [])
            where !gone.contains(RecordKey(zone: 0, name: child)) { return child }
        }
        return nil
    }
}
