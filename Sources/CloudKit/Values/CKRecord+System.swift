import Foundation
import StrataModel
import StrataStore

extension CKRecord {
    private var metadata: RecordFields.Origin { withFields { $0.metadata } }

    /// The tag of the version that was fetched or saved, different after every save; nil before the first save (B60).
    public var recordChangeTag: String? { withFields { $0.changeTag } }

    /// The time of the first save; nil until then.
    public var creationDate: Date? {
        switch metadata {
        case .new: nil
        case .stored(let record, _): Date(microseconds: record.created)
        case .archived(let record): record.created
        }
    }

    /// The time of the last save, later with every save (B250); nil until the first.
    public var modificationDate: Date? {
        switch metadata {
        case .new: nil
        case .stored(let record, _): Date(microseconds: record.modified)
        case .archived(let record): record.modified
        }
    }

    /// The user who created the record. For the current user the record name is ``CKCurrentUserDefaultName``.
    public var creatorUserRecordID: CKRecordID? {
        switch metadata {
        case .new: nil
        case .stored(let record, let me): try? CKRecordID(user: record.createdBy, of: record, me: me)
        case .archived(let record): record.createdBy
        }
    }

    /// The user who last saved the record, in the form of ``creatorUserRecordID``.
    public var lastModifiedUserRecordID: CKRecordID? {
        switch metadata {
        case .new: nil
        case .stored(let record, let me): try? CKRecordID(user: record.modifiedBy, of: record, me: me)
        case .archived(let record): record.modifiedBy
        }
    }

    // MARK: Hierarchy

    /// The record above this one, which is shared along with it. Its action is `none` (B20).
    public var parent: CKReference? {
        get { parent(of: withFields { $0 }) }
        set { withFields { $0.parent = newValue.map { .set($0) } ?? .removed } }
    }

    /// Sets the ``parent`` to a record; nil removes the parent.
    public func setParent(_ parentRecord: CKRecord?) { setParent(parentRecord?.recordID) }

    /// Sets the ``parent`` to the record with an ID; nil removes the parent.
    @_disfavoredOverload
    public func setParent(_ parentRecordID: CKRecordID?) {
        parent = parentRecordID.map { CKReference(recordID: $0, action: .none) }
    }

    /// The share whose root is this record.
    public var share: CKReference? {
        withFields { $0.newShare } ?? link(of: metadata, { try $0.share }, { $0.share })
    }

    /// Sets the share that was made for this record.
    func setShare(_ share: CKReference) { withFields { $0.newShare = share } }

    func parent(of fields: RecordFields) -> CKReference? {
        switch fields.parent {
        case .removed?: nil
        case .set(let reference)?: reference
        case nil: link(of: fields.origin, { try $0.parent }, { $0.parent })
        }
    }

    private func link(
        of origin: RecordFields.Origin, _ stored: (Record) throws -> String?,
        _ archived: (ArchivedRecord) -> CKReference?
    ) -> CKReference? {
        switch origin {
        case .new: return nil
        case .stored(let record, _):
            guard let name = (try? stored(record)) ?? nil else { return nil }
            return CKReference(recordID: CKRecordID(recordName: name, zoneID: recordID.zoneID), action: .none)
        case .archived(let record): return archived(record)
        }
    }
}

extension CKRecordID {
    /// Creates the ID of a user's record: ``CKCurrentUserDefaultName`` for the current user, else the name of the user
    /// record.
    fileprivate convenience init(user: String, of record: Record, me: String) throws {
        self.init(recordName: isSameText(user, me) ? CKCurrentUserDefaultName : try record.recordName(of: user))
    }
}
