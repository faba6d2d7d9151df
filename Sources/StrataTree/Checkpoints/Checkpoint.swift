import StrataModel

/// A durable state of all trees.
package struct Checkpoint: Sendable {
    /// The state of the log that it contains.
    package let position: Position
    package let time: Int64
    /// The caller's bytes stored with it; empty for older checkpoints.
    package let opaque: [UInt8]
    let epoch: UInt64
    let record: RecordPlace
    let pageCount: Int

    init(_ header: CheckpointHeader, opaque: [UInt8]) {
        self.init(KeptRecord(header), opaque: opaque)
    }

    init(_ kept: KeptRecord, opaque: [UInt8] = []) {
        position = kept.position
        time = kept.time
        epoch = kept.epoch
        record = kept.record
        pageCount = kept.pageCount
        self.opaque = opaque
    }
}
