import StrataModel
import StrataViews

/// What one record refers to, within its zone.
struct Links {
    /// A parent that the record holds; nil for a loose one.
    var parent: String?
    /// Targets of `deleteSelf` references; without their zone, which is the record's own.
    var owners: Set<RecordKey> = []
    /// Those of the owners that the record holds.
    var heldOwners: Set<RecordKey> = []

    var isEmpty: Bool { parent == nil && owners.isEmpty }

    mutating func add(_ reference: FieldValue.Reference, isHeld: Bool) {
        guard reference.action == .deleteSelf else { return }
        let owner = RecordKey(zone: 0, name: reference.target.name)
        owners.insert(owner)
        if isHeld { heldOwners.insert(owner) }
    }
}

/// Who goes with whom in one zone: as stored, but for the records that the request saves.
///
/// What several deletes lead to is looked up once: a chain that is asked for record by record costs its length.
struct LinkGraph {
    private let zone: UInt64
    private let view: RulesView
    /// Whether there may be loose links.
    private let isPublic: Bool
    /// Records whose stored references do not count any more.
    private var replaced: Set<RecordKey> = []
    private var sources: [RecordKey: [(source: String, kind: ReferenceKind)]] = [:]

    /// Names of the records that a cascade came by; their numbers here are those of the other lists.
    private(set) var names: [String] = []
    private var numbers: [RecordKey: Int] = [:]
    /// What refers to a record with `deleteSelf`, in the order of names; of those that have been followed.
    private var owned: [[Int]] = []
    /// What has a record for its parent, in the order of names; only of those that are somebody's parent.
    private var children: [(parent: Int, names: [String])] = []

    init(zone: UInt64, _ view: RulesView, in scope: InternedName.Scope) {
        self.zone = zone
        self.view = view
        isPublic = scope == .public
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

    /// The number of a record that is to go.
    mutating func number(of name: String) -> Int {
        if let known = numbers[key(name)] { return known }
        numbers[key(name)] = names.count
        names.append(name)
        return names.count - 1
    }

    /// Follows all that has a number, and what goes with it.
    mutating func follow() throws {
        while owned.count < names.count {
            let target = names[owned.count]
            let stored = try view.linkedRecords(to: key(target), withLoose: isPublic)
            let orphans = sources(of: target, .parent, stored: stored.children)
            if !orphans.isEmpty { children.append((owned.count, orphans)) }
            owned.append(sources(of: target, .deleting, stored: stored.owned).map { number(of: $0) })
        }
    }

    /// A record and all that goes with it, breadth first, without what is in `gone`, which it adds to.
    ///
    /// With a record, all that it takes along is in `gone`; so the rest comes in the order in which it would alone.
    func cascade(from first: Int, sparing gone: inout [Bool]) -> [Int] {
        var order = [first]
        gone[first] = true
        var next = 0
        while next < order.count {
            for source in owned[order[next]] where !gone[source] {
                gone[source] = true
                order.append(source)
            }
            next += 1
        }
        return order
    }

    /// For each record that cannot go, since one that stays has it for a parent or cannot go: who would lose a parent.
    func orphans(without gone: [Bool]) -> [Int: String] {
        var orphans: [Int: String] = [:]
        var order: [Int] = []
        for (parent, names) in children where gone[parent] {
            guard let orphan = names.first(where: { name in !(numbers[key(name)].map { gone[$0] } ?? false) }) else {
                continue
            }
            orphans[parent] = orphan
            order.append(parent)
        }
        if order.isEmpty { return [:] }
        var owners: [Int: [Int]] = [:]
        for (owner, sources) in owned.enumerated() where gone[owner] {
            for source in sources { owners[source, default: []].append(owner) }
        }
        var next = 0
        while next < order.count {
            for owner in owners[order[next]] ?? [] where orphans[owner] == nil {
                orphans[owner] = orphans[order[next]]
                order.append(owner)
            }
            next += 1
        }
        return orphans
    }
}
