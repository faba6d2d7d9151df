import StrataModel

/// Writes which records belong to hierarchical shares.
extension RecordsWriter {
    /// Appends the events by which all records of a hierarchy come under a share or leave it.
    func appendHierarchy(of root: RecordKey, share: UInt64, isGone: Bool) throws {}
}
