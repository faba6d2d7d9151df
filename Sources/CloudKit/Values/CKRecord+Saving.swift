import Foundation
import StrataModel

extension CKRecord {
    /// Returns the part of a save request for this record.
    ///
    /// - Parameters:
    ///   - fields: The fields of this record at the time it was passed.
    ///   - names: The names of the request; this adds the record's names.
    ///   - call: Identifies the saving user, whom an owner name may denote, and seals encrypted values.
    /// - Throws: ``CKError`` `invalidArguments` if something cannot be saved, naming the record and the key.
    func save(
        _ fields: RecordFields, names: inout RequestNames, policy: SavePolicy, _ call: DatabaseCall
    ) throws -> ModifyRecordsRequest.Save {
        let me = call.client.userRecordName
        let id = recordID.model(for: me)
        var save = ModifyRecordsRequest.Save(
            RecordKey(zone: names.ordinal(of: id.zone), name: id.name), type: names.ordinal(ofType: recordType),
            base: fields.changeTag.map { Version(tag: $0) })
        let sendsParent = fields.changesParent || policy == .allKeys
        if sendsParent, case .removed? = fields.parent { save.parent = .removed }
        if sendsParent, let parent = parent(of: fields) {
            guard parent.action == .none else { throw mistake("The action of the parent reference must be none.") }
            let target = parent.recordID.model(for: me)
            save.parent = .set(RecordKey(zone: names.ordinal(of: target.zone), name: target.name))
        }
        if let share = fields.newShare?.recordID.model(for: me) {
            save.share = .set(RecordKey(zone: names.ordinal(of: share.zone), name: share.name))
        }
        save.fields.reserveCapacity(fields.edits.underestimatedCount)
        var isSorted = true
        func add(_ key: String, _ content: FieldContent?, isEncrypted: Bool) throws {
            var value = try content.map { try self.value($0, key: key, names: &names, me: me) }
            if isEncrypted { value = try value.map { try call.sealed($0, for: key, of: recordID) } }
            let change = FieldChange(names.ordinal(ofKey: key), value)
            if let last = save.fields.last, last.field > change.field { isSorted = false }
            save.fields.append(change)
        }
        // A key that was removed before the last save is none of the record's.
        for (key, edit) in fields.edits where edit.content != nil || !fields.edits.isSaved(edit) {
            try add(key, edit.content, isEncrypted: edit.isEncrypted)
        }
        if policy == .allKeys {
            for isEncrypted in [false, true] {
                let rest = fields.originals(isEncrypted: isEncrypted).filter { fields.edits[$0.key] == nil }
                for (key, content) in rest.sorted(by: { $0.key < $1.key }) {
                    try add(key, content, isEncrypted: isEncrypted)
                }
            }
        }
        if !isSorted { save.fields.sort { $0.field < $1.field } }
        return save
    }

    private func value(
        _ content: FieldContent, key: String, names: inout RequestNames, me: String
    ) throws -> FieldValue {
        switch content {
        case .plain(let value): return value
        case .reference(let reference): return reference.value(names: &names, me: me)
        case .references(let references):
            return .list(try FieldList(references.map { $0.value(names: &names, me: me) }))
        case .asset(let asset): return .asset(try stored(asset, key: key))
        case .assets(let assets): return .list(try FieldList(assets.map { .asset(try stored($0, key: key)) }))
        case .mistake(let reason): throw mistake(reason, key: key)
        }
    }

    private func stored(_ asset: CKAsset, key: String) throws -> FieldValue.Asset {
        guard let value = asset.storedValue else {
            throw CKError(.internalError, message: "The asset of key \"\(key)\" was not imported.")
        }
        return value
    }

    private func mistake(_ reason: String, key: String? = nil) -> CKError {
        let place = key.map { "Key \"\($0)\" of record" } ?? "Record"
        return CKError(.invalidArguments, message: "\(place) \(recordID.recordName) (\(recordType)): \(reason)")
    }
}

extension CKReference {
    func value(names: inout RequestNames, me: String) -> FieldValue {
        let target = recordID.model(for: me)
        return .reference(
            .init(
                RecordKey(zone: names.ordinal(of: target.zone), name: target.name),
                action: action == .deleteSelf ? .deleteSelf : .none))
    }
}

extension Version {
    /// Creates the version that a change tag names. A foreign tag gives a version that no record has.
    init(tag: String) {
        let none = Version(offset: Self.maximumOffset, eventIndex: 0)
        guard let packed = UInt64(tag, radix: 36), packed > 0, packed <= UInt64.max >> 1 else {
            self = none
            return
        }
        self = Version(packed: packed)
    }
}
