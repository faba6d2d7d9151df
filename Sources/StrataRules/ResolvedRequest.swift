import StrataModel
import StrataViews

/// The database and the zones of a request, as found in the state.
package struct ResolvedRequest {
    let scope: InternedName.Scope
    /// The name of the database's owner; empty for the public database.
    let owner: String
    /// The ordinals of the owner and the database; 0 if the state has none.
    let ownerOrdinal: UInt64
    let database: UInt64
    /// True if the request names another user's database, none of whose zones belongs to the client.
    let isElsewhere: Bool
    private(set) var zones: [ZoneState] = []
    /// The index in `zones` for each ordinal of the request, minus 1. Different spellings of a zone have the same
    /// index.
    private var zoneIndices: [Int] = []

    init(_ request: Request, _ actor: ActorState, _ view: RulesView) throws {
        scope = request.database.scope
        let isService = actor.actor == .service
        func means(_ name: String) throws -> Bool {
            try ZoneLookup.isOwner(
                name, recordName: isService ? view.recordName(of: request.database.owner) : actor.recordName)
        }
        let named = request.database.owner
        isElsewhere =
            try scope != .public && !isService && !means(named) && !isSameText(named, actor.actor.user)
        owner = scope == .public ? "" : isService ? request.database.owner : actor.actor.user
        ownerOrdinal =
            owner.isEmpty ? 0 : isService ? try view.ordinal(of: .user(owner)) ?? 0 : actor.user
        let isKnown = scope == .public || ownerOrdinal != 0
        database = isKnown ? try view.ordinal(of: .database(scope, owner: ownerOrdinal)) ?? 0 : 0
        // The same zone may have several spellings.
        var canonical = RequestNames()
        for id in request.names.zones {
            let isOwn = try !isElsewhere && means(id.owner)
            let index = Int(canonical.ordinal(of: ZoneID(id.name, owner: isOwn ? "" : id.owner))) - 1
            if index == zones.count { zones.append(try state(of: id, isOwn, view)) }
            zoneIndices.append(index)
        }
    }

    private func state(of id: ZoneID, _ isOwn: Bool, _ view: RulesView) throws -> ZoneState {
        if scope == .shared, !isElsewhere { return try sharedState(of: id, view) }
        let (ordinal, refusal) = try ZoneLookup(scope: scope, database: database, owner: ownerOrdinal).zone(
            id, isOwn: isOwn, ordinal: { try view.ordinal(of: $0) },
            status: { try view.zone($0, in: database)?.status })
        let row = ordinal == 0 ? nil : try view.zone(ordinal, in: database)
        return ZoneState(
            name: id.name, owner: id.owner, isOwn: isOwn, database: database, ordinal: ordinal, row: row,
            refusal: refusal)
    }

    /// The state of another user's zone, in that user's private database.
    private func sharedState(of id: ZoneID, _ view: RulesView) throws -> ZoneState {
        var state = ZoneState(name: id.name, owner: id.owner, isOwn: false, database: 0)
        do {
            let zone = try SharedZone(
                id, of: ownerOrdinal, recordName: view.recordName(of: owner), in: view.fold.fork,
                ordinal: { try view.ordinal(of: $0) })
            (state.database, state.ordinal, state.shared) = (zone.database, zone.zone, zone)
            state.row = try view.zone(zone.zone, in: zone.database)
            if state.row?.status != .alive { state.refusal = .missingZone(id.name) }
        } catch let refusal as Refusal { state.refusal = refusal }
        return state
    }

    /// Returns the index in `zones` of an ordinal of the request.
    ///
    /// - Throws: ``Refusal`` for an ordinal without a name in the request.
    func zoneIndex(of ordinal: UInt64) throws -> Int {
        guard ordinal > 0, ordinal <= UInt64(zoneIndices.count) else {
            throw Refusal(
                .invalidArguments, "The request uses ordinal \(ordinal) as a zone but does not define it.",
                rule: .requestNames)
        }
        return zoneIndices[Int(ordinal) - 1]
    }
}

/// A zone that a request names, in its state before the request.
struct ZoneState {
    let name: String
    let owner: String
    /// True if the zone belongs to the database's owner.
    let isOwn: Bool
    /// The ordinal of the database that has the zone: of the request's database, or of the private one of the owner of
    /// a shared zone; 0 if the state has none.
    var database: UInt64
    /// 0 if the zone has no ordinal yet.
    var ordinal: UInt64 = 0
    /// The zone's row, whose totals and last change may be outdated.
    var row: ZoneRow?
    /// The refusal for a missing zone; nil if the zone exists.
    var refusal: Refusal?
    /// The shares by which the user sees the zone; nil outside the shared database.
    var shared: SharedZone?

    var isDefault: Bool { isSameText(name, ZoneID.defaultName) }
    var isAlive: Bool { refusal == nil }
}
