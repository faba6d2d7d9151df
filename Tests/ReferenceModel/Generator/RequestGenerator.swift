import StrataModel

/// Draws requests that a store would get: mostly sensible, so that its state grows, with every kind of mistake.
///
/// ```swift
/// var generator = RequestGenerator(seed: 7)
/// let step = generator.next(for: reference)
/// let result = Result { try reference.modify(step.request, as: step.actor, time: step.time) }
/// ```
///
/// The same seed draws the same steps as long as it is given a store that answers the same.
package struct RequestGenerator: Sendable {
    /// One request, of whom, and when.
    package struct Step: Sendable, Hashable {
        package var request: Request
        package var actor: Actor
        package var time: Int64

        package init(request: Request, actor: Actor, time: Int64) {
            (self.request, self.actor, self.time) = (request, actor, time)
        }
    }

    package static let users = ["ada", "ben", "cleo"]
    package static let devices = ["phone", "tablet"]

    let limits: ReferenceLimits
    var dice: Dice
    var versions = SeenVersions()
    /// The last request with a token of each device.
    var tokened: [Actor: Request] = [:]
    package private(set) var time: Int64 = 1_700_000_000_000_000
    private var tokenCount: UInt16 = 0
    /// Steps of a story that has begun.
    private var planned: [(Request, Actor)] = []
    /// Draws shares and what members ask for, more than anything else.
    let hasShares: Bool
    /// The tokens of shares, in the order in which they came.
    private(set) var shareTokens: [String] = []
    /// Draws grants and members of roles, in the public database for the most part; nil if there are none.
    private var roleDice: Dice?

    package init(seed: UInt64, limits: ReferenceLimits = .small, hasRoles: Bool = false, hasShares: Bool = false) {
        dice = Dice(state: seed)
        roleDice = hasRoles ? Dice(state: ~seed) : nil
        self.hasShares = hasShares
        self.limits = limits
    }

    package mutating func next(for store: ReferenceStore) -> Step {
        versions.look(at: store.state)
        // The clock mostly runs, and now and then stands or is set back.
        time += dice.chance(88) ? 1 + Int64(dice.number(below: 9_000)) : -Int64(dice.number(below: 60) * 500)
        if planned.isEmpty, var drawn = roleDice {
            if drawn.chance(30) { planned = [(Self.grantingOrNaming(&drawn), .service)] }
            roleDice = drawn
        }
        if hasShares {
            noteTokens(store.state)
            if planned.isEmpty, dice.chance(65) { planned = sharing(store) }
        }
        if planned.isEmpty { plan(store) }
        if var drawn = roleDice {
            for index in planned.indices where drawn.chance(70) { planned[index].0 = planned[index].0.madePublic }
            roleDice = drawn
        }
        let (request, actor) = planned.removeFirst()
        if case .modifyRecords(let content) = request.content, content.clientToken != nil { tokened[actor] = request }
        return Step(request: request, actor: actor, time: time)
    }

    private mutating func noteTokens(_ state: ReferenceState) {
        for id in state.databases.keys.sorted(by: { $0.owner < $1.owner }) {
            for zone in state.databases[id]?.zones.values.sorted(by: { $0.ordinal < $1.ordinal }) ?? [] {
                for sharing in zone.shares.compactMap({ zone.records[$0]?.sharing }) {
                    let tokens = [sharing.urlToken] + sharing.participants.map(\.oneTimeToken)
                    for token in tokens where !token.isEmpty && !shareTokens.contains(token) {
                        shareTokens.append(token)
                    }
                }
            }
        }
    }

    private mutating func plan(_ store: ReferenceStore) {
        let actor = drawActor()
        switch dice.number(below: 1_000) {
        case ..<15: planned = accountAway(store, actor)
        case ..<40: planned = [(administering(store), .service)]
        case ..<44: planned = [(administering(store), actor)]
        case ..<48: planned = [(modifyingRecords(store, actor), .service)]
        case ..<220: planned = [(modifyingZones(store, actor), actor)]
        case ..<260: if let (request, holder) = repeated() { planned = [(request, holder)] }
        case ..<275: planned = zoneReborn(store, actor)
        case ..<325: if let request = owningSwapped(store, actor) { planned = [(request, actor)] }
        case ..<345: planned = ownedInTurn(store, actor)
        case ..<425:
            let isNew = store.state.databases[DatabaseID(.private, owner: actor.user)] == nil
            if isNew, !actor.user.isEmpty { planned = [(savingUserRecord(store, actor), actor)] }
        case ..<500: planned = [(modifyingSubscriptions(store, actor), actor)]
        case ..<700: if livingZones(store, actor.user).count < 2 { planned = [(savingAllZones(), actor)] }
        case ..<710: planned = (0...dice.number(below: 3)).map { _ in (knowingPeople(), .service) }
        default: break
        }
        if planned.isEmpty { planned = [(modifyingRecords(store, actor), actor)] }
    }

    /// Grants for a type, or members for a role.
    private static func grantingOrNaming(_ dice: inout Dice) -> Request {
        guard dice.chance(50) else {
            let users = Self.users.filter { _ in dice.chance(50) }
            let role = dice.chance(5) ? "_icloud" : dice.pick(Self.roles)
            return Request(
                database: DatabaseID(.private),
                .administer(.setRole(role, users: dice.chance(3) ? users + [""] : users + users.prefix(1))))
        }
        var request = Request(database: DatabaseID(.public), .declareSchema(DeclareSchemaRequest([])))
        let type = request.names.ordinal(ofType: dice.pick(["Note", "Task"]))
        var grants = (Self.roles + ["_creator", "_icloud", "_world"]).map { role in
            SchemaGrant(role, .init(rawValue: dice.chance(60) ? 0 : UInt8(dice.number(below: 8))))
        }
        // Of no role in use: grants are never those of a type without any.
        grants.append(SchemaGrant("Nobody", .all))
        request.content = .declareSchema(
            DeclareSchemaRequest([.init(type, grants: grants.filter { !$0.permissions.isEmpty })]))
        return request
    }

    static let roles = ["Editors", "Readers"]

    private mutating func drawActor() -> Actor {
        if dice.chance(1) { return Actor(user: "", device: "phone") }
        return Actor(user: dice.pick(Self.users), device: dice.pick(Self.devices))
    }

    mutating func newToken() -> [UInt8] {
        tokenCount += 1
        return [UInt8(tokenCount >> 8), UInt8(tokenCount & 0xFF)]
    }

    /// The last request with a token of some device, again: by the device, or by another of its user.
    private mutating func repeated() -> (Request, Actor)? {
        let holders = tokened.keys.sorted { ($0.user, $0.device) < ($1.user, $1.device) }
        guard !holders.isEmpty else { return nil }
        let holder = dice.pick(holders)
        guard let request = tokened[holder] else { return nil }
        return (request, dice.chance(75) ? holder : Actor(user: holder.user, device: dice.pick(Self.devices)))
    }

    /// A save with a token, the end of its zone, a new life of it, and the save once more.
    private mutating func zoneReborn(_ store: ReferenceStore, _ actor: Actor) -> [(Request, Actor)] {
        let zone = ZoneID(dice.pick(Self.zones))
        var saving = Request(database: DatabaseID(.private), .modifyZones(ModifyZonesRequest()))
        let ordinal = saving.names.ordinal(of: zone)
        saving.content = .modifyZones(ModifyZonesRequest(saves: [.init(ordinal)]))
        var ending = saving
        ending.content = .modifyZones(ModifyZonesRequest(deletes: [ordinal]))
        if dice.chance(30) {
            ending.database.owner = actor.user
            ending.content = .administer(dice.chance(50) ? .purgeZone(ordinal) : .resetEncryptedData)
        }
        var record = Request(database: DatabaseID(.private), .modifyZones(ModifyZonesRequest()))
        let key = RecordKey(zone: record.names.ordinal(of: zone), name: dice.pick(Self.recordNames))
        var fields = [FieldChange(record.names.ordinal(ofKey: "title"), .string("reborn"))]
        if dice.chance(50) { fields.append(FieldChange(record.names.ordinal(ofKey: "secret"), Self.encrypted(5))) }
        let type = record.names.ordinal(ofType: Self.typeName(of: key.name))
        record.content = .modifyRecords(
            ModifyRecordsRequest(
                saves: [.init(key, type: type, fields: fields)], policy: .allKeys, clientToken: newToken()))
        let ender = ending.content.isOfService ? Actor.service : actor
        // Now and then the zone is used again while it is not there.
        let between = dice.chance(50) ? [(record, actor)] : []
        return [(saving, actor), (record, actor), (ending, ender)] + between + [(saving, actor), (record, actor)]
    }
}

