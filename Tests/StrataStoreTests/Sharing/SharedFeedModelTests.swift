import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

/// Members who only follow feeds, while records, shares and memberships change: B355, B360 to B363.
@Suite("Feeds of the shared database over random histories", .timeLimit(.minutes(5)))
struct SharedFeedModelTests {
    @Test("Each member ends with exactly what is visible", arguments: seeds(60) + [237, 425, 911])
    func histories(_ seed: UInt64) throws {
        var play = try SharedPlay(seed: seed)
        for round in 0..<4 {
            for _ in 0..<40 { try play.step() }
            try play.settle()
            for (user, device) in play.devices {
                #expect(device.records == play.world.visible(to: user), "seed \(seed), round \(round), \(user)")
                #expect(device.zones.isEmpty == play.world.visible(to: user).isEmpty, "seed \(seed), \(user)")
            }
        }
    }

    @Test("The canary: a device that overlooks deletions is noticed")
    func canary() throws {
        var differs = false
        for seed in seeds(4) where !differs {
            var play = try SharedPlay(seed: seed)
            play.overlooksDeletions = true
            for _ in 0..<160 { try play.step() }
            try play.settle()
            differs = play.devices.contains { $0.value.records != play.world.visible(to: $0.key) }
        }
        #expect(differs)
    }
}

/// Random acts in a ``SharedWorld``, and devices of members that follow.
struct SharedPlay {
    struct Device {
        var records: [String: Version] = [:]
        var token: FeedToken?
        var zones: Set<ZoneID> = []
        var databaseToken: FeedToken?
    }

    let world: SharedWorld
    var devices: [String: Device] = ["ben": Device(), "cleo": Device(), "dora": Device()]
    var overlooksDeletions = false
    private var random: SeededGenerator

    init(seed: UInt64) throws {
        world = try SharedWorld()
        random = SeededGenerator(seed: seed)
        try world.write {
            for number in 0..<3 { try world.save("root\(number)") }
            for number in 0..<6 { try world.save("n\(number)", parent: "root\(number % 3)") }
        }
    }

    private mutating func one<Value>(of values: [Value]) -> Value { values[random.next(below: values.count)] }

    mutating func step() throws {
        if random.next(below: 3) > 0 { return try write() }
        try follow(one(of: devices.keys.sorted()), limit: one(of: [0, 1, 2, 3, 7]))
    }

    /// Writes at most one commit.
    mutating func write() throws {
        switch random.next(below: 8) {
        case 0: try shareOrEnd()
        case 1..<4: try changeMember()
        default: try writeRecords()
        }
    }

    private mutating func shareOrEnd() throws {
        let alive = world.shares.filter { !$0.value.isEnded }
        let root = "root\(random.next(below: 3))"
        if let known = alive.first(where: { $0.value.root == root || $0.value.root == nil }) {
            if random.next(below: 2) == 0 { try world.write { try world.end(known.key) } }
        } else if alive.isEmpty, random.next(below: 4) == 0 {
            try world.write { try world.share(root: nil) }
        } else {
            try world.write { try world.share(root: root) }
        }
    }

    private mutating func changeMember() throws {
        guard let share = world.shares.filter({ !$0.value.isEnded }).keys.sorted().randomElement(using: &random)
        else { return }
        let user = one(of: devices.keys.sorted())
        if world.members[user]?[share] != nil, random.next(below: 3) == 0 {
            try world.write(by: user) { try world.leave(user, share) }
        } else {
            let permission = one(of: [SharePermission.readOnly, .readWrite, .readWrite, .none])
            if permission == .none, world.members[user]?[share]?.permission == SharePermission.none { return }
            try world.write { try world.set(permission, of: user, in: share) }
        }
    }

    private mutating func writeRecords() throws {
        try world.write {
            for _ in 0...random.next(below: 3) {
                let name = "n\(random.next(below: 14))"
                let roots = Set(world.shares.values.compactMap(\.root))
                if random.next(below: 5) == 0, !world.records.values.contains(where: { $0.parent == name }) {
                    try world.delete(name)
                    return
                }
                // Parents have smaller names, so there are no cycles.
                let parent = one(of: [nil, "root0", "root1", "root2", "n0", "n1", "n2"] as [String?])
                guard parent.map({ world.records[$0] != nil && (!$0.hasPrefix("n") || $0 < name) }) ?? true,
                    !roots.contains(name)
                else { continue }
                try world.save(name, parent: parent, n: Int64(random.next(below: 100)))
                return
            }
        }
    }

    // MARK: Following

    private mutating func follow(_ user: String, limit: Int) throws {
        if random.next(below: 3) == 0 {
            _ = try followDatabase(user, limit: limit)
        } else {
            _ = try followZone(user, limit: limit)
        }
    }

    private mutating func followDatabase(_ user: String, limit: Int) throws -> Bool {
        guard var device = devices[user] else { return false }
        let store = try world.store
        let page = try store.databaseChanges(
            in: world.shared, since: device.databaseToken, limit: limit, as: world.actor(user))
        #expect(page.changed.allSatisfy { $0 == world.zone } && page.deleted.allSatisfy { $0.zone == world.zone })
        #expect(page.deleted.allSatisfy { $0.reason == .deleted }, "B360")
        device.zones.formUnion(page.changed)
        for deletion in page.deleted { device.zones.remove(deletion.zone) }
        device.databaseToken = page.token
        devices[user] = device
        return page.moreComing
    }

    /// Takes a page of the zone's feed; returns whether more is coming.
    private mutating func followZone(_ user: String, limit: Int) throws -> Bool {
        guard var device = devices[user] else { return false }
        let visible = world.visible(to: user)
        do {
            let page = try world.store.zoneChanges(
                of: world.zone, in: world.shared, since: device.token, limit: limit, as: world.actor(user))
            #expect(limit == 0 || page.changed.count + page.deleted.count <= limit)
            let names = page.changed.map(\.id.name) + page.deleted.map(\.id.name)
            #expect(Set(names).count == names.count, "each record once in a page")
            if device.token == nil { #expect(page.deleted.isEmpty, "B151") }
            for record in page.changed {
                #expect(visible[record.id.name] == record.version, "invisible: \(record.id.name)")
                device.records[record.id.name] = record.version
            }
            for deletion in page.deleted {
                #expect(world.everSeen[user]?.contains(deletion.id.name) == true, "never seen: \(deletion.id.name)")
                #expect(visible[deletion.id.name] == nil)
                if !overlooksDeletions { device.records[deletion.id.name] = nil }
            }
            device.token = page.token
            devices[user] = device
            let decoded = try FeedToken(payload: page.token.payload())
            #expect(decoded == page.token)
            return page.moreComing
        } catch let refusal as Refusal where refusal.code == .changeTokenExpired {
            devices[user]?.token = nil
            devices[user]?.records = [:]
            return true
        } catch let refusal as Refusal {
            #expect(visible.isEmpty, "\(refusal)")
            // The device drops the zone, but keeps the token, which must never work again (B363).
            devices[user]?.records = [:]
            return false
        }
    }

    /// Everybody follows until there is nothing left.
    mutating func settle() throws {
        for (index, user) in devices.keys.sorted().enumerated() {
            var pages = 0
            while try followDatabase(user, limit: [0, 1, 5][index]) { pages += 1 }
            while try followZone(user, limit: [0, 1, 5][index]) {
                pages += 1
                try #require(pages < 1_000, "a feed without an end")
            }
        }
    }
}
