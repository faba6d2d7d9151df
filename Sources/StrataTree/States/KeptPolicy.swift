/// Chooses the older states to keep: the older they are, the farther apart, within the available space.
enum KeptPolicy {
    /// Files that only kept states name may have this size, or a quarter of the files of the newest state.
    static let smallBytes = 16 << 20

    /// - Parameters:
    ///   - candidates: in ascending order.
    ///   - offset: the offset of the new state in the log.
    static func chosen(from candidates: [StateFile], at offset: UInt64, atMost limit: Int) -> [StateFile] {
        var kept = candidates
        // A state is dropped if its neighbors are close together for their age. Gaps then grow with age, and an old
        // state has been kept at every earlier age.
        var index = 1
        while index + 1 < kept.count {
            let gap = kept[index + 1].position.offset &- kept[index - 1].position.offset
            let age = offset &- kept[index + 1].position.offset
            if gap <= age / 2 { kept.remove(at: index) } else { index += 1 }
        }
        return Array(kept.suffix(limit))
    }
}
