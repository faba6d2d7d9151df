import StrataModel
import StrataTree
import StrataViews

/// The records of another user's zone that a member of its shares sees. Nothing of the others enters a query.
package struct VisibleRecords: Sendable {
    private let zone: UInt64
    /// The numbers of the hierarchical shares; nil if the member sees the whole zone.
    private let hierarchies: Set<UInt64>?
    /// The names of the records of the shares themselves.
    private let shareRecords: [String]
    private let shareType: UInt64?

    /// - Parameters:
    ///   - shares: the hierarchical shares; nil if the member sees the whole zone.
    ///   - shareType: the record type of shares.
    package init(ofZone zone: UInt64, shares: [ShareSavedEvent]?, shareType: UInt64?) {
        self.zone = zone
        self.shareType = shareType
        hierarchies = shares.map { Set($0.map(\.share)) }
        shareRecords = shares?.map(\.record.name) ?? []
    }

    /// True if all records of the zone are visible.
    var isWholeZone: Bool { hierarchies == nil }

    func includes(_ record: RecordKey, in trees: Snapshot) throws -> Bool {
        guard record.zone == zone else { return false }
        guard let hierarchies else { return true }
        // Most records belong to a hierarchy, so the names of shares are compared last.
        if let share = try trees.hierarchicalShare(of: record) { return hierarchies.contains(share) }
        return shareRecords.contains { isSameText($0, record.name) }
    }

    /// Returns the approximate number of the visible records; nil for a whole zone.
    func count(in trees: Snapshot) throws -> Double? {
        try hierarchies?.reduce(Double(shareRecords.count)) { try $0 + trees.estimatedChanges(ofShare: $1) }
    }

    /// Returns the keys of the visible records of a type, in order.
    func keys(ofType type: UInt64, in trees: Snapshot) throws -> [[UInt8]] {
        var keys: [[UInt8]] = []
        if type == shareType { keys = shareRecords.map { key($0) } }
        for share in hierarchies ?? [] {
            try trees.forEachChange(ofShare: share, after: Version(offset: 0, eventIndex: 0)) { _, event in
                if !event.isGone, event.type == type { keys.append(key(event.record.name)) }
                return true
            }
        }
        return keys.sorted { $0.lexicographicallyPrecedes($1) }
    }

    private func key(_ name: String) -> [UInt8] {
        var key = KeyWriter()
        key.append(number: zone)
        key.append(lastName: name)
        return key.bytes
    }
}
