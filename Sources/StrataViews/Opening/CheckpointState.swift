import StrataTree

/// A past state that a checkpoint holds.
public struct CheckpointState: Sendable {
    public let trees: Snapshot
    public let offset: UInt64
}
