import Foundation

/// Something with values under keys: a record, and its ``CKRecord/encryptedValues``.
public protocol CKRecordKeyValueSetting: NSObjectProtocol {
    func object(forKey key: CKRecord.FieldKey) -> (any __CKRecordObjCValue)?
    func setObject(_ object: (any __CKRecordObjCValue)?, forKey key: CKRecord.FieldKey)
    // Disfavoured: without Objective-C `as? Int` on what it gives would draw a warning.
    @_disfavoredOverload
    subscript(key: CKRecord.FieldKey) -> (any __CKRecordObjCValue)? { get set }
    /// What a subscript sets. Of no use outside the module; it is here so that a value needs no box on its way.
    func _setContent(_ content: _FieldContent?, forKey key: CKRecord.FieldKey)
    /// The keys that have values.
    func allKeys() -> [CKRecord.FieldKey]
    /// The keys that were set or removed since the record was fetched.
    func changedKeys() -> [CKRecord.FieldKey]
}

extension CKRecordKeyValueSetting {
    public func _setContent(_ content: _FieldContent?, forKey key: CKRecord.FieldKey) {
        setObject(content.map { KeptValue($0) }, forKey: key)
    }

    /// The value as the type that is asked for; nil if there is none, or another.
    public subscript<T: CKRecordValueProtocol>(key: CKRecord.FieldKey) -> T? {
        get { object(forKey: key) as? T }
        set { _setContent(newValue?._fieldContent, forKey: key) }
    }

    /// The value; nil removes it.
    public subscript(key: CKRecord.FieldKey) -> (any CKRecordValueProtocol)? {
        get { object(forKey: key) as? any CKRecordValueProtocol }
        set { _setContent(newValue?._fieldContent, forKey: key) }
    }
}

/// A value on its way from one protocol to the other.
struct KeptValue: __CKRecordObjCValue {
    let _fieldContent: _FieldContent

    init(_ content: _FieldContent) { _fieldContent = content }
}

/// Goes through the keys of a record with their values, as they were when it was made.
public struct CKRecordKeyValueIterator: IteratorProtocol {
    private var fields: ArraySlice<(CKRecord.FieldKey, FieldContent)>

    init(_ fields: [(CKRecord.FieldKey, FieldContent)]) { self.fields = fields[...] }

    /// The next key and its value; nil at the end.
    public mutating func next() -> (CKRecord.FieldKey, any CKRecordValueProtocol)? {
        while let (key, content) = fields.popFirst() {
            if let value = content.object { return (key, value) }
        }
        return nil
    }
}