/// Random numbers of their own, so that the model needs nothing but values (SplitMix64).
struct Dice: Sendable {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    mutating func number(below bound: Int) -> Int { Int(next() % UInt64(bound)) }
    mutating func chance(_ percent: Int) -> Bool { number(below: 100) < percent }
    mutating func pick<Item>(_ items: [Item]) -> Item { items[number(below: items.count)] }
}

/// The versions that records have and had, oldest first.
struct SeenVersions: Sendable {
    private struct Key: Hashable {
        var database: DatabaseID
        var zone: ReferenceName
        var record: ReferenceName
    }

    private var versions: [Key: [Version]] = [:]
    private var lengths: [Key: Int] = [:]

    mutating func look(at state: ReferenceState) {
        for (id, database) in state.databases {
            for (name, zone) in database.zones {
                let key = Key(database: id, zone: name, record: "")
                // A new life has a shorter list, which is read from its start.
                let seen = lengths[key] ?? 0
                let fresh = seen <= zone.changes.count ? zone.changes[seen...] : zone.changes[...]
                lengths[key] = zone.changes.count
                for change in fresh where change.kind == .saved {
                    versions[Key(database: id, zone: name, record: change.record), default: []].append(change.version)
                }
            }
        }
    }

    func past(_ database: DatabaseID, _ zone: ReferenceName, _ record: ReferenceName) -> [Version] {
        versions[Key(database: database, zone: zone, record: record)] ?? []
    }
}

extension Request {
    /// The same of the public database, if it is about records or subscriptions of the private one.
    fileprivate var madePublic: Request {
        var request = self
        switch content {
        case .modifyRecords, .modifySubscriptions:
            if database.scope == .private { request.database = DatabaseID(.public) }
        default: break
        }
        return request
    }
}
