import StrataModel
import StrataTree
import StrataViews

/// A zone of a state as an actor reads it: what reading any of its records requires, looked up once.
final class ZoneReader: Sendable {
    private let database: DatabaseID
    let actor: Actor
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
        try KeyWriter.withPackedName(name) { name in
            let (start, count) = (keyStart.count, keyStart.count + name.count)
            return try withUnsafeTemporaryAllocation(byteCount: count, alignment: 1) { key in
                keyStart.withUnsafeBytes { key.copyMemory(from: $0) }
                UnsafeMutableRawBufferPointer(rebasing: key[start...]).copyMemory(from: name)
                return try body(UnsafeRawBufferPointer(key))
            }
        }
    }

    /// Appends the same key to `keys`.
    func appendKey(of name: String, to keys: inout KeyList) {
        KeyWriter.withPackedName(name) { name in
            keys.append {
                $0 += keyStart
                $0 += name
            }
        }
    }
}
