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
            let operation = try commit.payload.withUnsafeBytes { payload in
                try EventWalker(payload).header().operationID
            }
            if operation == id {
                return Answer(result: try RequestResult(of: commit), offset: next, snapshot: snapshot)
            }
            next += 1
        }
        return nil
    }
}
