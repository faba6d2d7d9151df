import StrataTree

/// A past state that a checkpoint holds.
package struct CheckpointState: Sendable {
    package let trees: Snapshot
    package let offset: UInt64
}
