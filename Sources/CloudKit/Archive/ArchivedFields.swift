import Foundation
import StrataModel

/// The fields of a record and their edits, in the bytes of an archive.
///
/// They are encoded as a request that is never made: its coding includes the names of zones and keys, supports every
/// kind of value, and never traps on damage.
struct ArchivedFields {
    var original: [String: FieldContent] = [:]
    /// The edits by key; nil for a removed field.
    var edits: [String: FieldContent?] = [:]
    var encryptedKeys: Set<String> = []
    var isPartial = false
    var changesParent = false

    /// The parts of the fields, each encoded as one save of the request.
    private enum Part: Int, CaseIterable {
        case original, edits
        /// The paths of the caller's files, which are not stored yet.
        case files, fileLists
        case mistakes, encryptedKeys

        case partial, changedParent
    }

    init(_ fields: RecordFields) {
        for isEncrypted in [false, true] {
            let part = fields.originals(isEncrypted: isEncrypted)
            original.merge(part) { first, _ in first }
            if isEncrypted { encryptedKeys.formUnion(part.keys) }
        }
        for (key, edit) in fields.edits {
            // A file that is not stored can only be archived as an edit.
            if fields.edits.isSaved(edit), edit.content?.isOfAssets != true {
                original[key] = edit.content
            } else {
                edits.updateValue(edit.content, forKey: key)
            }
            if edit.isEncrypted { encryptedKeys.insert(key) } else { encryptedKeys.remove(key) }
        }
        isPartial = fields.isPartial
        changesParent = fields.changesParent
    }

    /// Creates fields with a mistake, for fields that cannot be archived (B270).
    init(mistake reason: String) {
        edits = ["": .mistake(reason)]
        isPartial = true
    }

    // MARK: Writing

    func encoded() throws -> [UInt8] {
        var names = RequestNames()
        let record = RecordKey(zone: names.ordinal(of: ZoneID("")), name: "")
        let type = names.ordinal(ofType: "")
        var saves = Part.allCases.map { _ in ModifyRecordsRequest.Save(record, type: type) }
        func add(_ key: String, _ value: FieldValue?, to part: Part) {
            saves[part.rawValue].fields.append(FieldChange(names.ordinal(ofKey: key), value))
        }
        for (key, content) in original {
            if let value = try content.value(&names) { add(key, value, to: .original) }
        }
        for (key, content) in edits {
            switch content {
            case nil: add(key, nil, to: .edits)
            case .asset(let asset)? where asset.storedValue == nil:
                if let path = asset.fileURL?.path { add(key, .string(path), to: .files) }
            case .assets(let assets)? where assets.contains { $0.storedValue == nil }:
                let paths = assets.compactMap { $0.fileURL.map { FieldValue.string($0.path) } }
                add(key, .list(try FieldList(paths)), to: .fileLists)
            case .mistake(let reason)?: add(key, .string(reason), to: .mistakes)
            case let content?: add(key, try content.value(&names), to: .edits)
            }
        }
        for key in encryptedKeys { add(key, nil, to: .encryptedKeys) }
        if isPartial { add("partial", nil, to: .partial) }
        if changesParent { add("parent", nil, to: .changedParent) }
        for part in saves.indices { saves[part].fields.sort { $0.field < $1.field } }
        return try Request(database: DatabaseID(.private), names: names, .modifyRecords(.init(saves: saves))).encoded()
    }

    // MARK: Reading

    init(decoding bytes: [UInt8]) throws {
        let request = try Request(decoding: bytes[...])
        guard case .modifyRecords(let body) = request.content, body.saves.count == Part.allCases.count else {
            throw StrataError(.malformed, "The archive does not contain the fields of a record.")
        }
        let zone = { (ordinal: UInt64) in request.names.zone(ordinal).map { CKRecordZoneID($0) } ?? .default }
        for part in Part.allCases {
            for change in body.saves[part.rawValue].fields {
                guard let key = request.names.key(change.field) else {
                    throw StrataError(.malformed, "A field of an archive has no name.")
                }
                read(key, change.value, of: part, zone: zone)
            }
        }
    }

    private mutating func read(
        _ key: String, _ value: FieldValue?, of part: Part, zone: (UInt64) -> CKRecordZoneID
    ) {
        switch (part, value) {
        case (.original, let value?): original[key] = FieldContent(value, zone: zone)
        case (.edits, let value): edits.updateValue(value.map { FieldContent($0, zone: zone) }, forKey: key)
        case (.files, .string(let path)?): edits[key] = .asset(CKAsset(fileURL: URL(fileURLWithPath: path)))
        case (.fileLists, .list(let paths)?):
            edits[key] = .assets(
                paths.elements.compactMap { path in
                    if case .string(let path) = path { CKAsset(fileURL: URL(fileURLWithPath: path)) } else { nil }
                })
        case (.mistakes, .string(let reason)?): edits[key] = .mistake(reason)
        case (.encryptedKeys, _): encryptedKeys.insert(key)
        case (.partial, _): isPartial = true
        case (.changedParent, _): changesParent = true
        default: break
        }
    }
}

extension FieldContent {
    /// Returns the content as a stored value with the given names; nil for content that has none.
    fileprivate func value(_ names: inout RequestNames) throws -> FieldValue? {
        switch self {
        case .plain(let value): value
        case .reference(let reference): reference.value(names: &names, me: "")
        case .references(let references):
            .list(try FieldList(references.map { $0.value(names: &names, me: "") }))
        case .asset(let asset): asset.storedValue.map { .asset($0) }
        case .assets(let assets): .list(try FieldList(assets.compactMap { $0.storedValue.map { .asset($0) } }))
        case .mistake: nil
        }
    }
}
