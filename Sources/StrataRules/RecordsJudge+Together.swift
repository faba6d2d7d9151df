import StrataModel
import StrataViews

/// What is judged of the items of one zone together (docs/rules.md §5.10, §5.11, §7, §8).
extension RecordsJudge {
    mutating func judgeTogether(_ place: Int) throws {
        let zoneSaves = saves.indices.filter { saves[$0].zone == place }
        let zoneDeletes = deletes.indices.filter { deletes[$0].zone == place }
        try checkParentsAndOwners(zoneSaves, place)
        for index in zoneDeletes { try judgeDelete(index) }
        let isAtomic = isAtomic(place)
        if !isAtomic || !hasFailed(zoneSaves, zoneDeletes) { try judgeCascades(zoneSaves, zoneDeletes, place) }
        guard isAtomic, hasFailed(zoneSaves, zoneDeletes) else { return }
        for index in zoneSaves where saves[index].refusal == nil {
            refuseSave(index, bystander(body.saves[index].record.name))
        }
        for index in zoneDeletes where deletes[index].refusal == nil {
            refuseDelete(index, bystander(body.deletes[index].name))
        }
    }

    private func isAtomic(_ place: Int) -> Bool {
        body.isAtomic && scene.zones[place].row?.capabilities.contains(.atomic) == true
    }

    private func hasFailed(_ zoneSaves: [Int], _ zoneDeletes: [Int]) -> Bool {
        zoneSaves.contains { saves[$0].refusal != nil } || zoneDeletes.contains { deletes[$0].refusal != nil }
    }

    private func bystander(_ name: String) -> Refusal {
        Refusal(.batchRequestFailed, "Record \(name) will not be saved because of previous error in atomic zone")
    }

    // MARK: Parents and owners

    private mutating func checkParentsAndOwners(_ zoneSaves: [Int], _ place: Int) throws {
        let linked = zoneSaves.filter { index in
            if case .set = body.saves[index].parent { true } else { false }
        }
        let owned =
            rules.limits.owningReferences == .max
            ? []
            : zoneSaves.filter { index in
                saves[index].facts.hasReferences
                    && saves[index].fields.contains {
                        $0.value?.references.contains { $0.action == .deleteSelf } == true
                    }
            }
        if linked.isEmpty, owned.isEmpty { return }
        var hasChanged = true
        while hasChanged {
            hasChanged = try dropOrphans(linked, zoneSaves, place)
            if !owned.isEmpty, try dropTooMany(Set(owned), zoneSaves, place) { hasChanged = true }
        }
    }

    /// Whether saves failed because their parent is not there (B99, B102).
    private mutating func dropOrphans(_ linked: [Int], _ zoneSaves: [Int], _ place: Int) throws -> Bool {
        var hasDropped = false
        let isAtomic = isAtomic(place)
        while true {
            var saved = Set<RecordKey>()
            // In an atomic zone, a child of a save that failed is a bystander as the others are (B102).
            for index in zoneSaves where isAtomic || saves[index].refusal == nil {
                saved.insert(RecordKey(zone: 0, name: body.saves[index].record.name))
            }
            var failed: [Int] = []
            for index in linked where saves[index].refusal == nil {
                guard case .set(let parent) = body.saves[index].parent else { continue }
                if saved.contains(RecordKey(zone: 0, name: parent.name)) { continue }
                let key = RecordKey(zone: scene.zones[place].ordinal, name: parent.name)
                if try key.zone == 0 || !view.exists(key) { failed.append(index) }
            }
            if failed.isEmpty { return hasDropped }
            hasDropped = true
            for index in failed {
                refuseSave(
                    index,
                    Refusal(
                        .referenceViolation, "The parent of record '\(body.saves[index].record.name)' does not exist."))
            }
        }
    }

