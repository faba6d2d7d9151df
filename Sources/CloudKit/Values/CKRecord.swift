import Foundation
import StrataModel
import StrataStore
import StrataSystem

/// Values under keys, saved and fetched as a whole.
///
/// ```swift
/// let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "note-1", zoneID: zone.zoneID))
/// note["title"] = "Groceries"
/// let saved = try await database.save(note)
/// ```
///
/// Two are equal if they are the same object; compare their ``recordID`` and ``recordChangeTag``.
///
/// Nothing that is passed traps: a key or value that cannot be is remembered, and saving the record fails with
/// `invalidArguments` (B270).
// @unchecked: what changes lies behind the lock.
public class CKRecord: NSObject, NSSecureCoding, NSCopying, Sequence, CKRecordKeyValueSetting, CVarArg,
    @unchecked Sendable
{
    /// What kind of thing a record is: a letter, then letters, digits and underscores (B6).
    public typealias RecordType = String
    /// Names a value of a record: a letter, then letters, digits and underscores (B7).
    public typealias FieldKey = String
    /// Names a record within a database.
    public typealias ID = CKRecordID
    /// A link to another record.
    public typealias Reference = CKReference

    /// What kind of thing the record is.
    public let recordType: RecordType
    /// Names the record within its database.
    public let recordID: CKRecordID
    let state: Lock<RecordFields>

    /// A record that nobody has saved yet; without an ID, one with a name of its own in the default zone.
    public convenience init(recordType: RecordType, recordID: CKRecordID = CKRecordID()) {
        self.init(recordType, recordID, RecordFields(.new, in: recordID.zoneID, isPartial: false))
    }

    /// A record that nobody has saved yet, with a name of its own.
    @available(*, deprecated, message: "Pass a record ID that names the zone.")
    public convenience init(recordType: RecordType, zoneID: CKRecordZoneID) {
        self.init(recordType: recordType, recordID: CKRecordID(zoneID: zoneID))
    }

    init(_ type: RecordType, _ id: CKRecordID, _ fields: RecordFields) {
        recordType = type
        recordID = id
        state = Lock(fields)
        super.init()
    }

    /// Record types that the system makes itself.
    public enum SystemType {
        /// The record that each user has.
        public static let userRecord: RecordType = "Users"
        /// What makes others see a record or zone.
        public static let share: RecordType = "cloudkit.share"
    }

    /// Keys for predicates and sort descriptors, of what every record has.
    public enum SystemFieldKey {
        /// Of ``CKRecord/recordID``.
        public static let recordID: FieldKey = "___recordID"
        /// Of ``CKRecord/creatorUserRecordID``.
        public static let creatorUserRecordID: FieldKey = "___createdBy"
        /// Of ``CKRecord/creationDate``.
        public static let creationDate: FieldKey = "___createTime"
        /// Of ``CKRecord/lastModifiedUserRecordID``.
        public static let lastModifiedUserRecordID: FieldKey = "___modifiedBy"
        /// Of ``CKRecord/modificationDate``.
        public static let modificationDate: FieldKey = "___modTime"
        /// Of ``CKRecord/parent``.
        public static let parent: FieldKey = "___parent"
        /// Of ``CKRecord/share``.
        public static let share: FieldKey = "___share"
    }

    // MARK: NSSecureCoding, NSCopying

    public class var supportsSecureCoding: Bool { true }

    public func copy(with zone: NSZone? = nil) -> Any { CKRecord(recordType, recordID, state.withLock { $0 }) }

    /// Writes all of the record, with what was changed since it was fetched (B18).
    ///
    /// Fields with names that are longer than any that can be saved are not written: the record that is read then
    /// cannot be saved either, and the save says why.
    public func encode(with coder: NSCoder) {
        do { try encode(ArchivedFields(state.withLock { $0 }), with: coder) } catch {
            // Telling the coder of it would end the process: Foundation on Linux knows no other answer.
            try? encode(ArchivedFields(mistake: "The fields could not be archived: \(error)"), with: coder)
        }
    }

    /// Reads what ``encode(with:)`` or ``encodeSystemFields(with:)`` wrote; nil if that is damaged.
    public required init?(coder: NSCoder) {
        guard let (type, id, fields) = Self.fields(from: coder) else { return nil }
        recordType = type
        recordID = id
        state = Lock(fields)
        super.init()
    }

    /// Writes what names the record and its version, without its fields (B17).
    ///
    /// ```swift
    /// let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    /// record.encodeSystemFields(with: archiver)
    /// let system = archiver.encodedData
    /// ```
    public func encodeSystemFields(with coder: NSCoder) {
        // Only fields can be more than an archive takes.
        try? encode(nil, with: coder)
    }

    // MARK: Text

    /// Type, name, zone, tag and fields, in one line.
    public override var description: String { oneLine }
    public override var debugDescription: String { oneLine }
}
