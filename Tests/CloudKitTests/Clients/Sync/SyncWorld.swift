import CloudKit
import StrataModel
import StrataRules
import StrataStore
import StrataSystem
import TestSupport

@testable import CloudKit

/// Some devices of one user with a client each, on a store in a directory, and what can happen to them.
struct SyncWorld {
    /// What may happen beside edits, pushes and pulls.
    struct Events: OptionSet {
        let rawValue: Int
        static let deletes = Self(rawValue: 1)
        static let restarts = Self(rawValue: 2)
        static let lostZones = Self(rawValue: 4)
        static let all: Self = [.deletes, .restarts, .lostZones]
    }

    static let names = (0..<24).map { "note-\($0)" }
    private static let devices = ["phone", "tablet", "laptop"]

    private let directory: TestDirectory
    private let events: Events
    private let ignoresConflicts: Bool
    private var store: CloudStore
    private(set) var clients: [SyncClient] = []
    private var random: SeededGenerator
    private var number = 0
    /// The last value that each device gave its own key of a note.
    private(set) var written: [String: [String: Int]] = [:]

    init(seed: UInt64, _ events: Events, ignoresConflicts: Bool = false) async throws {
        directory = try TestDirectory()
        self.events = events
        self.ignoresConflicts = ignoresConflicts
        random = SeededGenerator(seed: seed)
        store = try Self.open(directory)
        try restart()
        try await database(0).save(CKRecordZone(zoneID: SyncClient.zone))
    }

    private static func open(_ directory: TestDirectory) throws -> CloudStore {
        var options = CloudStore.Options.service
        options.durability = .system
        return try CloudStore(at: URL(fileURLWithPath: directory.path("Notes.strata")), options: options)
    }

    private func database(_ device: Int) -> CKDatabase {
        store.container(user: "anna", device: Self.devices[device]).privateCloudDatabase
    }

    /// Each client is a new one, which knows what is on its disk.
    private mutating func restart() throws {
        clients = try Self.devices.indices.map { try client($0) }
    }

    private func client(_ device: Int) throws -> SyncClient {
        let database = database(device)
        return try SyncClient(
            file: URL(fileURLWithPath: directory.path(Self.devices[device] + ".json")), database: database,
            source: ChangeSource(database, seed: UInt64(device)),
            ignoresConflicts: ignoresConflicts)
    }

    private mutating func reopen() throws {
        clients = []
        try store.close()
        store = try Self.open(directory)
        try restart()
    }

    // MARK: Steps

    mutating func step() async throws {
        let device = random.next(below: clients.count)
        let client = clients[device]
        let name = Self.names[random.next(below: Self.names.count)]
        switch random.next(below: 100) {
        case 0..<35: try await write(name, device)
        case 35..<50: try await edit(name, client)
        case 50..<56: if events.contains(.deletes) { try await client.delete(name) }
        case 56..<76:
            try await client.push(atomically: random.next(below: 2) == 0, inOperation: random.next(below: 2) == 0)
        case 76..<93: try await client.pull()
        case 93..<96: if events.contains(.restarts) { clients[device] = try self.client(device) }
        case 96: if events.contains(.restarts) { try reopen() }
        case 97..<99: if events.contains(.lostZones) { try await loseZone(device) }
        default: try await client.pull()
        }
    }

    /// Writes what no other device does.
    private mutating func write(_ name: String, _ device: Int) async throws {
        number += 1
        let key = Self.devices[device]
        try await clients[device].set(number, forKey: key, of: name)
        written[name, default: [:]][key] = number
    }

    /// Writes, or removes, what others do too.
    private mutating func edit(_ name: String, _ client: SyncClient) async throws {
        number += 1
        let key = ["a", "b"][random.next(below: 2)]
        try await client.set(random.next(below: 5) == 0 ? nil : number, forKey: key, of: name)
    }

    /// Another program deletes the zone, or its user does it in Settings.
    private mutating func loseZone(_ device: Int) async throws {
        if random.next(below: 2) == 0 {
            _ = try? await database(device).deleteRecordZone(withID: SyncClient.zone)
        } else {
            var names = RequestNames()
            let body = AdministerRequest.purgeZone(names.ordinal(of: ZoneID("Notes")))
            let request = Request(database: DatabaseID(.private, owner: "anna"), names: names, .administer(body))
            try await store.store.modify(request, as: .service)
        }
    }

    // MARK: The end

    /// Lets every device push and pull until none has anything to say.
    func settle() async throws {
        for _ in 0..<8 {
            for client in clients {
                try await client.pull()
                try await client.push(atomically: false, inOperation: false)
            }
            // What a push met with is behind only after the next round.
            for client in clients { try await client.pull() }
            var isDirty = false
            for client in clients where await client.isDirty { isDirty = true }
            if !isDirty { return }
        }
    }

    /// The devices whose notes are not those of the store.
    func diverging() async throws -> [String] {
        let stored = try await stored()
        var diverging: [String] = []
        for (device, client) in zip(Self.devices, clients) where await client.notes != stored {
            diverging.append(device)
        }
        return diverging
    }

    func stored() async throws -> [String: [String: Int]] {
        let ids = Self.names.map { CKRecord.ID(recordName: $0, zoneID: SyncClient.zone) }
        var stored: [String: [String: Int]] = [:]
        for (id, result) in try await database(0).records(for: ids) {
            do { stored[id.recordName] = try result.get().values } catch CKError.unknownItem {}
        }
        return stored
    }

    /// The notes in which something that a device has written is missing.
    func lost() async throws -> [String] {
        let stored = try await stored()
        return written.filter { name, values in
            values.contains { key, value in stored[name]?[key] != value }
        }.map(\.key)
    }

    func close() throws { try store.close() }
}
