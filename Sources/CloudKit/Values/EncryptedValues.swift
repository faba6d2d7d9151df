import Foundation

/// The encrypted values of a record, separate from its other values.
// @unchecked: its one property is a constant.
final class EncryptedValues: NSObject, CKRecordKeyValueSetting, @unchecked Sendable {
    private let record: CKRecord

    init(_ record: CKRecord) {
        self.record = record
        super.init()
    }

    func object(forKey key: CKRecord.FieldKey) -> (any __CKRecordObjCValue)? {
        record.withFields { $0.content(of: key, isEncrypted: true) }?.object
    }

    func setObject(_ object: (any __CKRecordObjCValue)?, forKey key: CKRecord.FieldKey) {
        var content = object?._fieldContent.content
        switch content {
        case .reference?, .references?: content = .mistake("A reference cannot be encrypted.")
        case .asset?, .assets?:
            content = .mistake("An asset cannot be an encrypted value: CloudKit encrypts assets by itself.")
        default: break
        }
        let kept = content
        record.withFields { $0.set(kept, forKey: key, isEncrypted: true) }
    }

    @_disfavoredOverload
    subscript(key: CKRecord.FieldKey) -> (any __CKRecordObjCValue)? {
        get { object(forKey: key) }
        set { setObject(newValue, forKey: key) }
    }

    func allKeys() -> [CKRecord.FieldKey] { record.withFields { $0.keys(isEncrypted: true) } }

    func changedKeys() -> [CKRecord.FieldKey] { record.withFields { $0.changedKeys { $0.isEncrypted } } }
}
