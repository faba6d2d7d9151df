import StrataModel
import StrataTree

/// Reading what has been folded so far. What is gathered and may be asked for is folded first.
extension Fold {
    /// The fork, with everything in it.
    public func whole() throws -> Fork {
        if slice.count > 0 { try flush() }
        return fork
    }

    /// Returns whether records may hold a record as their parent or with `deleteSelf`; false only if none does.
    public func mayBeReferred(to target: RecordKey) throws -> Bool {
        if try sorter != nil || slice.mayHaveLinks() { return true }
        var isReferred = false
        try fork.forEachSource(of: target, .parent, through: .deleting) { _, _ in
            isReferred = true
            return false
        }
        return isReferred
    }

    /// The encoded state of a record; valid only inside `body`.
    public func withRecord<Result>(
        _ record: RecordKey, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result? {
        try ViewKeys.record(record).withUnsafeBytes { key in
            if slice.count > 0, slice.mayContain(key) { try settle(key) }
            return try fork.withRecord(record, at: key, body)
        }
    }
}
