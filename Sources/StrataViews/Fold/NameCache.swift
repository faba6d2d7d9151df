import StrataModel
import StrataTree

/// Caches the hashes of names and the databases of zones, each read from the tree of names once.
///
/// A cache belongs to one line of forks: an ordinal that a dropped fork interned may later get another name.
struct NameCache {
    /// The hashes by namespace and ordinal; 0 if not known yet.
    private var hashes: [[UInt128]] = Array(repeating: [], count: Namespace.count)
    private var databases: [UInt64: UInt64] = [:]
    /// The UTF-8 lengths of the names of fields, by ordinal; 0 if not known yet.
    private var fieldBytes: [Int] = []
    /// Names with this ordinal or a higher one are looked up each time.
    private static let cachedOrdinals: UInt64 = 1 << 20

    /// Returns the hash of a name; 0 for ordinal 0, which means no name.
    mutating func hash(_ namespace: Namespace, _ ordinal: UInt64, in fork: Fork) throws -> UInt128 {
        if ordinal == 0 { return 0 }
        // The array is never copied into a variable, because adding to it would then copy all of it.
        if ordinal < UInt64(hashes[namespace.index].count) {
            let known = hashes[namespace.index][Int(ordinal)]
            if known != 0 { return known }
        }
        return try add(try Self.name(namespace, ordinal, in: fork), ordinal, in: fork)
    }

    /// Returns the number of UTF-8 bytes in the name of a field.
    mutating func keyBytes(_ field: UInt32, in fork: Fork) throws -> Int {
        let place = Int(field)
        if place < fieldBytes.count, fieldBytes[place] != 0 { return fieldBytes[place] }
        guard case .field(let text) = try Self.name(.field, UInt64(field), in: fork) else { return 0 }
        if UInt64(field) < Self.cachedOrdinals {
            let missing = place + 1 - fieldBytes.count
            if missing > 0 { fieldBytes += repeatElement(0, count: missing) }
            fieldBytes[place] = text.utf8.count
        }
        return text.utf8.count
    }

    private mutating func keep(_ hash: UInt128, _ namespace: Namespace, _ ordinal: UInt64) {
        guard ordinal < Self.cachedOrdinals else { return }
        let missing = Int(ordinal) + 1 - hashes[namespace.index].count
        if missing > 0 { hashes[namespace.index] += repeatElement(0, count: missing) }
        hashes[namespace.index][Int(ordinal)] = hash
    }

    mutating func database(ofZone zone: UInt64, in fork: Fork) throws -> UInt64 {
        if let known = databases[zone] { return known }
        _ = try add(try Self.name(.zone, zone, in: fork), zone, in: fork)
        return databases[zone] ?? 0
    }

    private mutating func add(_ name: InternedName.Name, _ ordinal: UInt64, in fork: Fork) throws -> UInt128 {
        let namespace = name.namespace
        let hash: UInt128
        switch name {
        case .user(let text), .recordType(let text), .field(let text):
            hash = DigestHash.hash(UInt128(namespace.rawValue), text: text)
        case .device(let user, let text):
            hash = DigestHash.hash(try self.hash(.user, user, in: fork), text: text)
        case .database(let scope, let owner):
            let owner = try self.hash(.user, owner, in: fork)
            hash = DigestHash.hash(UInt128(namespace.rawValue), words: [UInt64(scope.rawValue), owner.low, owner.high])
        case .zone(let database, let owner, let text):
            databases[ordinal] = database
            let database = try self.hash(.database, database, in: fork)
            let owner = try self.hash(.user, owner, in: fork)
            let seed = DigestHash.hash(
                UInt128(namespace.rawValue), words: [database.low, database.high, owner.low, owner.high])
            hash = DigestHash.hash(seed, text: text)
        }
        keep(hash, namespace, ordinal)
        return hash
    }

    private static func name(_ namespace: Namespace, _ ordinal: UInt64, in fork: Fork) throws -> InternedName.Name {
        guard let name = try fork.name(namespace, ordinal) else { throw StrataError.unnamed(namespace, ordinal) }
        return name
    }
}
