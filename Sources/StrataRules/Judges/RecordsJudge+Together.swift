import StrataModel
import StrataViews

/// Judges the items of one zone together (docs/rules.md §5.10, §5.11, §7, §8).
extension RecordsJudge {
    func judgeTogether() throws {
        if deletes.isEmpty, resolved.scope != .shared, saves.indices.allSatisfy(standsAlone) { return }
        var items: [(saves: [Int], deletes: [Int])] = Array(repeating: ([], []), count: resolved.zones.count)
        for index in saves.indices { items[saves[index].zoneIndex].saves.append(index) }
        for index in deletes.indices { items[deletes[index].zoneIndex].deletes.append(index) }
        for zoneIndex in items.indices where resolved.zones[zoneIndex].isAlive {
            try judgeTogether(zoneIndex, items[zoneIndex].saves, items[zoneIndex].deletes)
        }
    }

    /// Returns true if a save has not failed and refers to nothing, so that no other item is related to it.
    private func standsAlone(_ index: Int) -> Bool {
        if body.saves[index].parent != .kept { return false }
        if concernsShare(index) { return false }
        return saves[index].refusal == nil && !saves[index].facts.hasReferences
    }

    private func judgeTogether(_ zoneIndex: Int, _ zoneSaves: [Int], _ zoneDeletes: [Int]) throws {
        try checkParentsAndOwners(zoneSaves, zoneIndex)
        for index in zoneDeletes { try judgeDelete(index) }
        let isAtomic = isAtomic(zoneIndex)
        if !isAtomic || !hasFailed(zoneSaves, zoneDeletes) { try judgeCascades(zoneSaves, zoneDeletes, zoneIndex) }
        guard isAtomic, hasFailed(zoneSaves, zoneDeletes) else { return }
        for index in zoneSaves where saves[index].refusal == nil {
            refuseSave(index, bystander(body.saves[index].record.name))
        }
        for index in zoneDeletes where deletes[index].refusal == nil {
            refuseDelete(index, bystander(body.deletes[index].name))
        }
    }

    private func isAtomic(_ zoneIndex: Int) -> Bool {
        body.isAtomic && resolved.zones[zoneIndex].row?.capabilities.contains(.atomic) == true
    }

    private func hasFailed(_ zoneSaves: [Int], _ zoneDeletes: [Int]) -> Bool {
        zoneSaves.contains { saves[$0].refusal != nil } || zoneDeletes.contains { deletes[$0].refusal != nil }
    }

    private func bystander(_ name: String) -> Refusal {
        Refusal(
            .batchRequestFailed, "Record \(name) will not be saved because of previous error in atomic zone",
            rule: .atomicZone)
    }

    // MARK: Parents and owners

    private func checkParentsAndOwners(_ zoneSaves: [Int], _ zoneIndex: Int) throws {
        let linked = zoneSaves.filter { index in
            if case .set = body.saves[index].parent { true } else { false }
        }
        var owned = zoneSaves.filter { index in
            saves[index].facts.hasReferences
                && saves[index].fields.contains {
                    $0.value?.references.contains { $0.action == .deleteSelf } == true
                }
        }
        if try !owned.isEmpty && !exceedsOwnerLimit(zoneIndex, zoneSaves.count) { owned = [] }
        let sharing = zoneSaves.filter(concernsShare)
        let isShared = try concernsHierarchies(zoneIndex)
        if linked.isEmpty, owned.isEmpty, sharing.isEmpty, !isShared { return }
        var hasChanged = true
        while hasChanged {
            // First, so that members get the same refusal for a parent that is not shared and for one that is missing.
            hasChanged = try isShared && dropMisplaced(zoneSaves, zoneIndex)
            if try dropOrphans(linked, zoneSaves, zoneIndex) { hasChanged = true }
            if !owned.isEmpty, try dropTooMany(Set(owned), zoneSaves, zoneIndex) { hasChanged = true }
            if try dropLoneShares(sharing, zoneIndex, isAtomic: isAtomic(zoneIndex)) { hasChanged = true }
        }
    }

    /// Returns true if a record could exceed the limit of owning references, each of which belongs to a different
    /// record.
    private func exceedsOwnerLimit(_ zoneIndex: Int, _ saveCount: Int) throws -> Bool {
        let zone = resolved.zones[zoneIndex].ordinal
        let database = resolved.zones[zoneIndex].database
        let stored = try zone == 0 ? nil : view.fold.whole().zoneRow(database, zone)?.recordCount
        return Int(clamping: stored ?? 0) + saveCount > judging.limits.owningReferences
    }

