/// Which older checkpoints stay: the older, the farther apart, as long as there is room.
enum KeptPolicy {
    /// Below so many pages nobody minds a file of more than twice its live size.
    static let smallPages = 4_096

    /// - Parameters:
    ///   - candidates: ascending; the last one is about to be overwritten.
    ///   - offset: where the log is at the new checkpoint.
    static func chosen(
        from candidates: [KeptRecord], at offset: UInt64, retiredPages: Int, livePages: Int, atMost limit: Int
    ) -> [KeptRecord] {
        var kept = candidates
        // One goes if its neighbours lie close enough together for their age: so gaps grow with the age, and what is
        // old was kept at every age before.
        var index = 1
        while index + 1 < kept.count {
            let gap = kept[index + 1].position.offset &- kept[index - 1].position.offset
            let age = offset &- kept[index + 1].position.offset
            if gap <= age / 2 { kept.remove(at: index) } else { index += 1 }
        }
        let limit = min(max(limit, 0), ViewFormat.maximumKept)
        if kept.count > limit { kept.removeFirst(kept.count - limit) }
        if retiredPages > max(livePages, smallPages) { kept.removeFirst((kept.count + 1) / 2) }
        return kept
    }
}
