import StrataModel

extension RequestGenerator {
    static let zones = ["Notes", "Lists", "Trips"]

    func livingZones(_ store: ReferenceStore, _ user: String) -> [String] {
        let zones = store.state.databases[DatabaseID(.private, owner: user)]?.zones.values ?? [:].values
        return zones.filter { $0.isAlive && $0.name != .defaultZone }.map(\.name.text).sorted()
    }

    /// An owner that means the actor, or now and then does not.
    mutating func drawOwner(_ store: ReferenceStore, _ user: String) -> String {
        switch dice.number(below: 100) {
        case ..<90: ""
        case ..<93: "__defaultOwner__"
        case ..<97: store.userRecordName(user)
        case ..<98: user
        default: store.userRecordName(dice.pick(Self.users))
        }
    }

    mutating func modifyingZones(_ store: ReferenceStore, _ actor: Actor) -> Request {
        var request = Request(database: DatabaseID(.private), .modifyZones(ModifyZonesRequest()))
        if dice.chance(5) { request.database.scope = dice.pick([.public, .shared]) }
        var content = ModifyZonesRequest()
        let living = livingZones(store, actor.user)
        if dice.chance(3) { return crowdOfZones() }
        let count = dice.chance(3) ? 0 : 1 + dice.number(below: 3)
        for _ in 0..<count {
            var name = dice.pick(Self.zones)
            let isDeleting = dice.chance(22)
            if isDeleting, !living.isEmpty, dice.chance(70) { name = dice.pick(living) }
            if dice.chance(5) { name = "_defaultZone" }
            if dice.chance(5) { name = dice.pick(["", "_odd", "Bell\u{7}", String(repeating: "z", count: 256)]) }
            let owner = drawOwner(store, actor.user)
            let zone = request.names.ordinal(of: ZoneID(name, owner: owner))
            let isThere = (content.saves.map(\.zone) + content.deletes).contains(zone)
            guard !isThere || dice.chance(10) else { continue }
            if isDeleting {
                content.deletes.append(zone)
            } else {
                content.saves.append(.init(zone, encryptionScope: dice.chance(88) ? .record : .zone))
            }
        }
        request.content = .modifyZones(content)
        return request
    }

    mutating func savingAllZones() -> Request {
        var request = Request(database: DatabaseID(.private), .modifyZones(ModifyZonesRequest()))
        let zones = Self.zones.map { request.names.ordinal(of: ZoneID($0)) }
        request.content = .modifyZones(ModifyZonesRequest(saves: zones.map { .init($0) }))
        return request
    }

    /// As many zones as a request may have, or one more; their names are illegal, so that none comes of it.
    private mutating func crowdOfZones() -> Request {
        var request = Request(database: DatabaseID(.private), .modifyZones(ModifyZonesRequest()))
        let count = limits.itemsPerRequest + dice.number(below: 2)
        let zones = (0..<count).map { request.names.ordinal(of: ZoneID("_\($0)")) }
        request.content = .modifyZones(ModifyZonesRequest(saves: zones.map { .init($0) }))
        return request
    }

    mutating func administering(_ store: ReferenceStore) -> Request {
        let user = dice.pick(Self.users)
        var request = Request(
            database: DatabaseID(.private, owner: user), .administer(.resetEncryptedData))
        if dice.chance(4) { request.database = DatabaseID(.public) }
        guard dice.chance(60) else { return request }
        let living = livingZones(store, user)
        var name = dice.pick(Self.zones)
        if !living.isEmpty, dice.chance(80) { name = dice.pick(living) }
        if dice.chance(5) { name = "_defaultZone" }
        request.content = .administer(.purgeZone(request.names.ordinal(of: ZoneID(name))))
        return request
    }

    /// An account that is not available, what its user asks for meanwhile, and mostly the end of it.
    mutating func accountAway(_ store: ReferenceStore, _ actor: Actor) -> [(Request, Actor)] {
        func setting(_ body: AdministerRequest) -> (Request, Actor) {
            (Request(database: DatabaseID(.private), .administer(body)), .service)
        }
        guard !actor.user.isEmpty else { return [setting(.setQuota(bytes: 1, user: ""))] }
        if dice.chance(10) {
            let length = dice.chance(50) ? 4_096 : 4_097
            return [setting(.note(ConsoleNote(String(repeating: "x", count: length), user: actor.user)))]
        }
        let status = dice.pick(AccountStatus.allCases)
        let back = setting(.setAccountStatus(.available, user: actor.user))
        let during = [(modifyingRecords(store, actor), actor), (modifyingZones(store, actor), actor)]
        let isForLong = dice.chance(10)
        // The bytes of a share's state are the store's own.
        if dice.chance(40), !hasShares {
            // Mostly just what a request needs, or a byte less.
            let request = modifyingRecords(store, actor)
            var after = store
            _ = try? after.modify(request, as: actor, time: time)
            let used = UInt64(after.state.databases[DatabaseID(.private, owner: actor.user)]?.usedBytes ?? 0)
            let quota = dice.pick([used, used, used, used / 2, 1 << 40]) + UInt64(dice.number(below: 2))
            let tries = [(request, actor)] + (0..<2).map { _ in (modifyingRecords(store, actor), actor) }
            let end = dice.chance(70) ? [setting(.setQuota(bytes: 0, user: actor.user))] : []
            // What becomes of the status leaves the quota alone.
            let away = setting(.setAccountStatus(.restricted, user: actor.user))
            let between = dice.chance(40) ? [away, back] : []
            return [setting(.setQuota(bytes: max(2, quota) - 1, user: actor.user))] + between + tries + end
        }
        return [setting(.setAccountStatus(status, user: actor.user))] + during + (isForLong ? [] : [back])
    }
}
