import StrataLog
import StrataModel
import StrataViews

/// The effects that an erasure would have.
public struct ErasurePlan: Sendable, Hashable {
    public struct Entry: Sendable, Hashable {
        public var record: RecordID
        public var type: String
        /// The number of its versions in the log, without the state that a base has of it.
        public var versionCount: Int
        /// True if the record exists now.
        public var isThere: Bool
    }

    /// The records in the order in which they were named.
    public var records: [Entry]
}

extension Store {
    /// Returns what ``erase(_:in:reason:committed:)`` would erase; nothing is changed. Only the erasure itself checks
    /// if another record has one of them as its parent.
    ///
    /// ```swift
    /// let plan = try store.erasurePlan([card], in: DatabaseID(.private, owner: "anna"))
    /// print(plan.records[0].versionCount)
    /// ```
    /// - Throws: ``Refusal`` `zoneNotFound` or `unknownItem` for a record that the log does not know.
    public func erasurePlan(_ ids: [RecordID], in database: DatabaseID) throws -> ErasurePlan {
        try gate.requireOpen()
        let newest = newest
        return ErasurePlan(
            records: try ids.map { id in
                let type = try typeName(of: id, in: database)
                let (zone, isThere) = try newest.reading { trees in
                    let zone = try zoneOrdinal(of: id, in: database, newest, trees)
                    let isThere = try zone.map {
                        try trees.withRecord(RecordKey(zone: $0, name: id.name)) { _ in true } ?? false
                    }
                    return (zone, isThere ?? false)
                }
                let count = try zone.map { try versionCount(of: Array(id.name.utf8), in: $0) } ?? 0
                return ErasurePlan.Entry(record: id, type: type, versionCount: count, isThere: isThere)
            })
    }

    private func versionCount(of name: [UInt8], in zone: UInt64) throws -> Int {
        var (offset, count) = (log.floor.offset, 0)
        while true {
            let page = try log.touches(record: name, in: zone, after: offset, limit: 1_000)
            count += page.touches.count { $0.kind == .recordSaved }
            guard page.moreComing else { return count }
            offset = page.readThrough
        }
    }
}
