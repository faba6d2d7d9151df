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
        try ViewKeys.record(record).withUnsafeBytes { key in
            if slice.count > 0, slice.mayContain(key) { try flush() }
            return try fork.get(ViewTree.records, key, body)
        }
    }
}
