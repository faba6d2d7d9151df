import Foundation

/// A type with values under keys: a record, or its ``CKRecord/encryptedValues``.
public protocol CKRecordKeyValueSetting: NSObjectProtocol {
    func object(forKey key: CKRecord.FieldKey) -> (any __CKRecordObjCValue)?
    func setObject(_ object: (any __CKRecordObjCValue)?, forKey key: CKRecord.FieldKey)
    // Disfavored: without Objective-C, `as? Int` on its result would cause a warning.
    @_disfavoredOverload
    subscript(key: CKRecord.FieldKey) -> (any __CKRecordObjCValue)? { get set }
    /// Sets a value from a subscript. Not for use outside the module; a requirement so that values need no box.
    func _setContent(_ content: _FieldContent?, forKey key: CKRecord.FieldKey)
    /// Returns the keys that have values.
    func allKeys() -> [CKRecord.FieldKey]
    /// Returns the keys that were set or removed since the record was fetched.
    func changedKeys() -> [CKRecord.FieldKey]
}

extension CKRecordKeyValueSetting {
    public func _setContent(_ content: _FieldContent?, forKey key: CKRecord.FieldKey) {
        setObject(content.map { KeptValue($0) }, forKey: key)
    }

    /// The value of a key as the requested type; nil if it has no value or one of another type.
    public subscript<T: CKRecordValueProtocol>(key: CKRecord.FieldKey) -> T? {
        get { object(forKey: key) as? T }
        set { _setContent(newValue?._fieldContent, forKey: key) }
    }

    /// The value of a key; setting nil removes it.
    public subscript(key: CKRecord.FieldKey) -> (any CKRecordValueProtocol)? {
        get { object(forKey: key) as? any CKRecordValueProtocol }
        set { _setContent(newValue?._fieldContent, forKey: key) }
    }
}

/// Adapts a value from one protocol to the other.
struct KeptValue: __CKRecordObjCValue {
    let _fieldContent: _FieldContent

    init(_ content: _FieldContent) { _fieldContent = content }
}

/// Iterates over the keys and values of a record as they were when the iterator was created.
public struct CKRecordKeyValueIterator: IteratorProtocol {
    private var fields: ArraySlice<(CKRecord.FieldKey, FieldContent)>

    init(_ fields: [(CKRecord.FieldKey, FieldContent)]) { self.fields = fields[...] }

    /// Returns the next key and its value; nil at the end.
    public mutating func next() -> (CKRecord.FieldKey, any CKRecordValueProtocol)? {
        while let (key, content) = fields.popFirst() {
            if let value = content.object { return (key, value) }
        }
        return nil
    }
}