    /// Refuses saves whose parent does not exist; returns true if there were any (B99, B102).
    private func dropOrphans(_ linked: [Int], _ zoneSaves: [Int], _ zoneIndex: Int) throws -> Bool {
        let isAtomic = isAtomic(zoneIndex)
        func key(_ index: Int) -> RecordKey { RecordKey(zone: 0, name: body.saves[index].record.name) }
        // In an atomic zone, a child of a failed save fails with its zone, like all other items (B102).
        let saved = linked.isEmpty ? [] : Set(zoneSaves.filter { isAtomic || saves[$0].refusal == nil }.map(key))
        /// The saves whose parent another save creates.
        var waiting: [RecordKey: [Int]] = [:]
        var failed: [Int] = []
        for index in linked where saves[index].refusal == nil {
            guard case .set(let parent) = body.saves[index].parent else { continue }
            if try keepsLooseParent(index, parent.name) { continue }
            if saved.contains(RecordKey(zone: 0, name: parent.name)) {
                if !isAtomic { waiting[RecordKey(zone: 0, name: parent.name), default: []].append(index) }
            } else if try !isStored(parent.name, zoneIndex) {
                failed.append(index)
            }
        }
        let tried = failed.isEmpty ? [] : Set(zoneSaves.map(key))
        var next = 0
        while next < failed.count {
            let save = body.saves[failed[next]]
            refuseSave(failed[next], orphaned(save, tried))
            if let children = waiting.removeValue(forKey: key(failed[next])),
                try !isStored(save.record.name, zoneIndex)
            {
                failed += children
            }
            next += 1
        }
        return !failed.isEmpty
    }

    /// Returns true if a save sets the loose parent that its record already has. That parent may be deleted.
    private func keepsLooseParent(_ index: Int, _ parent: String) throws -> Bool {
        guard resolved.scope == .public, let stored = saves[index].stored else { return false }
        return try stored.bytes.withUnsafeBytes { bytes in
            let view = try RecordStateView(bytes, in: 0..<bytes.count)
            let links = try view.links()
            guard links.isParentLoose, let known = links.parent else { return false }
            return isSameText(try view.key(known).name, parent)
        }
    }

    private func orphaned(_ save: ModifyRecordsRequest.Save, _ tried: Set<RecordKey>) -> Refusal {
        var isTried = false
        if case .set(let parent) = save.parent { isTried = tried.contains(RecordKey(zone: 0, name: parent.name)) }
        return Refusal(
            .referenceViolation, "The parent of record '\(save.record.name)' does not exist.",
            rule: isTried ? .failedParent : .existingParent)
    }

    private func isStored(_ name: String, _ zoneIndex: Int) throws -> Bool {
        let zone = resolved.zones[zoneIndex].ordinal
        return try zone != 0 && view.exists(RecordKey(zone: zone, name: name))
    }

