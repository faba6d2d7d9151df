import StrataModel
import StrataTree
import StrataViews
import Synchronization

/// A zone of a state as an actor reads it: what reading any of its records requires, looked up once.
final class ZoneReader: Sendable {
    private let database: DatabaseID
    private let actor: Actor
    private let zone: ZoneID
    /// The beginning of the keys of the zone's records; nil if it has none.
    private let keyStart: [UInt8]?
    /// The reason why the actor cannot read the zone.
    let refusal: Refusal?
    let access: RecordAccess
    /// The origin of records with all their keys.
    let origin: RecordOrigin

    init(
        _ id: ZoneID, in database: DatabaseID, as actor: Actor, _ place: Place, _ trees: Snapshot,
        _ context: SnapshotContext
    ) throws {
        self.database = database
        self.actor = actor
        zone = id
        var access = RecordAccess(place.database.scope, .actor(actor), context, trees)
        let (ordinal, refusal) = try access.zone(id, in: place, trees, context.names)
        keyStart = refusal == nil ? ordinal.map { Self.keyStart(of: $0) } : nil
        self.refusal = refusal
        self.access = access
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

    /// Appends the key of a record in ``ViewTree/records`` to `keys`: of a record that no zone has if the zone has no
    /// records.
    func appendKey(of name: String, to keys: inout KeyList) {
        let start = keyStart ?? [0]
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
    private let first = AtomicLazyReference<ZoneReader>()
    private let second = AtomicLazyReference<ZoneReader>()
    private let third = AtomicLazyReference<ZoneReader>()

    /// Returns the reader of a zone, which `make` makes if it is not known.
    func reader(
        of id: ZoneID, in database: DatabaseID, as actor: Actor, _ trees: Snapshot, _ make: () throws -> ZoneReader
    ) throws -> ZoneReader {
        if let known = first.load(), known.serves(id, in: database, as: actor, trees) { return known }
        if let known = second.load(), known.serves(id, in: database, as: actor, trees) { return known }
        if let known = third.load(), known.serves(id, in: database, as: actor, trees) { return known }
        let made = try make()
        if first.storeIfNil(made) !== made, second.storeIfNil(made) !== made { _ = third.storeIfNil(made) }
        return made
    }
}
