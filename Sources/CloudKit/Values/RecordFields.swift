import StrataModel
import StrataStore

/// The original fields of a record, and the caller's changes since.
struct RecordFields: Sendable {
    enum Origin: Sendable {
        case new
        /// Fields are decoded on first access. `me` is the name of the current user.
        case stored(Record, me: String)
        // Indirect, as few records are, and its size would be that of all.
        indirect case archived(ArchivedRecord)
    }

    let origin: Origin
    /// The version that the record itself was last saved as; its fields stay those of `origin` and `edits` (B319).
    private(set) var saved: Origin?
    /// True if the store may have keys that were not fetched.
    var isPartial: Bool
    let zone: CKRecordZoneID
    /// The copies of a fetched record's assets; nil if it has none.
    var assets: FetchedAssets?
    /// The decrypted values of a stored record's encrypted fields.
    var opened: [String: FieldValue] = [:]
    var edits = FieldEdits()
    /// Nil if it is the original one.
    var parent: LinkEdit? {
        didSet { parentNumber = edits.nextNumber() }
    }
    private var parentNumber: UInt64 = 0
    /// The share that was made for this root and is not saved yet.
    var newShare: CKReference?

    enum LinkEdit: Sendable {
        case removed
        case set(CKReference)
    }

    init(_ origin: Origin, in zone: CKRecordZoneID, isPartial: Bool) {
        self.origin = origin
        self.zone = zone
        self.isPartial = isPartial
    }

    /// The version that the record's metadata is of.
    var metadata: Origin { saved ?? origin }

    var changeTag: String? {
        switch metadata {
        case .new: nil
        case .stored(let record, _): record.version.tag
        case .archived(let record): record.changeTag
        }
    }

    /// True if the parent was changed since the last save.
    var changesParent: Bool { parent != nil && !edits.isSaved(parentNumber) }

    // MARK: Saving

    /// Returns the fields as a request with a policy sends them.
    func sent(_ policy: CKModifyRecordsOperation.RecordSavePolicy) -> RecordFields {
        var fields = self
        if policy != .allKeys { fields.edits.removeSaved() }
        return fields
    }

    /// Marks everything that a request sent as saved, unless it was changed after the request started.
    ///
    /// - Parameter version: The record as saved. Of two requests that end in another order than they were applied, the
    ///   later version stays.
    mutating func markSaved(_ sent: RecordFields, as version: Origin) {
        edits.markSaved(sent.edits)
        if case .stored(let record, _) = version, case .stored(let last, _)? = saved, changeTag != sent.changeTag,
            record.version < last.version
        {
            return
        }
        saved = version
        if sent.newShare == newShare { newShare = nil }
    }

    // MARK: Reading

    func content(of key: String, isEncrypted: Bool) -> FieldContent? {
        if let edit = edits[key] { return edit.isEncrypted == isEncrypted ? edit.content : nil }
        return original(key, isEncrypted: isEncrypted)
    }

    private func original(_ key: String, isEncrypted: Bool) -> FieldContent? {
        switch origin {
        case .new: return nil
        case .stored(let record, _):
            if isEncrypted { return opened[key].map { .plain($0) } }
            // A value that cannot be read counts as missing: the subscript cannot report an error.
            guard let value = (try? record[key]) ?? nil, !value.kind.isSealed else { return nil }
            return FieldContent(value, assets) { _ in zone }
        case .archived(let record):
            return record.encryptedKeys.contains(key) == isEncrypted ? record.fields[key] : nil
        }
    }

    /// Returns all fields, sorted by key.
    func all(isEncrypted: Bool) -> [(String, FieldContent)] {
        var fields = originals(isEncrypted: isEncrypted)
        for (key, edit) in edits { fields[key] = edit.isEncrypted == isEncrypted ? edit.content : nil }
        return fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    func originals(isEncrypted: Bool) -> [String: FieldContent] {
        switch origin {
        case .new: return [:]
        case .stored(let record, _):
            if isEncrypted { return opened.mapValues { .plain($0) } }
            var fields: [String: FieldContent] = [:]
            try? record.forEachField { key, value in
                if !value.kind.isSealed { fields[key] = FieldContent(value, assets) { _ in zone } }
            }
            return fields
        case .archived(let record):
            return record.fields.filter { record.encryptedKeys.contains($0.key) == isEncrypted }
        }
    }

    /// Returns the keys of one kind whose values can be saved, sorted.
    func keys(isEncrypted: Bool) -> [String] {
        all(isEncrypted: isEncrypted).compactMap { key, content in
            if case .mistake = content { nil } else { key }
        }
    }

    /// Returns the keys of both kinds, sorted. No key has both kinds: the last value that was set decides.
    func allKeys() -> [String] { (keys(isEncrypted: false) + keys(isEncrypted: true)).sorted() }

    func changedKeys(where isIncluded: (FieldEdits.Edit) -> Bool = { _ in true }) -> [String] {
        edits.filter { !edits.isSaved($0.edit) && isIncluded($0.edit) }.map(\.key).sorted()
    }

    // MARK: Writing

    mutating func set(_ content: FieldContent?, forKey key: String, isEncrypted: Bool) {
        // Removing a value of one kind does not undo an edit of the other kind.
        if content == nil, let edit = edits[key], edit.isEncrypted != isEncrypted { return }
        if content == nil, !mayBeStored(key, isEncrypted: isEncrypted) {
            edits.remove(key)
        } else {
            edits.set(content, forKey: key, isEncrypted: isEncrypted)
        }
    }

    /// Returns true if the store may have a value for the key: removing a value that was never saved is no change,
    /// removing a saved one is (B14).
    private func mayBeStored(_ key: String, isEncrypted: Bool) -> Bool {
        if let isStored = edits[key].flatMap({ edits.isStored($0) }) { return isStored }
        return switch origin {
        case .new: false
        case .stored, .archived:
            original(key, isEncrypted: isEncrypted) != nil
                || isPartial && original(key, isEncrypted: !isEncrypted) == nil
        }
    }
}
