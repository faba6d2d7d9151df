import StrataModel
import StrataSystem

/// The keys of a store's users: the content of its `keys` file (docs/format.md §23).
///
/// A user has one key at a time, besides those that are *retired*: they still open values, and seal none. The numbers
/// of keys count up and are never reused: the number of a destroyed key stays, so that values sealed with it can be
/// distinguished from damaged ones.
struct KeyBook: Sendable, Equatable {
    struct Entry: Sendable, Equatable {
        let id: UInt64
        let user: String
        /// Nil once the key was destroyed.
        var key: [UInt8]?
        var isRetired = false
    }

    private enum Kind: UInt8 {
        case key = 1
        case destroyed = 2
        case retired = 3
    }

    static let magic = [UInt8]("StrataKy".utf8)
    static let version: UInt16 = 1
    /// The maximum size of the file, checked before anything is allocated: about a million keys.
    static let maximumBytes = 64 << 20
    private static let checksumPlace = 12
    private static let preludeBytes = 16

    private(set) var nextID: UInt64 = 1
    /// The entries, in ascending order of their IDs.
    private(set) var entries: [Entry] = []

    /// The keys that may no longer seal values: retired and destroyed ones.
    private(set) var former: Set<UInt64> = []
    /// The index of each entry, by its ID. `currentPlaces` has those of the users' keys in use, by the bytes of the
    /// name.
    private var places: [UInt64: Int] = [:]
    private var currentPlaces: [[UInt8]: Int] = [:]

    func entry(_ id: UInt64) -> Entry? { places[id].map { entries[$0] } }

    /// Returns the key that a user's values are sealed with now.
    func current(of user: String) -> Entry? { currentPlaces[[UInt8](user.utf8)].map { entries[$0] } }

    mutating func add(_ key: [UInt8], of user: String) -> Entry {
        let entry = Entry(id: nextID, user: user, key: key)
        append(entry)
        nextID += 1
        return entry
    }

    private mutating func append(_ entry: Entry) {
        places[entry.id] = entries.count
        if entry.key == nil || entry.isRetired {
            former.insert(entry.id)
        } else {
            currentPlaces[[UInt8](entry.user.utf8)] = entries.count
        }
        entries.append(entry)
    }

    /// Returns the keys of a user that are retired and not destroyed.
    func retired(of user: String) -> [UInt64] {
        entries.filter { $0.isRetired && $0.key != nil && isSameText($0.user, user) }.map(\.id)
    }

    /// Retires a user's key; returns false if there is none.
    mutating func retireKey(of user: String) -> Bool {
        guard let place = currentPlaces.removeValue(forKey: [UInt8](user.utf8)) else { return false }
        entries[place].isRetired = true
        former.insert(entries[place].id)
        return true
    }

    /// Destroys keys; returns false if none of them is left.
    mutating func destroyKeys(_ ids: [UInt64]) -> Bool {
        let places = ids.compactMap { self.places[$0] }.filter { entries[$0].key != nil }
        for place in places {
            let user = [UInt8](entries[place].user.utf8)
            if currentPlaces[user] == place { currentPlaces[user] = nil }
            (entries[place].key, entries[place].isRetired) = (nil, false)
            former.insert(entries[place].id)
        }
        return !places.isEmpty
    }

    // MARK: The file

    func encoded() -> [UInt8] {
        var writer = ByteWriter(reserving: 64 + entries.count * 64)
        writer.append(bytes: Self.magic)
        writer.append(Self.version)
        writer.append(UInt16(0))
        writer.append(UInt32(0))
        writer.appendVarint(nextID)
        writer.appendVarint(UInt64(entries.count))
        for entry in entries {
            writer.appendVarint(entry.id)
            let kind: Kind = entry.key == nil ? .destroyed : entry.isRetired ? .retired : .key
            writer.append(kind.rawValue)
            writer.appendString(entry.user)
            if let key = entry.key { writer.append(bytes: key) }
        }
        writer.overwrite(writer.bytes.withUnsafeBytes { CRC32C.checksum($0) }, at: Self.checksumPlace)
        return writer.bytes
    }

    init() {}

    /// - Throws: ``StrataError``: `wrongMagic`, `badChecksum`, `newerFormat`, `malformed`.
    init(decoding bytes: [UInt8], path: String) throws {
        guard bytes.count >= Self.preludeBytes, bytes.starts(with: Self.magic) else {
            throw StrataError(
                .wrongMagic, "The file's content does not match its name.",
                .init(
                    position: 0, path: path, expected: "\"StrataKy\"",
                    found: "\(bytes.count) bytes that do not begin with it"))
        }
        do {
            try bytes.withUnsafeBytes { bytes in
                try Self.verifyChecksum(bytes)
                try read(bytes)
            }
        } catch let error as StrataError {
            throw error.located(path: path)
        }
    }

    private static func verifyChecksum(_ bytes: UnsafeRawBufferPointer) throws {
        let stored = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: checksumPlace, as: UInt32.self))
        var checksum = CRC32C()
        checksum.update(UnsafeRawBufferPointer(rebasing: bytes[..<checksumPlace]))
        checksum.update(UInt32(0))
        checksum.update(UnsafeRawBufferPointer(rebasing: bytes[preludeBytes...]))
        guard stored == checksum.value else {
            throw StrataError(
                .badChecksum, "The checksum of the key file does not match its content.",
                .init(
                    position: UInt64(checksumPlace), expected: hexadecimal(checksum.value), found: hexadecimal(stored)))
        }
    }

    private mutating func read(_ bytes: UnsafeRawBufferPointer) throws {
        var reader = ByteReader(bytes, at: Self.magic.count)
        let version = try reader.read(UInt16.self, "the version of the keys")
        guard version == Self.version else {
            throw StrataError(
                .newerFormat,
                "The key file has another version of the format; use a release of Strata that supports it.",
                .init(position: 8, expected: "version \(Self.version)", found: "version \(version)"))
        }
        reader = ByteReader(bytes, at: Self.preludeBytes)
        nextID = try reader.readVarint("the next key's id")
        let count = try reader.readVarint("the number of keys", atMost: UInt64(bytes.count))
        for _ in 0..<count {
            let id = try reader.readVarint("a key's id")
            guard id > entries.last?.id ?? 0, id < nextID else {
                throw reader.malformed("a key's id", expected: "ascending, below \(nextID)", found: "\(id)")
            }
            let number = try reader.read(UInt8.self, "the kind of a key")
            guard let kind = Kind(rawValue: number) else {
                throw reader.malformed("the kind of a key", expected: "1, 2 or 3", found: "\(number)")
            }
            let user = try reader.readString("a user's name", atMost: Envelope.maximumNameBytes)
            var entry = Entry(id: id, user: user)
            entry.isRetired = kind == .retired
            if kind != .destroyed {
                let range = try reader.readRange(count: UInt64(AuthenticatedCipher.keyBytes), "a key")
                entry.key = [UInt8](bytes[range])
                guard kind == .retired || current(of: user) == nil else {
                    throw reader.malformed(
                        "keys", expected: "one for each user", found: "a second key of user '\(user)'")
                }
            }
            append(entry)
        }
        try reader.expectEnd("the keys")
    }
}
