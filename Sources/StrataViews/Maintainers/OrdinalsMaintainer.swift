import StrataModel
import StrataTree

extension ViewTree {
    package static let ordinals = TreeID(rawValue: 11)
}

/// The ordinals of names: namespace, name → ordinal. ``NamesMaintainer`` writes them.
enum OrdinalsMaintainer: ViewMaintainer {
    static let tree = ViewTree.ordinals
    static let name = "ordinals"

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        var reader = KeyReader(key)
        let noun = EntryWords.noun(try reader.readByte())
        return "ordinal of a \(noun) whose key ends in \(words.text(key.suffix(40)))"
    }

    /// Returns nil, because the trees do not record which commit interned a name.
    static func origin(of entry: ViewEntry, in trees: Snapshot) throws -> UInt64? { nil }

    static func name(at entry: ViewEntry) throws -> UsedNames.Key? {
        var reader = KeyReader(entry.key)
        var row = ByteReader(entry.row)
        let ordinal = try row.readVarint("an ordinal")
        return Namespace(rawValue: try reader.readByte()).map { UsedNames.Key($0, ordinal) }
    }
}

extension ViewKeys {
    static func ordinal(of name: InternedName.Name) -> [UInt8] {
        var key = KeyWriter()
        key.append(byte: name.namespace.rawValue)
        switch name {
        case .user(let text), .recordType(let text), .field(let text): key.append(lastName: text)
        case .device(let user, let text):
            key.append(number: user)
            key.append(lastName: text)
        case .database(let scope, let owner):
            key.append(byte: scope.rawValue)
            key.append(number: owner)
        case .zone(let database, let owner, let text):
            key.append(number: database)
            key.append(number: owner)
            key.append(lastName: text)
        }
        return key.bytes
    }
}
