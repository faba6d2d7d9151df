import StrataModel
import StrataRules
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

/// Devices that only use tokens, while others write, delete and drop zones.
@Suite(.timeLimit(.minutes(5)))
struct FeedModelTests {
    @Test(arguments: seeds(12))
    func `Each device ends with exactly the store's state, whatever it forgets or repeats`(_ seed: UInt64) throws {
        var world = try FeedWorld(seed: seed)
        for round in 0..<4 {
            for _ in 0..<60 { try world.step() }
            try world.settle()
            for (index, device) in world.devices.enumerated() {
                #expect(
                    try device.now.content == Mirror.stored(world.client),
                    "seed \(seed), round \(round), device \(index)")
            }
        }
    }

    @Test(arguments: [Mirror.Faults.deletedRecords, .deletedZones])
    func `The canary: a device that overlooks what is gone is noticed`(_ faults: Mirror.Faults) throws {
        var world = try FeedWorld(seed: 1)
        for index in world.devices.indices { world.devices[index].now.faults = faults }
        var differs = false
        for _ in 0..<4 {
            for _ in 0..<60 { try world.step() }
            try world.settle()
            for device in world.devices where try device.now.content != Mirror.stored(world.client) { differs = true }
        }
        #expect(differs)
    }
}

/// One user's database on disk, somebody who writes to it, and devices that follow.
struct FeedWorld {
    struct Device {
        var now = Mirror()
        /// What it kept earlier, which a restored backup brings back.
        var backups: [Mirror] = []
    }

    private static let zones = ["A", "B", "C"]

    private var random: SeededGenerator
    private let directory: TestDirectory
    private(set) var client: Client
    var devices = [Device(), Device(), Device()]

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        directory = try TestDirectory()
        client = try Self.open(directory)
    }

    private static func open(_ directory: TestDirectory) throws -> Client {
        var client = Client(of: try Store.open(at: directory.path("Feeds.strata")))
        client.policy = .allKeys
        client.isAtomic = false
        return client
    }

    mutating func step() throws {
        switch random.next(below: 20) {
        case 0: try dropOrMakeZone()
        case 1: try restart()
        case 2..<10: write()
        default: try follow(random.next(below: devices.count))
        }
    }

    private mutating func restart() throws {
        try client.store.close()
        client = try Self.open(directory)
    }

    private mutating func dropOrMakeZone() throws {
        let zone = Self.zones[random.next(below: Self.zones.count)]
        switch random.next(below: 4) {
        case 0: _ = client.zones(delete: [zone])
        case 1: _ = client.administer(purging: zone)
        default: _ = client.zones(save: [zone])
        }
    }

    private mutating func write() {
        let zone = Self.zones[random.next(below: Self.zones.count)]
        func name() -> String { "n\(random.next(below: 12))" }
        var saves: [String: Client.Save] = [:]
        for _ in 0..<random.next(below: 4) {
            let name = name()
            let fields: KeyValuePairs<String, FieldValue?> =
                random.next(below: 3) == 0
                ? ["of": owner("n\(random.next(below: 12))")] : ["n": .int64(Int64(random.next(below: 100)))]
            let parent = random.next(below: 4) == 0 ? "n\(random.next(below: 12))" : nil
            saves[name] = .init(name, fields, in: zone, parent: parent == name ? nil : parent)
        }
        let deletes = Set((0..<random.next(below: 3)).map { _ in name() }).subtracting(saves.keys)
        // What the rules refuse of it is no feed's concern.
        _ = client.modify(
            saves.values.sorted { $0.name < $1.name }, deletes: deletes.sorted().map { .init($0, in: zone) })
    }

    private mutating func follow(_ index: Int) throws {
        let limit = [0, 1, 2, 3, 7][random.next(below: 5)]
        let before = devices[index].now
        switch random.next(below: 8) {
        case 0:
            // A backup is restored: older tokens with the state that went with them.
            if let backup = devices[index].backups.last { devices[index].now = backup }
        case 1: devices[index].backups.append(before)
        case 2:
            // The answer is lost on its way.
            var lost = before
            _ = try lost.followDatabase(client, limit: limit)
        case 3:
            // What came was stored, but not the token.
            _ = try devices[index].now.followDatabase(client, limit: limit)
            devices[index].now.token = before.token
        case 4, 5: _ = try devices[index].now.followDatabase(client, limit: limit)
        default:
            guard let zone = devices[index].now.zones.keys.sorted().randomElement(using: &random) else { return }
            do { _ = try devices[index].now.followZone(zone, client, limit: limit) } catch let refusal as Refusal
                where refusal.code == .zoneNotFound || refusal.code == .userDeletedZone
            {
                // The database's feed says so too.
            }
        }
    }

    /// Everybody asks until there is nothing left.
    mutating func settle() throws {
        for index in devices.indices { try devices[index].now.follow(client, limit: [0, 1, 5][index % 3]) }
    }
}
