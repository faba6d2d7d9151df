/// Chooses the older checkpoints to keep: the older they are, the farther apart, within the available space.
enum KeptPolicy {
    /// Up to this number of retired pages, a file may exceed its live size by more than a quarter.
    static let smallPages = 4_096

    /// - Parameters:
    ///   - candidates: in ascending order; the last one is about to be overwritten.
    ///   - offset: the offset of the new checkpoint in the log.
    static func chosen(
        from candidates: [KeptRecord], at offset: UInt64, retiredPages: Int, livePages: Int, atMost limit: Int
    ) -> [KeptRecord] {
        var kept = candidates
        // A checkpoint is dropped if its neighbors are close together for their age. Gaps then grow with age, and an
        // old checkpoint has been kept at every earlier age.
        var index = 1
        while index + 1 < kept.count {
            let gap = kept[index + 1].position.offset &- kept[index - 1].position.offset
            let age = offset &- kept[index + 1].position.offset
            if gap <= age / 2 { kept.remove(at: index) } else { index += 1 }
        }
        let limit = min(max(limit, 0), ViewFormat.maximumKept)
        if kept.count > limit { kept.removeFirst(kept.count - limit) }
        // More than half of them, because one is added each time.
        if retiredPages > max(livePages / 4, smallPages) { kept.removeFirst(min(kept.count, kept.count / 2 + 1)) }
        return kept
    }
}
