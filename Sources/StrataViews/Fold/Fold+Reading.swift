import StrataModel
import StrataTree

/// Reading what has been folded so far. What is gathered and may be asked for is folded first.
extension Fold {
    /// The fork, with everything in it.
    public func whole() throws -> Fork {
        if slice.count > 0 { try flush() }
        return fork
    }

    /// Whether records may hold one as their parent or go with it; false only if none does.
    ///
    /// - Parameter withLoose: whether there may be loose references.
    public func mayBeReferred(to target: RecordKey, withLoose: Bool) throws -> Bool {
        if try sorter != nil || slice.mayHaveLinks() { return true }
        var isReferred = false
        func note(_: ReferenceKind, _: UnsafeRawBufferPointer) -> Bool {
            isReferred = true
            return false
        }
        try fork.forEachSource(of: target, .parent, through: .deleting, note)
        if withLoose, !isReferred { try fork.forEachSource(of: target, .looseDeleting, through: .looseDeleting, note) }
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
