/// A checkpoint that is being written.
struct CheckpointDraft: Sendable {
    var slot: Int
    /// The owner of the record's pages until they are written.
    var owner: UInt64
    var plan: CheckpointPlan
    /// The header to write; its `record` is complete only once the record is written.
    var header: CheckpointHeader
    var roots: TreeRoots
    var kept: [KeptRecord]
    var opaque: [UInt8]

    /// The epochs that are pinned for it.
    var pins: [UInt64] { [header.epoch] + kept.map(\.epoch) }
}
