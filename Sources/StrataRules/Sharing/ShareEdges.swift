import StrataModel
import StrataViews

/// The edges of the hierarchical shares of one zone: decides which stored references hold across them (docs/rules.md
/// §5.12).
///
/// A log does not say who set a reference, and before references of participants could be loose, all of them held.
struct ShareEdges {
    private let view: RulesView
    private let zone: UInt64
    /// The ordinal of the zone's owner.
    private let owner: UInt64

    /// Returns nil for a zone that never had a hierarchical share.
    init?(of zone: UInt64, owner: UInt64, _ view: RulesView) throws {
        guard zone != 0, view.hasShares, try view.fold.fork.hasSharedRecords(in: zone) else { return nil }
        (self.view, self.zone, self.owner) = (view, zone, owner)
    }

    /// Returns how a record refers to another by a stored reference that holds as far as the reference itself says; nil
    /// for the record of a share, which no reference deletes.
    func kind(from source: String, to target: String) throws -> ReferenceKind? {
        let record = RecordKey(zone: zone, name: source)
        guard let header = try view.header(record) else { return .deleting }
        if try header.type == view.shareType() { return nil }
        if header.createdBy == owner, header.modifiedBy == owner { return .deleting }
        guard let share = try view.fold.fork.hierarchicalShare(of: record) else { return .deleting }
        let isWithin = try view.fold.fork.hierarchicalShare(of: RecordKey(zone: zone, name: target)) == share
        return isWithin ? .deleting : .looseDeleting
    }
}
