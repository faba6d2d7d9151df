import StrataModel
import StrataViews

/// The references of one record within its zone.
struct Links {
    /// The parent, if the record holds it; nil for a loose one.
    var parent: String?
    /// The targets of held and of loose `deleteSelf` references. Zone 0 is the record's own zone.
    var heldOwners: Set<RecordKey> = []
    var looseOwners: Set<RecordKey> = []

    var isEmpty: Bool { parent == nil && heldOwners.isEmpty && looseOwners.isEmpty }

    mutating func add(_ reference: FieldValue.Reference, isHeld: Bool) {
        guard reference.action == .deleteSelf else { return }
        let owner = RecordKey(zone: 0, name: reference.target.name)
        if isHeld { heldOwners.insert(owner) } else { looseOwners.insert(owner) }
    }
}

/// The records that are deleted together in one zone, according to stored links and the saves of the request.
///
/// Links are loaded once for all deletes, so that deleting a chain record by record costs its length in total.
struct LinkGraph {
    private let zone: UInt64
    private let view: RulesView
    /// The number of records that one delete may visit through loose references; nil if there are none.
    private var looseLimit: Int?
    /// True if the share of a root goes with it (B325).
    private let followsShares: Bool
    /// The edges across which stored references do not hold; nil if there are none.
    private let edges: ShareEdges?
    /// The sources of stored references to each record that do not hold because of an edge, in the order of names.
    private var acrossEdges: [RecordKey: [String]] = [:]
    /// Records whose stored references no longer count.
    private var replaced: Set<RecordKey> = []
    private var sources: [RecordKey: [(source: String, kind: ReferenceKind)]] = [:]

    /// The names of the records that a cascade has visited; their indices are the numbers in the other lists.
    private(set) var names: [String] = []
    private var numbers: [RecordKey: Int] = [:]
    /// The records that hold each record with `deleteSelf`, in the order of names, and the share of a root; nil until
    /// they are loaded.
    private var owned: [[Int]?] = []
    /// The records that hold each record as their parent, in the order of names. Records without children are left out.
    private var children: [Int: [String]] = [:]

    init(
        zone: UInt64, _ view: RulesView, _ limits: Limits, in scope: InternedName.Scope, _ edges: ShareEdges?
    ) {
        self.zone = zone
        self.view = view
        self.edges = edges
        looseLimit = scope == .public || view.hasShares ? limits.owningReferences : nil
        followsShares = scope == .private && view.hasShares
    }

    private func key(_ name: String) -> RecordKey { RecordKey(zone: zone, name: name) }

    mutating func replace(_ source: String, by links: Links) {
        replaced.insert(key(source))
        if let parent = links.parent { sources[key(parent), default: []].append((source, .parent)) }
        for owner in links.heldOwners { sources[key(owner.name), default: []].append((source, .deleting)) }
        for owner in links.looseOwners { sources[key(owner.name), default: []].append((source, .looseDeleting)) }
    }

