import StrataModel
import StrataTree
import StrataViews

/// The records of another user's zone that a member of its shares sees. Nothing of the others enters a query.
package struct VisibleRecords: Sendable {
    private let zone: UInt64
    /// The numbers of the hierarchical shares; nil if the member sees the whole zone.
    private let hierarchies: Set<UInt64>?
    /// The keys of the records of the shares themselves.
    private let shareRecords: [[UInt8]]
    private let shareType: UInt64?

    /// - Parameters:
    ///   - shares: the hierarchical shares; nil if the member sees the whole zone.
    ///   - shareType: the record type of shares.
    package init(ofZone zone: UInt64, shares: [ShareSavedEvent]?, shareType: UInt64?) {
        self.zone = zone
        self.shareType = shareType
        hierarchies = shares.map { Set($0.map(\.share)) }
        shareRecords = shares?.map(\.record.viewKey) ?? []
    }

    /// True if all records of the zone are visible.
    var isWholeZone: Bool { hierarchies == nil }

    package func includes(_ record: RecordKey, in trees: Snapshot) throws -> Bool {
        guard record.zone == zone else { return false }
        guard let hierarchies else { return true }
        // Most records belong to a hierarchy, so the keys of shares are compared last.
        if let share = try trees.hierarchicalShare(of: record) { return hierarchies.contains(share) }
        return shareRecords.contains(record.viewKey)
    }

    /// Like ``includes(_:in:)``, for the key of a record.
    package func includes(_ key: UnsafeRawBufferPointer, in trees: Snapshot) throws -> Bool {
        var reader = KeyReader(key)
        guard try reader.readNumber() == zone else { return false }
        guard let hierarchies else { return true }
        if let share = try trees.hierarchicalShare(ofRecordAt: key) { return hierarchies.contains(share) }
        return shareRecords.contains { $0.elementsEqual(key) }
    }

    /// Returns those of the keys whose records are visible.
    func visible(of keys: KeyList, in trees: Snapshot) throws -> KeyList {
        guard let hierarchies else { return keys }
        var visible = KeyList()
        try trees.forEachHierarchicalShare(ofRecordsAt: keys) { index, share in
            try keys.withKey(index) { key in
                var reader = KeyReader(key)
                guard try reader.readNumber() == zone else { return }
                if share.map(hierarchies.contains) ?? shareRecords.contains(where: { $0.elementsEqual(key) }) {
                    visible.append(key)
                }
            }
        }
        return visible
    }

    /// Returns the approximate number of the visible records; nil for a whole zone.
    func count(in trees: Snapshot) throws -> Double? {
        try hierarchies?.reduce(Double(shareRecords.count)) { try $0 + trees.estimatedChanges(ofShare: $1) }
    }

    /// Returns the keys of the visible records of a type, in order.
    func keys(ofType type: UInt64, in trees: Snapshot) throws -> [[UInt8]] {
        var keys: [[UInt8]] = []
        if type == shareType { keys = shareRecords }
        for share in hierarchies ?? [] {
            try trees.forEachChange(ofShare: share, after: Version(offset: 0, eventIndex: 0)) { _, event in
                if !event.isGone, event.type == type { keys.append(event.record.viewKey) }
                return true
            }
        }
        return keys.sorted { $0.lexicographicallyPrecedes($1) }
    }
}