    /// Refuses saves that exceed the limit of owning references; returns true if there were any (B98).
    private func dropTooMany(_ owned: Set<Int>, _ zoneSaves: [Int], _ zoneIndex: Int) throws -> Bool {
        var counts: [RecordKey: Int] = [:]
        var hasDropped = false
        for index in zoneSaves where saves[index].refusal == nil {
            // A new record without such a reference changes no count.
            guard saves[index].stored != nil || owned.contains(index) else { continue }
            let (before, after) = try links(of: index)
            let added = after.heldOwners.subtracting(before.heldOwners)
            let removed = before.heldOwners.subtracting(after.heldOwners)
            for target in added.union(removed) where counts[target] == nil {
                counts[target] = try count(target.name, zoneIndex)
            }
            let limit = judging.limits.owningReferences
            // Sorted, because a set's order differs between processes, and messages are stored.
            let full = added.filter { counts[$0, default: 0] >= limit }.min { Self.isBefore($0, $1) }
            if let full {
                hasDropped = true
                refuseSave(
                    index,
                    Refusal(
                        .limitExceeded,
                        "Limit exceeded for number of owning references to single record '\(full.name)' (\(limit)).",
                        rule: .referrerLimit))
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

    private func count(_ target: String, _ zoneIndex: Int) throws -> Int {
        let zone = resolved.zones[zoneIndex].ordinal
        guard zone != 0 else { return 0 }
        let sources = try view.sources(of: RecordKey(zone: zone, name: target), .deleting)
        let limit = judging.limits.owningReferences
        guard sources.count + body.saves.count > limit, let edges = try edges(of: zoneIndex) else {
            return sources.count
        }
        var heldCount = 0
        for name in sources where heldCount <= limit {
            guard try edges.kind(from: name, to: target) == .deleting else { continue }
            // Hidden records do not count, or a refusal would tell a member of them.
            if let shared = resolved.zones[zoneIndex].shared {
                let share = try view.fold.fork.hierarchicalShare(of: RecordKey(zone: zone, name: name))
                if shared.permission(ofRecordIn: share) == nil { continue }
            }
            heldCount += 1
        }
        return heldCount
    }

    // MARK: Deletes

    private func judgeDelete(_ index: Int) throws {
        let name = body.deletes[index].name
        let stored = try storedRecord(name, deletes[index].zoneIndex)
        var right: ShareRight?
        if resolved.scope == .shared, let stored { right = try self.right(to: name, stored, deletes[index].zoneIndex) }
        guard let stored, resolved.scope != .shared || right != nil else {
            trace?.add(.deleteOfMissingRecord, "delete \(index)", "there is no record '\(name)'")
            return
        }
        deletes[index].stored = stored
        deletes[index].cascade = [name]
        let users = try view.ordinal(of: .recordType(UserRecord.type))
        guard
            try actor.principal.may(
                .delete, creator: stored.header.createdBy, isUserRecord: stored.header.type == users,
                grants: view.grants(of: stored.header.type), in: resolved.scope, right: right)
        else {
            if resolved.scope == .shared { return refuseDelete(index, .notDeletable(name)) }
            refuseDelete(
                index,
                Refusal(
                    .permissionFailure, "Record '\(name)' may not be deleted by \(actor.actor.user).",
                    rule: stored.header.type == users ? .userRecords : .grants))
            return
        }
        if try stored.header.type == view.shareType() { try judgeShareDelete(index, stored) }
        if judging.context.isTraced {
            try traceGrant(
                "delete \(index)", .delete, creator: stored.header.createdBy, type: stored.header.type)
        }
    }

    private func judgeCascades(_ zoneSaves: [Int], _ zoneDeletes: [Int], _ zoneIndex: Int) throws {
        let wanted = zoneDeletes.filter { deletes[$0].refusal == nil && deletes[$0].stored != nil }
        if wanted.isEmpty { return }
        var graph = LinkGraph(
            zone: resolved.zones[zoneIndex].ordinal, view, judging.limits, in: resolved.scope, try edges(of: zoneIndex))
        for index in zoneSaves where saves[index].refusal == nil {
            let links = try links(of: index)
            if links.before.isEmpty, links.after.isEmpty { continue }
            graph.replace(body.saves[index].record.name, by: links.after)
        }
        let numbers = wanted.map { graph.number(of: body.deletes[$0].name) }
        try graph.follow()
        while true {
            var gone = Array(repeating: false, count: graph.names.count)
            for (index, number) in zip(wanted, numbers) where deletes[index].refusal == nil {
                let cascade = try graph.cascade(from: number, sparing: &gone) { try mayDelete($0, zoneIndex) }
                deletes[index].cascade = cascade.map { graph.names[$0] }
            }
            if try dropForbiddenDeletes(wanted, zoneIndex) { continue }
            let orphans = graph.orphans(without: gone)
            if orphans.isEmpty { break }
            for (index, number) in zip(wanted, numbers) where deletes[index].refusal == nil {
                guard let orphan = orphans[number] else { continue }
                refuseDelete(
                    index,
                    Refusal(
                        .referenceViolation,
                        "Record '\(body.deletes[index].name)' cannot be deleted: '\(orphan)' would lose its parent.",
                        rule: .neededParent))
            }
        }
        for index in wanted where deletes[index].refusal == nil && deletes[index].cascade.count > 1 {
            let others = deletes[index].cascade.dropFirst()
            trace?.add(.cascade, "delete \(index)", NameList.companions(others, of: others.count))
        }
    }

    /// The references of a record before and after its save.
    func links(of index: Int) throws -> (before: Links, after: Links) {
        let save = body.saves[index]
        let zoneIndex = saves[index].zoneIndex
        let edges = try edges(of: zoneIndex)
        var (before, after) = (Links(), Links())
        func add(
            _ reference: FieldValue.Reference, isHeld: @autoclosure () throws -> Bool, to links: inout Links
        ) throws {
            guard reference.action == .deleteSelf else { return }
            let kind = try edges?.kind(from: save.record.name, to: reference.target.name)
            links.add(reference, isHeld: try isHeld() && (edges == nil || kind == .deleting))
        }
        var sent = Set<UInt32>()
        for change in saves[index].fields {
            if let ordinal = try view.ordinal(of: .field(key(change.field))) { sent.insert(UInt32(ordinal)) }
            for reference in change.value?.references ?? [] {
                try add(reference, isHeld: holds(reference.target.name, in: zoneIndex), to: &after)
            }
        }
        if case .set(let parent) = save.parent, try holdsParent(parent.name, in: zoneIndex) {
            after.parent = parent.name
        }
        guard let stored = saves[index].stored else { return (before, after) }
        try stored.bytes.withUnsafeBytes { bytes in
            let view = try RecordStateView(bytes, in: 0..<bytes.count)
            let links = try view.links()
            if let parent = links.parent, !links.isParentLoose {
                before.parent = try view.key(parent).name
                if case .kept = save.parent { after.parent = before.parent }
            }
            let table = try view.fields()
            for index in 0..<table.count where try table.kind(at: index)?.element == .reference {
                let value = try FieldValue(decoding: bytes, in: try table.range(at: index))
                for reference in value.references {
                    try add(reference, isHeld: !reference.isLoose, to: &before)
                    guard !sent.contains(table.ordinal(at: index)) else { continue }
                    try add(reference, isHeld: !reference.isLoose, to: &after)
                }
            }
        }
        return (before, after)
    }
}
