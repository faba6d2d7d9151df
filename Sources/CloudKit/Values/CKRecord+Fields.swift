import Foundation

extension CKRecord {
    /// The value of a key, new for each call; nil if it has none.
    public func object(forKey key: FieldKey) -> (any __CKRecordObjCValue)? {
        if let value = systemValue(forKey: key) { return value }
        return state.withLock { $0.content(of: key, isEncrypted: false) }?.object
    }

    /// Keeps a copy of a value; nil removes it.
    public func setObject(_ object: (any __CKRecordObjCValue)?, forKey key: FieldKey) {
        _setContent(object?._fieldContent, forKey: key)
    }

    /// The value of a key, as ``object(forKey:)``.
    public func value(forKey key: String) -> Any? { object(forKey: key) }

    /// Keeps a copy of a value; nil removes it. A value that a record cannot hold makes its save fail with
    /// `invalidArguments` (B270).
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
            state.withLock { $0.set(content?.content, forKey: key, isEncrypted: false) }
        }
    }

    /// The value of a key, new for each call; nil removes it.
    @_disfavoredOverload
    public subscript(key: FieldKey) -> (any __CKRecordObjCValue)? {
        get { object(forKey: key) }
        set { setObject(newValue, forKey: key) }
    }

    /// The keys that have values, in order, those of ``encryptedValues`` included (B12).
    ///
    /// The subscript of the record gives nil for a key of an encrypted value.
    public func allKeys() -> [FieldKey] { state.withLock { $0.allKeys() } }

    /// The keys that were set or removed since the record was fetched, in order, those of ``encryptedValues``
    /// included (B13).
    public func changedKeys() -> [FieldKey] { state.withLock { $0.changedKeys() } }

    /// The words of all fields that are strings (B19).
    public func allTokens() -> [String] {
        state.withLock { $0.all(isEncrypted: false) }.flatMap { _, content -> [String] in
            guard case .plain(.string(let text)) = content else { return [] }
            return text.split(whereSeparator: \.isWhitespace).map { String($0) }
        }
    }

    /// Goes through the keys with their values, in order.
    public func makeIterator() -> CKRecordKeyValueIterator {
        CKRecordKeyValueIterator(state.withLock { $0.all(isEncrypted: false) })
    }

    /// Values that are encrypted where they are stored: every type but assets and references (B21).
    ///
    /// ```swift
    /// note.encryptedValues["pin"] = "1234"
    /// let saved = try await database.save(note)
    /// let pin: String? = saved.encryptedValues["pin"]
    /// ```
    ///
    /// A key is encrypted or not, for good; it cannot be queried or sorted by (B22), nor saved in the public database.
    /// A record with a value that does not open, because the store's keys were lost or reset, cannot be fetched with
    /// that key: `internalError`.
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
            // Kept under the key, so that the save can say what is wrong.
            state.withLock { $0.set(content, forKey: SystemFieldKey.parent, isEncrypted: false) }
        } else {
            parent = nil
        }
    }
}