    /// Whether saves failed because they made one owning reference too many (B98).
    private mutating func dropTooMany(_ owned: Set<Int>, _ zoneSaves: [Int], _ place: Int) throws -> Bool {
        var counts: [RecordKey: Int] = [:]
        var hasDropped = false
        for index in zoneSaves where saves[index].refusal == nil {
            // A new record without such a reference changes no count.
            guard saves[index].stored != nil || owned.contains(index) else { continue }
            let (before, after) = try links(of: index)
            let added = after.owners.subtracting(before.owners)
            let removed = before.owners.subtracting(after.owners)
            for target in added.union(removed) where counts[target] == nil {
                counts[target] = try count(target.name, place)
            }
            let limit = rules.limits.owningReferences
            // The order of a set is another in each process, and messages are kept.
            let full = added.filter { counts[$0, default: 0] >= limit }.min { Self.isBefore($0, $1) }
            if let full {
                hasDropped = true
                refuseSave(
                    index,
                    Refusal(
                        .limitExceeded,
                        "Limit exceeded for number of owning references to single record '\(full.name)' (\(limit))."))
                continue
            }
            for target in added { counts[target, default: 0] += 1 }
            for target in removed { counts[target, default: 0] -= 1 }
        }
        return hasDropped
    }

    private static func isBefore(_ left: RecordKey, _ right: RecordKey) -> Bool {
        left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
    }

    private func count(_ target: String, _ place: Int) throws -> Int {
        let zone = scene.zones[place].ordinal
        guard zone != 0 else { return 0 }
        return try view.sources(of: RecordKey(zone: zone, name: target), .deleting).count
    }

    // MARK: Deletes

    private mutating func judgeDelete(_ index: Int) throws {
        let name = body.deletes[index].name
        guard let stored = try storedRecord(name, deletes[index].zone) else {
            trace?.add("B91", "delete \(index)", "there is no record '\(name)'")
            return
        }
        deletes[index].stored = stored
        deletes[index].cascade = [name]
        let users = try view.ordinal(of: .recordType(UserRecord.type))
        guard
            rules.may(
                actor, .delete, creator: stored.header.createdBy, isUserRecord: stored.header.type == users,
                in: scene.scope)
        else {
            refuseDelete(
                index, Refusal(.permissionFailure, "Record '\(name)' may not be deleted by \(actor.actor.user)."))
            return
        }
    }

    private mutating func judgeCascades(_ zoneSaves: [Int], _ zoneDeletes: [Int], _ place: Int) throws {
        let wanted = zoneDeletes.filter { deletes[$0].refusal == nil && deletes[$0].stored != nil }
        if wanted.isEmpty { return }
        var graph = LinkGraph(zone: scene.zones[place].ordinal, view)
        for index in zoneSaves where saves[index].refusal == nil {
            let links = try links(of: index)
            if links.before.isEmpty, links.after.isEmpty { continue }
            graph.replace(body.saves[index].record.name, by: links.after)
        }
        for index in wanted { deletes[index].cascade = try graph.cascade(from: body.deletes[index].name) }
        while true {
            let standing = wanted.filter { deletes[$0].refusal == nil }
            let gone = Set(standing.flatMap { deletes[$0].cascade.map { RecordKey(zone: 0, name: $0) } })
            var hasFailed = false
            for index in standing {
                guard let orphan = graph.orphan(of: deletes[index].cascade, without: gone) else { continue }
                hasFailed = true
                refuseDelete(
                    index,
                    Refusal(
                        .referenceViolation,
                        "Record '\(body.deletes[index].name)' cannot be deleted: '\(orphan)' would lose its parent."))
            }
            if !hasFailed { return }
        }
    }

    /// What a save refers to before and after.
    func links(of index: Int) throws -> (before: Links, after: Links) {
        let save = body.saves[index]
        var (before, after) = (Links(), Links())
        var sent = Set<UInt32>()
        for change in saves[index].fields {
            if let ordinal = try view.ordinal(of: .field(key(change.field))) { sent.insert(UInt32(ordinal)) }
            for reference in change.value?.references ?? [] { after.add(reference) }
        }
        if case .set(let parent) = save.parent { after.parent = parent.name }
        guard let stored = saves[index].stored else { return (before, after) }
        try stored.bytes.withUnsafeBytes { bytes in
            let view = try RecordStateView(bytes, in: 0..<bytes.count)
            if let parent = try view.links().parent {
                before.parent = try view.key(parent).name
                if case .kept = save.parent { after.parent = before.parent }
            }
            let table = try view.fields()
            for place in 0..<table.count where try table.kind(at: place)?.element == .reference {
                let value = try FieldValue(decoding: bytes, in: try table.range(at: place))
                for reference in value.references {
                    before.add(reference)
                    if !sent.contains(table.ordinal(at: place)) { after.add(reference) }
                }
            }
        }
        return (before, after)
    }
}
