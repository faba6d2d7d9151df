import StrataModel

extension Store {
    /// Returns the records that a client requests, from the newest state: a result for each ID, in order (B110, B112).
    ///
    /// - Throws: ``Refusal`` if the actor can read nothing in the database, and for more IDs than
    ///   ``Limits/itemsPerRequest`` (B117).
    public func fetch(
        _ ids: [RecordID], in database: DatabaseID, desiredKeys: [String]? = nil, as actor: Actor
    ) throws -> [Result<Record, Refusal>] {
        try options.limits.checkItemCount(ids.count)
        let newest = newest
        let results = try newest.records(ids, in: database, desiredKeys: desiredKeys, as: actor)
        noteFetch(ids, in: database, keys: desiredKeys, by: actor, at: newest.offset, results)
        return results
    }
}