    /// The sources of a reference, in the order of names.
    private func sources(of target: String, _ kind: ReferenceKind, stored: [String]) -> [String] {
        if replaced.isEmpty { return stored }
        let new = (sources[key(target)] ?? []).filter { $0.kind == kind }.map(\.source)
        let kept = stored.filter { !replaced.contains(key($0)) }
        return new.isEmpty ? kept : (kept + new).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// The number of a record to delete; assigned on first use.
    mutating func number(of name: String) -> Int {
        if let known = numbers[key(name)] { return known }
        numbers[key(name)] = names.count
        names.append(name)
        owned.append(nil)
        return names.count - 1
    }

    /// Loads the links of all numbered records and of the records that go with them.
    mutating func follow() throws {
        var next = 0
        while next < names.count {
            _ = try ownedRecords(next)
            next += 1
        }
        // Only where they count: reading them folds all that the state has gathered.
        if looseLimit != nil, try names.allSatisfy({ try looseSources(of: $0, atMost: 1).isEmpty }) { looseLimit = nil }
    }

    private mutating func ownedRecords(_ number: Int) throws -> [Int] {
        if let known = owned[number] { return known }
        let stored = try view.linkedRecords(to: key(names[number]))
        let orphans = sources(of: names[number], .parent, stored: stored.children)
        if !orphans.isEmpty { children[number] = orphans }
        let holding = try held(names[number], by: sources(of: names[number], .deleting, stored: stored.owned))
        var found = holding.map { self.number(of: $0) }
        if followsShares, let share = try view.share(rootedAt: key(names[number])) {
            found.append(self.number(of: share.record.name))
        }
        owned[number] = found
        return found
    }

    /// Returns the sources that hold a record, and keeps those that an edge makes loose.
    private mutating func held(_ target: String, by sources: [String]) throws -> [String] {
        guard let edges else { return sources }
        return try sources.filter { source in
            let kind = try edges.kind(from: source, to: target)
            if kind == .looseDeleting { acrossEdges[key(target), default: []].append(source) }
            return kind == .deleting
        }
    }

    /// Returns a record and its cascade, breadth first, without the records in `gone`, and adds them to `gone`. Records
    /// that go because of loose references come last.
    ///
    /// If a record is in `gone`, so is its whole cascade. The remaining records therefore have the same order as
    /// without `gone`.
    ///
    /// - Parameter mayDelete: returns false for a record that keeps a loose reference to a deleted one, with all that
    ///   would go with it.
    mutating func cascade(
        from first: Int, sparing gone: inout [Bool], where mayDelete: (String) throws -> Bool
    ) throws -> [Int] {
        guard let looseLimit else { return try heldCascade(from: first, sparing: &gone) }
        var taken = Array(repeating: false, count: names.count)
        var order = try heldCascade(from: first, sparing: &taken)
        var room = looseLimit
        var next = 0
        while next < order.count, room > 0 {
            for source in try looseSources(of: names[order[next]], atMost: looseLimit) where room > 0 {
                let number = number(of: source)
                if number < taken.count, taken[number] { continue }
                let branch = try branch(from: number, atMost: &room, where: mayDelete)
                taken += Array(repeating: false, count: names.count - taken.count)
                for record in branch where !taken[record] {
                    taken[record] = true
                    order.append(record)
                }
            }
            next += 1
        }
        gone += Array(repeating: false, count: names.count - gone.count)
        return order.filter { record in
            defer { gone[record] = true }
            return record == first || !gone[record]
        }
    }

    private mutating func heldCascade(from first: Int, sparing gone: inout [Bool]) throws -> [Int] {
        var order = [first]
        gone[first] = true
        var next = 0
        while next < order.count {
            for source in try ownedRecords(order[next]) where !gone[source] {
                gone[source] = true
                order.append(source)
            }
            next += 1
        }
        return order
    }

    /// Returns the first records that refer loosely to a record, in the order of names.
    private func looseSources(of target: String, atMost limit: Int) throws -> [String] {
        let stored = try view.sources(of: key(target), .looseDeleting, limit: limit + replaced.count)
        var loose = sources(of: target, .looseDeleting, stored: stored)
        if let across = acrossEdges[key(target)] {
            loose = (loose + across).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        }
        return Array(loose.prefix(limit))
    }

    /// Returns a record that refers loosely to a deleted one, with its own cascade. Returns nothing if the cascade
    /// exceeds `room`, if the actor may not delete all of it, or if a record that stays would lose its parent.
    ///
    /// - Parameter room: the number of records that may still be visited; decreases by those visited.
    private mutating func branch(
        from first: Int, atMost room: inout Int, where mayDelete: (String) throws -> Bool
    ) throws -> [Int] {
        var order = [first]
        var found: Set<Int> = [first]
        var next = 0
        while next < order.count, order.count <= room {
            for source in try ownedRecords(order[next]) where found.insert(source).inserted { order.append(source) }
            next += 1
        }
        guard order.count <= room else {
            room = 0
            return []
        }
        room -= order.count
        let isWhole = try order.allSatisfy { record in
            try mayDelete(names[record])
                && (children[record] ?? []).allSatisfy { child in numbers[key(child)].map(found.contains) ?? false }
        }
        return isWhole ? order : []
    }

    /// For each record that cannot be deleted, a record that would lose its parent by that deletion or its cascade.
    func orphans(without gone: [Bool]) -> [Int: String] {
        var orphans: [Int: String] = [:]
        var order: [Int] = []
        for (parent, names) in children.sorted(by: { $0.key < $1.key }) where parent < gone.count && gone[parent] {
            guard let orphan = names.first(where: { name in !(numbers[key(name)].map { gone[$0] } ?? false) }) else {
                continue
            }
            orphans[parent] = orphan
            order.append(parent)
        }
        if order.isEmpty { return [:] }
        var owners: [Int: [Int]] = [:]
        for (owner, sources) in owned.enumerated() where owner < gone.count && gone[owner] {
            for source in sources ?? [] { owners[source, default: []].append(owner) }
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
