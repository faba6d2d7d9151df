import StrataModel
import StrataTree

extension ViewTree {
    package static let names = TreeID(rawValue: 10)
}

/// The names of ordinals: namespace, ordinal → name.
enum NamesMaintainer: ViewMaintainer {
    static let tree = ViewTree.names
    static let name = "names"
    static let kinds: [EventKind] = [.nameInterned]
    static let isStated = true

    static func apply(_ kind: EventKind, _ body: UnsafeRawBufferPointer, at place: EventPlace, to fold: Fold) throws {
        let fork = fold.fork
        let interned = try InternedName(decoding: ArraySlice(body))
        let namespace = interned.name.namespace
        if let known = try fork.name(namespace, interned.ordinal) {
            guard known == interned.name else { throw doubleName(expected: "\(known)", found: "\(interned.name)") }
            return
        }
        guard !fold.used.has(interned) else {
            throw StrataError(
                .malformed, "A name comes after an event that uses its ordinal.",
                .init(found: "\(namespace.noun) ordinal \(interned.ordinal)"))
        }
        guard try interned.ordinal == 1 || fork.name(namespace, interned.ordinal - 1) != nil else {
            throw StrataError(
                .malformed, "A name skips an ordinal.",
                .init(expected: "a name for \(interned.ordinal - 1)", found: "ordinal \(interned.ordinal)"))
        }
        if let other = try fork.ordinal(of: interned.name) {
            throw doubleName(expected: "ordinal \(other)", found: "\(interned.name) as \(interned.ordinal)")
        }
        try ViewKeys.name(namespace, interned.ordinal).withUnsafeBytes { try fork.put(ViewTree.names, $0, body) }
        var ordinal = ByteWriter(reserving: 10)
        ordinal.appendVarint(interned.ordinal)
        try fork.put(ViewTree.ordinals, key: ViewKeys.ordinal(of: interned.name), row: ordinal.bytes)
        guard case .user(let text) = interned.name else { return }
        try RecordNamesMaintainer.addEarlierName(ofUser: interned.ordinal, text, to: fork)
    }

    private static func doubleName(expected: String, found: String) -> StrataError {
        StrataError(.malformed, "A name is interned twice.", .init(expected: expected, found: found))
    }

    static func state(_ entry: ViewEntry, in commit: inout CommitBuilder) throws {
        try commit.append(Event(.nameInterned, body: ArraySlice(entry.row)))
    }

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        var reader = KeyReader(key)
        let namespace = try reader.readByte()
        return "name of \(EntryWords.noun(namespace)) \(try reader.readNumber())"
    }

    /// Returns nil, because the trees do not record which commit interned a name.
    static func origin(of entry: ViewEntry, in trees: Snapshot) throws -> UInt64? { nil }

    static func name(at entry: ViewEntry) throws -> UsedNames.Key? {
        var reader = KeyReader(entry.key)
        let namespace = Namespace(rawValue: try reader.readByte())
        let ordinal = try reader.readNumber()
        return namespace.map { UsedNames.Key($0, ordinal) }
    }
}

extension ViewKeys {
    static func name(_ namespace: Namespace, _ ordinal: UInt64) -> [UInt8] {
        var key = KeyWriter()
        key.append(byte: namespace.rawValue)
        key.append(number: ordinal)
        return key.bytes
    }
}
