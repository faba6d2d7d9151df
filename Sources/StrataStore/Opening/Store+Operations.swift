import StrataModel

extension Store {
    /// What became of an operation, found in the commits after an offset; nil if none of them is its.
    ///
    /// For whoever does not know whether a request was done before the process ended. Costs as much as there are
    /// commits since.
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
