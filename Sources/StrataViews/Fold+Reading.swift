import StrataModel
import StrataTree

/// Reading what has been folded so far. What is gathered and may be asked for is folded first.
extension Fold {
    /// The fork, with everything in it.
    public func whole() throws -> Fork {
        if slice.count > 0 { try flush() }
        return fork
    }

    /// The encoded state of a record; valid only inside `body`.
    public func withRecord<Result>(
        _ record: RecordKey, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result? {
        if slice.count > 0 {
            let mayBeGathered = ViewKeys.record(record).withUnsafeBytes { slice.mayContain($0) }
            if mayBeGathered { try flush() }
        }
        return try fork.withRecord(record, body)
    }
}
