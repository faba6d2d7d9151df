import Foundation
import StrataModel
import StrataStore
import StrataViews

extension CKRecord {
    private var origin: RecordFields.Origin { state.withLock { $0.origin } }

    /// Names the version that was fetched; nil until the record is saved, another with every save (B60).
    public var recordChangeTag: String? {
        switch origin {
        case .new: nil
        case .stored(let record, _): record.version.tag
        case .archived(let record): record.changeTag
        }
    }

    /// When the record was first saved; nil until then.
    public var creationDate: Date? {
        switch origin {
        case .new: nil
        case .stored(let record, _): Date(microseconds: record.created)
        case .archived(let record): record.created
        }
    }

    /// When the record was last saved, later with every save (B250); nil until then.
    public var modificationDate: Date? {
        switch origin {
        case .new: nil
        case .stored(let record, _): Date(microseconds: record.modified)
        case .archived(let record): record.modified
        }
    }

    /// Its name is ``CKCurrentUserDefaultName`` for the current user.
    public var creatorUserRecordID: CKRecordID? {
        switch origin {
        case .new: nil
        case .stored(let record, let me): (try? record.createdBy).map { CKRecordID(user: $0, me: me) }
        case .archived(let record): record.createdBy
        }
    }

    /// Who saved the record last, as ``creatorUserRecordID``.
    public var lastModifiedUserRecordID: CKRecordID? {
        switch origin {
        case .new: nil
        case .stored(let record, let me): (try? record.modifiedBy).map { CKRecordID(user: $0, me: me) }
        case .archived(let record): record.modifiedBy
        }
    }

    // MARK: Hierarchy

    /// The record above this one, which is shared along with it. Its action is none (B20).
    public var parent: CKReference? {
        get { parent(of: state.withLock { $0 }) }
        set { state.withLock { $0.parent = newValue.map { .set($0) } ?? .removed } }
    }

    /// Makes a record the ``parent``; nil takes the parent away.
    public func setParent(_ parentRecord: CKRecord?) { setParent(parentRecord?.recordID) }

    /// Makes a record the ``parent`` by its ID; nil takes the parent away.
    @_disfavoredOverload
    public func setParent(_ parentRecordID: CKRecordID?) {
        parent = parentRecordID.map { CKReference(recordID: $0, action: .none) }
    }

    /// The share that the record is in as its root.
    public var share: CKReference? { link(of: origin, { try $0.share }, { $0.share }) }

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
    /// The user record of somebody, who may be the current user; others have the name of their own user record.
    fileprivate convenience init(user: String, me: String) {
        self.init(recordName: isSameText(user, me) ? CKCurrentUserDefaultName : UserRecord.name(of: user))
    }
}
