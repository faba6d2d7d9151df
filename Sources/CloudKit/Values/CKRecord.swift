import Foundation
import StrataSystem

/// A set of values under keys, saved and fetched as a whole.
///
/// ```swift
/// let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "note-1", zoneID: zone.zoneID))
/// note["title"] = "Groceries"
/// let saved = try await database.save(note)
/// ```
///
/// Two records are equal if they are the same object; compare their ``recordID`` and ``recordChangeTag``.
///
/// Setting an invalid key or value never traps: the record remembers it, and saving the record fails with
/// `invalidArguments` (B270).
// @unchecked: the lock protects all mutable state.
public class CKRecord: NSObject, NSSecureCoding, NSCopying, Sequence, CKRecordKeyValueSetting, CVarArg,
    @unchecked Sendable
{
    /// The kind of a record: a letter, then letters, digits and underscores (B6).
    public typealias RecordType = String
    /// The name of a value of a record: a letter, then letters, digits and underscores (B7).
    public typealias FieldKey = String
    /// Identifies a record within a database.
    public typealias ID = CKRecordID
    /// A link to another record.
    public typealias Reference = CKReference

    /// The kind of record.
    public let recordType: RecordType
    /// The ID of the record within its database.
    public let recordID: CKRecordID
    // Not in a `Lock`, which would cost each of the records of an answer two more allocations.
    private let lock = BareLock()
    private var fields: RecordFields

    /// Creates an unsaved record; without an ID, it gets a unique name in the default zone.
    public convenience init(recordType: RecordType, recordID: CKRecordID = CKRecordID()) {
        self.init(recordType, recordID, RecordFields(.new, in: recordID.zoneID, isPartial: false))
    }

    /// Creates an unsaved record with a unique name.
    @available(*, deprecated, message: "Pass a record ID that names the zone.")
    public convenience init(recordType: RecordType, zoneID: CKRecordZoneID) {
        self.init(recordType: recordType, recordID: CKRecordID(zoneID: zoneID))
    }

    init(_ type: RecordType, _ id: CKRecordID, _ fields: RecordFields) {
        recordType = type
        recordID = id
        self.fields = fields
        super.init()
    }

    /// Calls `body` with the fields, which no other thread reads or changes while it runs.
    func withFields<Result, Failure: Error>(
        _ body: (inout RecordFields) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        lock.take()
        defer { lock.give() }
        return try body(&fields)
    }

    /// Record types that the system defines.
    public enum SystemType {
        /// The type of the record that each user has.
        public static let userRecord: RecordType = "Users"
        /// The type of the record that shares a record or zone with other users.
        public static let share: RecordType = "cloudkit.share"
    }

    /// Keys of the properties that every record has, for predicates and sort descriptors.
    public enum SystemFieldKey {
        /// The key of ``CKRecord/recordID``.
        public static let recordID: FieldKey = "___recordID"
        /// The key of ``CKRecord/creatorUserRecordID``.
        public static let creatorUserRecordID: FieldKey = "___createdBy"
        /// The key of ``CKRecord/creationDate``.
        public static let creationDate: FieldKey = "___createTime"
        /// The key of ``CKRecord/lastModifiedUserRecordID``.
        public static let lastModifiedUserRecordID: FieldKey = "___modifiedBy"
        /// The key of ``CKRecord/modificationDate``.
        public static let modificationDate: FieldKey = "___modTime"
        /// The key of ``CKRecord/parent``.
        public static let parent: FieldKey = "___parent"
        /// The key of ``CKRecord/share``.
        public static let share: FieldKey = "___share"
    }

    /// Takes over what the store assigned to this object when it saved it: the change tag, the dates and the users. The
    /// fields stay the caller's (B319). Subclasses also take over what else the store assigns to them.
    ///
    /// - Parameters:
    ///   - saved: The record as the store has it.
    ///   - sent: The fields of this object as the request sent them.
    ///   - sentSharing: The same for the state of a share.
    func didSave(as saved: CKRecord, sent: RecordFields, sharing sentSharing: ShareFields?) {
        let version = saved.withFields { $0.metadata }
        withFields { $0.markSaved(sent, as: version) }
    }

    /// The state of a share for a request to send; nil for any other record.
    var sentSharing: ShareFields? { nil }

    // MARK: NSSecureCoding, NSCopying

    public func copy(with zone: NSZone? = nil) -> Any { CKRecord(recordType, recordID, withFields { $0 }) }

    /// Encodes the whole record, including the changes since it was fetched (B18).
    ///
    /// Fields whose names are too long to be saved are not encoded: the decoded record cannot be saved either, and the
    /// save reports the reason.
    public func encode(with coder: NSCoder) {
        do { try encode(ArchivedFields(withFields { $0 }), with: coder) } catch {
            // Reporting the error to the coder would end the process: Foundation on Linux does nothing else with it.
            try? encode(ArchivedFields(mistake: "The fields could not be archived: \(error)"), with: coder)
        }
    }

    /// Decodes what ``encode(with:)`` or ``encodeSystemFields(with:)`` encoded; nil if the archive is damaged.
    public required init?(coder: NSCoder) {
        guard let (type, id, fields) = Self.fields(from: coder) else { return nil }
        recordType = type
        recordID = id
        self.fields = fields
        super.init()
    }

    /// Encodes the record's ID and version, without its fields (B17).
    ///
    /// ```swift
    /// let archiver = NSKeyedArchiver(requiringSecureCoding: true)
    /// record.encodeSystemFields(with: archiver)
    /// let system = archiver.encodedData
    /// ```
    public func encodeSystemFields(with coder: NSCoder) {
        // Programs compare the bytes. Foundation on Linux writes the keys of a binary property list in an order that
        // differs from archive to archive, and those of an XML one sorted.
        (coder as? NSKeyedArchiver)?.outputFormat = .xml
        // Only fields can exceed the limits of an archive.
        try? encode(nil, with: coder)
    }

    // MARK: Text

    /// The type, name, zone, tag and fields, on one line.
    public override var description: String { oneLine }
}
