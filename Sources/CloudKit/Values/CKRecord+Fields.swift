import Foundation

extension CKRecord {
    /// Returns the value of a key, as a new object for each call; nil if the key has no value.
    public func object(forKey key: FieldKey) -> (any __CKRecordObjCValue)? {
        if let value = systemValue(forKey: key) { return value }
        return withFields { $0.content(of: key, isEncrypted: false) }?.object
    }

    /// Stores a copy of a value under a key; nil removes the value.
    public func setObject(_ object: (any __CKRecordObjCValue)?, forKey key: FieldKey) {
        _setContent(object?._fieldContent, forKey: key)
    }

    /// Returns the value of a key, as ``object(forKey:)`` does.
    public func value(forKey key: String) -> Any? { object(forKey: key) }

    /// Stores a copy of a value under a key; nil removes the value. If a record cannot hold the value, saving the
    /// record fails with `invalidArguments` (B270).
    ///
    /// ```swift
    /// note.setValue("Groceries", forKey: "title")
    /// let title = note.value(forKey: "title") as? String
    /// ```
    public func setValue(_ value: Any?, forKey key: String) {
        _setContent(value.flatMap { _FieldContent(any: $0) }, forKey: key)
    }

    public func _setContent(_ content: _FieldContent?, forKey key: FieldKey) {
        if key == SystemFieldKey.parent {
            setParentValue(content?.content)
        } else {
            withFields { $0.set(content?.content, forKey: key, isEncrypted: false) }
        }
    }

    /// The value of a key, a new object for each read; setting nil removes it.
    @_disfavoredOverload
    public subscript(key: FieldKey) -> (any __CKRecordObjCValue)? {
        get { object(forKey: key) }
        set { setObject(newValue, forKey: key) }
    }

    /// Returns the keys that have values, sorted, including those of ``encryptedValues`` (B12).
    ///
    /// The record's subscript returns nil for the key of an encrypted value.
    public func allKeys() -> [FieldKey] { withFields { $0.allKeys() } }

    /// Returns the keys that were set or removed since the record was fetched or saved, sorted, including those of
    /// ``encryptedValues`` (B13).
    public func changedKeys() -> [FieldKey] { withFields { $0.changedKeys() } }

    /// Returns the words of all string fields (B19).
    public func allTokens() -> [String] {
        withFields { $0.all(isEncrypted: false) }.flatMap { _, content -> [String] in
            guard case .plain(.string(let text)) = content else { return [] }
            return text.split(whereSeparator: \.isWhitespace).map { String($0) }
        }
    }

    /// Returns an iterator over the keys and their values, in key order.
    public func makeIterator() -> CKRecordKeyValueIterator {
        CKRecordKeyValueIterator(withFields { $0.all(isEncrypted: false) })
    }

    /// The values that the store encrypts: every type except assets and references (B21).
    ///
    /// ```swift
    /// note.encryptedValues["pin"] = "1234"
    /// let saved = try await database.save(note)
    /// let pin: String? = saved.encryptedValues["pin"]
    /// ```
    ///
    /// A key stays encrypted or unencrypted for good. An encrypted key cannot be queried or sorted by (B22), nor saved
    /// in the public database. If a value cannot be decrypted because the store's keys were lost or reset, fetching the
    /// record with that key fails with `internalError`.
    public var encryptedValues: any CKRecordKeyValueSetting & Sendable { EncryptedValues(self) }

    private func systemValue(forKey key: FieldKey) -> (any RecordValue)? {
        guard key.hasPrefix("___") else { return nil }
        return switch key {
        case SystemFieldKey.recordID: Reference(recordID: recordID, action: .none)
        case SystemFieldKey.creationDate: creationDate
        case SystemFieldKey.modificationDate: modificationDate
        case SystemFieldKey.creatorUserRecordID:
            creatorUserRecordID.map { Reference(recordID: $0, action: .none) }
        case SystemFieldKey.lastModifiedUserRecordID:
            lastModifiedUserRecordID.map { Reference(recordID: $0, action: .none) }
        case SystemFieldKey.parent: parent
        case SystemFieldKey.share: share
        default: nil
        }
    }

    private func setParentValue(_ content: FieldContent?) {
        if case .reference(let reference)? = content {
            parent = reference
        } else if let content {
            // Kept under the key so that the save can report the error.
            withFields { $0.set(content, forKey: SystemFieldKey.parent, isEncrypted: false) }
        } else {
            parent = nil
        }
    }
}
