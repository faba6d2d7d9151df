import StrataModel
import StrataViews

/// Judges saves by the hierarchical shares that they change (docs/rules.md §16).
extension RecordsJudge {
    /// Refuses saves that would bring a shared record under another share (B312, B313), and saves of members outside
    /// their shares; returns true if there were any. Shares that the request deletes still count, because deletes are
    /// judged after the saves, and may fail.
    func dropMisplaced(_ zoneSaves: [Int], _ zoneIndex: Int) throws -> Bool {
        guard try concernsHierarchies(zoneIndex) else { return false }
        var hierarchy = try madeHierarchy(of: zoneIndex, zoneSaves)
        if resolved.scope == .shared, try dropUnshared(zoneSaves, zoneIndex, &hierarchy) { return true }
        var misplaced: [(index: Int, refusal: Refusal)] = []
        for index in zoneSaves where saves[index].refusal == nil {
            do { try checkPlace(index, &hierarchy) } catch let refusal as Refusal { misplaced.append((index, refusal)) }
        }
        // All by the same hierarchies, so that the order of the saves does not matter.
        for (index, refusal) in misplaced { refuseSave(index, refusal) }
        if misplaced.isEmpty { hierarchies[zoneIndex] = hierarchy }
        return !misplaced.isEmpty
    }

    /// Returns the hierarchies of a zone after the saves of the request, which have been judged.
    ///
    /// - Parameter zoneSaves: the saves of the zone, if the hierarchies must be made.
    func hierarchy(of zoneIndex: Int, _ zoneSaves: @autoclosure () -> [Int]) throws -> Hierarchy {
        // Taken away, so that changing it copies nothing.
        try hierarchies.removeValue(forKey: zoneIndex) ?? madeHierarchy(of: zoneIndex, zoneSaves())
    }

    /// Returns true if the zone has hierarchical shares, or if the request creates one in it.
    func concernsHierarchies(_ zoneIndex: Int) throws -> Bool {
        let zone = resolved.zones[zoneIndex]
        guard zone.ordinal != 0, resolved.scope != .public else { return false }
        if let shared = zone.shared { return shared.zonePermission == nil }
        return try hasSharedRecords(zoneIndex) || createsShare(zoneIndex)
    }

    private func hasSharedRecords(_ zoneIndex: Int) throws -> Bool {
        guard view.hasShares else { return false }
        if let known = zonesWithSharedRecords[zoneIndex] { return known }
        let found = try view.fold.fork.hasSharedRecords(in: resolved.zones[zoneIndex].ordinal)
        zonesWithSharedRecords[zoneIndex] = found
        return found
    }

    private func createsShare(_ zoneIndex: Int) -> Bool {
        shareSaves[zoneIndex]?.contains { saves[$0].refusal == nil && saves[$0].share?.after?.root != nil } == true
    }

    /// The hierarchies of a zone after the saves of the request that have not failed.
    private func madeHierarchy(of zoneIndex: Int, _ zoneSaves: [Int]) throws -> Hierarchy {
        var hierarchy = Hierarchy(
            view, zone: resolved.zones[zoneIndex].ordinal, maximumMoves: judging.limits.movedRecords)
        for index in zoneSaves where saves[index].refusal == nil {
            let save = body.saves[index]
            guard let stored = saves[index].stored else {
                hierarchy.create(save.record.name, under: save.parent.target)
                continue
            }
            if case .kept = save.parent { continue }
            let before = try stored.parent()
            let after = save.parent.target
            if before.map({ old in after.map { isSameText(old, $0) } ?? false }) ?? (after == nil) { continue }
            hierarchy.move(save.record.name, under: after)
        }
        for index in newShares(in: zoneIndex) {
            if let root = saves[index].share?.after?.root { hierarchy.begin(.new(index), at: root) }
        }
        return hierarchy
    }

    private func checkPlace(_ index: Int, _ hierarchy: inout Hierarchy) throws {
        let save = body.saves[index]
        let name = save.record.name
        if let share = saves[index].share, share.isNew, let root = share.after?.root {
            let parent = try parent(of: root, in: saves[index].zoneIndex)
            // A root that is below itself is not below another root.
            if let above = try parent.flatMap({ try hierarchy.share(of: $0) }), above != .new(index) {
                throw Refusal(
                    .alreadyShared,
                    "Record '\(root)' cannot be shared because a record above it is already shared.", rule: .sharedOnce)
            }
            if let other = try hierarchy.subtree(of: root).roots.first {
                throw Refusal(
                    .alreadyShared,
                    "Record '\(root)' cannot be shared because '\(other)' below it is already shared.",
                    rule: .sharedOnce)
            }
        }
        guard save.parent != .kept, saves[index].stored == nil || hierarchy.isMoved(name) else { return }
        if hierarchy.isNoRoot(name) { return }
        let target = try save.parent.target.flatMap { try hierarchy.share(of: $0) }
        let own = try hierarchy.shareAsRoot(name)
        if own != nil, target != nil, target != own {
            throw Refusal(
                .alreadyShared, "Record '\(name)' is the root of a share and cannot be moved under another share.",
                rule: .sharedRoot)
        }
        guard saves[index].stored != nil, own == nil else { return }
        let before = try hierarchy.shareBefore(name)
        if target == nil, before == nil { return }
        let roots = try hierarchy.subtree(of: name).roots
        // In a circle of parents, the root above is below as well.
        if let target, let below = try roots.first(where: { try hierarchy.shareAsRoot($0) != target }) {
            throw Refusal(
                .alreadyShared, "Record '\(below)' is the root of a share and cannot be moved under another share.",
                rule: .sharedRoot)
        }
    }

    /// Returns the parent that a record has after the request.
    private func parent(of name: String, in zoneIndex: Int) throws -> String? {
        if let index = savesByRecord[RecordKey(zone: UInt64(zoneIndex), name: name)], saves[index].refusal == nil {
            if body.saves[index].parent != .kept { return body.saves[index].parent.target }
        }
        return try storedRecord(name, zoneIndex)?.parent()
    }
}

extension LinkChange {
    /// The name of the new target; nil if the link is removed or kept.
    var target: String? {
        if case .set(let target) = self { target.name } else { nil }
    }
}
