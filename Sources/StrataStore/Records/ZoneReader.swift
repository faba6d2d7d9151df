import StrataModel
import StrataTree
import StrataViews
import Synchronization

/// A zone of a state as an actor reads it: what reading any of its records requires, looked up once.
final class ZoneReader: Sendable {
    private let database: DatabaseID
    private let actor: Actor
    let zone: ZoneID
    /// The beginning of the keys of the zone's records. If the zone has none, no key begins with it.
    private let keyStart: [UInt8]
    /// The reason why the actor cannot read the zone.
    let refusal: Refusal?
    let access: RecordAccess
    /// The access if it must be asked about each record; nil if the actor may read all of them.
    let limitedAccess: RecordAccess?
    /// The origin of records with all their keys.
    let origin: RecordOrigin

    init(
        _ id: ZoneID, in database: DatabaseID, as actor: Actor, _ place: ResolvedDatabase, _ trees: Snapshot,
        _ context: SnapshotContext
    ) throws {
        self.database = database
        self.actor = actor
        zone = id
        var access = RecordAccess(place.database.scope, .actor(actor), context, trees)
        let (ordinal, refusal) = try access.zone(id, in: place, trees, context.names)
        keyStart = refusal == nil ? ordinal.map { Self.keyStart(of: $0) } ?? [0] : [0]
        self.refusal = refusal
        self.access = access
        limitedAccess = access.isLimited ? access : nil
        origin = try RecordOrigin(place.database, id, trees, context, desiredKeys: nil)
    }

    private static func keyStart(of zone: UInt64) -> [UInt8] {
        var key = KeyWriter()
        key.append(number: zone)
        return key.bytes
    }

    /// Returns true if the reader is of that zone, for that actor, and knows every name that its state's readers do.
    func serves(_ id: ZoneID, in database: DatabaseID, as actor: Actor, _ trees: Snapshot) -> Bool {
        zone == id && self.database == database && self.actor == actor && origin.snapshot === trees
            && origin.context.names.isUpToDate(origin.known)
    }

    /// Calls `body` with the key of a record in ``ViewTree/records``: if the zone has no records, that of a record that
    /// no zone has.
    func withKey<Result>(of name: String, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        guard name.utf8.count <= RecordState.longestKeyName else {
            var keys = KeyList()
            appendKey(of: name, to: &keys)
            return try keys.withKey(0, body)
        }
        let (start, count) = (keyStart.count, keyStart.count + name.utf8.count)
        return try withUnsafeTemporaryAllocation(byteCount: count, alignment: 1) { key in
            keyStart.withUnsafeBytes { key.copyMemory(from: $0) }
            var name = name
            name.withUTF8 { UnsafeMutableRawBufferPointer(rebasing: key[start...]).copyMemory(from: .init($0)) }
            return try body(UnsafeRawBufferPointer(key))
        }
    }

    /// Appends the same key to `keys`.
    func appendKey(of name: String, to keys: inout KeyList) {
        let start = keyStart
        if name.utf8.count <= RecordState.longestKeyName {
            keys.append {
                $0 += start
                $0 += name.utf8
            }
        } else {
            var key = KeyWriter()
            key.append(lastName: name)
            keys.append {
                $0 += start
                $0 += key.bytes
            }
        }
    }
}

/// The zones that readers of a state have looked up: the first few, so that a record of one of them costs no locks and
/// no search but its own.
final class ZoneReaders: Sendable {
    private let first = ReaderPlace()
    private let second = ReaderPlace()
    private let third = ReaderPlace()

    /// Returns the reader of a zone if it is known.
    func reader(of id: ZoneID, in database: DatabaseID, as actor: Actor, _ trees: Snapshot) -> ZoneReader? {
        if let known = first.load(), known.serves(id, in: database, as: actor, trees) { return known }
        if let known = second.load(), known.serves(id, in: database, as: actor, trees) { return known }
        if let known = third.load(), known.serves(id, in: database, as: actor, trees) { return known }
        return nil
    }

    /// Keeps a reader if there is room.
    func add(_ made: ZoneReader) {
        if first.storeIfNil(made) !== made, second.storeIfNil(made) !== made { _ = third.storeIfNil(made) }
    }
}

/// A place for a zone reader, which is set once.
// Not an `AtomicLazyReference`, which asks for the metadata of its type with each load: a tenth of a fetch.
private struct ReaderPlace: ~Copyable, Sendable {
    /// The address of the reader, which the place retains; 0 if there is none.
    private let address = Atomic<UInt>(0)

    deinit { Self.reference(address.load(ordering: .acquiring))?.release() }

    // The address is that of a retained reader, since nothing else is stored.
    private static func reference(_ address: UInt) -> Unmanaged<ZoneReader>? {
        UnsafeRawPointer(bitPattern: address).map { Unmanaged.fromOpaque($0) }
    }

    func load() -> ZoneReader? { Self.reference(address.load(ordering: .acquiring))?.takeUnretainedValue() }

    /// Returns the reader that the place has afterward: the given one if it had none.
    func storeIfNil(_ reader: ZoneReader) -> ZoneReader {
        let retained = Unmanaged.passRetained(reader)
        let (isStored, original) = address.compareExchange(
            expected: 0, desired: UInt(bitPattern: retained.toOpaque()), ordering: .acquiringAndReleasing)
        if isStored { return reader }
        retained.release()
        return Self.reference(original)?.takeUnretainedValue() ?? reader
    }
}
