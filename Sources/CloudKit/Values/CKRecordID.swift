import Foundation
import StrataModel
import Synchronization

/// Identifies a record within a database: `CKRecord.ID`.
///
/// ```swift
/// let id = CKRecord.ID(recordName: "note-1", zoneID: CKRecordZone.ID(zoneName: "Notes"))
/// let unique = CKRecord.ID()    // a unique name in the default zone
/// ```
///
/// Two IDs are equal if their names and zones are, compared exactly as written (B2).
// @unchecked: its properties are constants, except for one that is atomic.
public final class CKRecordID: NSObject, NSSecureCoding, NSCopying, CVarArg, @unchecked Sendable {
    /// The name, unique within the zone.
    public let recordName: String
    /// The zone of the record.
    public let zoneID: CKRecordZoneID
    /// The hash value once it was needed; 0 before.
    private let knownHash = Atomic(0)

    /// Creates the ID of a record; without a name, it gets a unique one.
    public init(recordName: String = UUID().uuidString, zoneID: CKRecordZoneID = .default) {
        self.recordName = recordName
        self.zoneID = zoneID
        super.init()
    }

    convenience init(_ model: RecordID) {
        self.init(recordName: model.name, zoneID: CKRecordZoneID(model.zone))
    }

    /// The ID with an empty zone owner for the current user.
    var model: RecordID { RecordID(recordName, zone: zoneID.model) }

    /// Returns the ID for a store whose current user is named `me`; an ID may use that name for the owner.
    func model(for me: @autoclosure () throws -> String) rethrows -> RecordID {
        RecordID(recordName, zone: try zoneID.model(for: try me()))
    }

    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKRecordID).map(isSame) ?? false
    }

    /// Returns true if both IDs name the same record.
    final func isSame(as other: CKRecordID) -> Bool {
        other === self
            || recordName.utf8.elementsEqual(other.recordName.utf8)
                && (zoneID === other.zoneID || zoneID.model == other.zoneID.model)
    }

    public override var hash: Int {
        let known = knownHash.load(ordering: .relaxed)
        if known != 0 { return known }
        var hasher = Hasher()
        hasher.combine(recordName)
        hasher.combine(zoneID.model.name)
        let hash = hasher.finalize()
        knownHash.store(hash, ordering: .relaxed)
        return hash
    }

    public override var description: String {
        "<CKRecordID: \(recordName):(\(zoneID.zoneName):\(zoneID.ownerName))>"
    }

    // MARK: NSSecureCoding, NSCopying

    private static let block = "CKRecordID"

    public func encode(with coder: NSCoder) { ArchiveBlock.write(Self.block, to: coder) { $0.append(self) } }

    public init?(coder: NSCoder) {
        if let id = ArchiveBlock.read(Self.block, from: coder, { try $0.readRecordID() }) {
            recordName = id.recordName
            zoneID = id.zoneID
        } else {
            let archive = ArchiveReader(coder)
            guard let name = archive.string("RecordName"), let zone = archive.object(CKRecordZoneID.self, "ZoneID"),
                archive.isIntact
            else { return nil }
            recordName = name
            zoneID = zone
        }
        super.init()
    }
}
