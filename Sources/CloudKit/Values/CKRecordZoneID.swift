import Foundation
import StrataModel

/// Identifies a zone: `CKRecordZone.ID`.
///
/// ```swift
/// let notes = CKRecordZone.ID(zoneName: "Notes")
/// notes.ownerName == CKCurrentUserDefaultName
/// ```
///
/// Two IDs are equal if their names and owners are, compared exactly as written (B5).
// @unchecked: its one property is a constant.
public final class CKRecordZoneID: NSObject, NSSecureCoding, NSCopying, CVarArg, @unchecked Sendable {
    /// The ID with an empty owner for the current user.
    let model: ZoneID

    /// Creates the ID of a zone, by default of the current user's default zone.
    public convenience init(
        zoneName: String = CKRecordZoneID.defaultZoneName, ownerName: String = CKCurrentUserDefaultName
    ) {
        self.init(ZoneID(zoneName, owner: ownerName == CKCurrentUserDefaultName ? "" : ownerName))
    }

    /// Creates the ID of a zone; a nil owner means the current user.
    @available(*, deprecated, message: "Leave the owner out for the current user.")
    @_disfavoredOverload
    public convenience init(
        zoneName: String = CKRecordZoneID.defaultZoneName, ownerName: String? = CKOwnerDefaultName
    ) {
        self.init(zoneName: zoneName, ownerName: ownerName ?? CKCurrentUserDefaultName)
    }

    init(_ model: ZoneID) {
        self.model = model
        super.init()
    }

    /// The ID of the zone that every private and public database has.
    public static let `default` = CKRecordZoneID()
    /// The name of the zone that every private and public database has.
    public static let defaultZoneName = ZoneID.defaultName

    /// The name, unique among the zones of its owner.
    public var zoneName: String { model.name }
    /// The owner; ``CKCurrentUserDefaultName`` for the current user.
    public var ownerName: String { model.owner.isEmpty ? CKCurrentUserDefaultName : model.owner }

    /// Returns the ID for a store whose current user is named `me`; an ID may use that name for the owner.
    func model(for me: @autoclosure () throws -> String) rethrows -> ZoneID {
        // Most zone IDs leave the owner out.
        try model.owner.isEmpty || !isSameText(model.owner, me()) ? model : ZoneID(model.name)
    }

    public override func isEqual(_ object: Any?) -> Bool { (object as? CKRecordZoneID)?.model == model }
    public override var hash: Int { model.hashValue }
    public override var description: String { "<CKRecordZoneID: \(zoneName):\(ownerName)>" }

    // MARK: NSSecureCoding, NSCopying

    private static let block = "CKRecordZoneID"

    public func encode(with coder: NSCoder) { ArchiveBlock.write(Self.block, to: coder) { $0.append(self) } }

    public init?(coder: NSCoder) {
        if let id = ArchiveBlock.read(Self.block, from: coder, { try $0.readZoneID() }) {
            model = id.model
        } else {
            let archive = ArchiveReader(coder)
            guard let zone = archive.string("ZoneName"), let owner = archive.string("ownerName"), archive.isIntact
            else { return nil }
            model = ZoneID(zone, owner: owner == CKCurrentUserDefaultName ? "" : owner)
        }
        super.init()
    }
}
