import StrataModel
import StrataViews

/// What a request is about, found in the state: its database and its zones.
public struct RequestScene {
    let scope: InternedName.Scope
    /// Name of the database's owner; empty for the public one.
    let owner: String
    /// Ordinals; 0 if the state has none.
    let ownerOrdinal: UInt64
    let database: UInt64
    /// Whether the request names the database of somebody else, of whose zones none is the client's.
    let isElsewhere: Bool
    private(set) var zones: [ZoneState] = []
    /// By the request's own ordinal − 1: the place in `zones`, where each zone is once however it is written.
    private(set) var places: [Int] = []

    init(_ request: Request, _ actor: ActorState, _ view: RulesView) throws {
        scope = request.database.scope
        let isService = actor.actor == .service
        func means(_ name: String) -> Bool {
            ZoneLookup.isOwner(
                name, recordName: isService ? view.recordName(of: request.database.owner) : actor.recordName)
        }
        let named = request.database.owner
        isElsewhere =
            scope != .public && !isService && !means(named) && !isSameText(named, actor.actor.user)
        owner = scope == .public ? "" : isService ? request.database.owner : actor.actor.user
        ownerOrdinal =
            owner.isEmpty ? 0 : isService ? try view.ordinal(of: .user(owner)) ?? 0 : actor.user
        let isKnown = scope == .public || ownerOrdinal != 0
        database = isKnown ? try view.ordinal(of: .database(scope, owner: ownerOrdinal)) ?? 0 : 0
        // The same zone may be written in several ways.
        var canonical = RequestNames()
        for id in request.names.zones {
            let isOwn = !isElsewhere && means(id.owner)
            let place = Int(canonical.ordinal(of: ZoneID(id.name, owner: isOwn ? "" : id.owner))) - 1
            if place == zones.count { zones.append(try state(of: id, isOwn, view)) }
            places.append(place)
        }
    }

    private func state(of id: ZoneID, _ isOwn: Bool, _ view: RulesView) throws -> ZoneState {
        let (ordinal, refusal) = try ZoneLookup(scope: scope, database: database, owner: ownerOrdinal).zone(
            id, isOwn: isOwn, ordinal: { try view.ordinal(of: $0) },
            status: { try view.zone($0, in: database)?.status })
        let row = ordinal == 0 ? nil : try view.zone(ordinal, in: database)
        return ZoneState(name: id.name, owner: id.owner, isOwn: isOwn, ordinal: ordinal, row: row, answer: refusal)
    }

    /// - Throws: ``Refusal`` for an ordinal that the request has no name for.
    func place(_ ordinal: UInt64) throws -> Int {
        guard ordinal > 0, ordinal <= UInt64(places.count) else {
            throw Refusal(.invalidArguments, "The request names a zone that it has no name for.", rule: .requestNames)
        }
        return places[Int(ordinal) - 1]
    }
}

/// A zone that a request names, as it is before the request.
struct ZoneState {
    let name: String
    let owner: String
    /// Whether it is a zone of the database's owner.
    let isOwn: Bool
    /// 0 if it has none yet.
    var ordinal: UInt64 = 0
    /// Without its totals and its last change.
    var row: ZoneRow?
    /// What a client is told if it is not there; nil if it is.
    var answer: Refusal?

    var isDefault: Bool { isSameText(name, ZoneID.defaultName) }
    var isAlive: Bool { answer == nil }
}
