import StrataTree

/// What a page file has of the past.
public struct CheckpointState: Sendable {
    public let trees: Snapshot
    public let offset: UInt64
}
