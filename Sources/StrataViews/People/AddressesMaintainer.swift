import StrataModel
import StrataTree

extension ViewTree {
    package static let addresses = TreeID(rawValue: 26)
}

/// The addresses by which users are found: kind, address → user. ``NamesMaintainer`` writes the names of the users' own
/// records, ``UsersMaintainer`` the others.
enum AddressesMaintainer: ViewMaintainer {
    static let tree = ViewTree.addresses
    static let name = "addresses"

    static func add(_ address: UserAddress, of user: UInt64, to fork: Fork) throws {
        if let other = try fork.user(at: address), other != user {
            throw StrataError(
                .brokenSequence, "An address is given to two users.",
                .init(expected: "a new address, or one of user \(other)", found: "user \(user)"))
        }
        var row = ByteWriter(reserving: 10)
        row.appendVarint(user)
        try fork.put(tree, key: ViewKeys.address(address), row: row.bytes)
    }

    static func remove(_ address: UserAddress, from fork: Fork) throws {
        try fork.delete(tree, key: ViewKeys.address(address))
    }

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        var reader = KeyReader(key)
        let kind = UserAddress.Kind(rawValue: try reader.readByte())
        return "\(kind?.noun ?? "address") \(words.text(try reader.readLastText()))"
    }

    /// Returns the offset of the commit that last changed the user; nil for the name of a user's record.
    static func origin(of entry: ViewEntry, in trees: Snapshot) throws -> UInt64? {
        guard entry.key.first != UserAddress.Kind.recordName.rawValue else { return nil }
        var reader = ByteReader(entry.row)
        let user = try reader.readVarint("the user of an address")
        return try trees.version(in: ViewTree.users, key: ViewKeys.numbers(user))?.offset
    }
}

extension ViewKeys {
    static func address(_ address: UserAddress) -> [UInt8] {
        var key = KeyWriter()
        key.append(byte: address.kind.rawValue)
        key.append(lastText: address.text.utf8)
        return key.bytes
    }
}
