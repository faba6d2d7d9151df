import StrataModel

extension Store {
    /// Returns the outcome of an operation, found in the commits after an offset; nil if none of them is from the
    /// operation.
    ///
    /// Use this to find out if a request was carried out before the process ended. The cost grows with the number of
    /// commits since the offset.
    public func answer(toOperation id: String, after offset: UInt64) throws -> Answer? {
        let snapshot = snapshot()
        var next = max(offset, log.floor.offset) + 1
        while next <= snapshot.offset {
            guard let commit = try log.commit(at: next) else { return nil }
            let header = try commit.payload.withUnsafeBytes { try EventWalker($0).header() }
            // A lazy commit notes that a request of the operation came to nothing.
            if header.operationID == id, !header.isLazy {
                return Answer(result: try RequestResult(of: commit), offset: next, snapshot: snapshot)
            }
            next += 1
        }
        return nil
    }
}
