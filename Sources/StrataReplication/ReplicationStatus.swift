import StrataModel

/// The progress of a store on a sequencer, and what hinders it.
public struct ReplicationStatus: Sendable {
    /// The number of the last entry that this process has read.
    public var entry: UInt64
    /// The end of the log after it.
    public var end: Position
    /// The number of batches that this process appended since it opened the store.
    public var appendedBatches: UInt64
    /// The number of batches that came second to another process's, and were decided again.
    public var lostBatches: UInt64
    /// The reason why entries cannot be read at present; nil if they can.
    public var interruption: StrataError?
    /// The reason why the store takes no writes until it is opened again: the sequencer and the copy differ.
    public var failure: StrataError?
}

extension ReplicatedLog {
    /// The log's progress now.
    package var status: ReplicationStatus {
        state.withLock { state in
            ReplicationStatus(
                entry: state.number, end: state.position, appendedBatches: state.appended, lostBatches: state.lost,
                interruption: state.interruption, failure: state.failure)
        }
    }
}
