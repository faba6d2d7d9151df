import Foundation
import StrataModel
import StrataReplication
import StrataStore
import StrataSystem
import TestNeeds
import TestSupport
import Testing

@testable import StrataTool

@Suite(
    "strata assets, with a server of JetStream",
    .needs(.natsServer),
    .timeLimit(.minutes(5)))
struct AssetsCommandTests {
    private let store: SequencedStore
    private let server: ChildProcess
    private let address: String
    private var cluster: String { address + "&assets=cluster" }

    init() throws {
        store = try SequencedStore()
        let port = try FreePorts.find(1)[0]
        let configuration =
            "listen: 127.0.0.1:\(port)\njetstream { store_dir: \"\(store.path("nats"))\", sync_interval: always }\n"
        try Data(configuration.utf8).write(to: URL(fileURLWithPath: store.path("nats.conf")))
        server = try ChildProcess(
            try #require(Programs.natsServer), ["-c", store.path("nats.conf")], errors: store.path("nats.log"))
        address = "nats://127.0.0.1:\(port)/notes?replicas=1"
    }

    /// Saves a record with an asset; returns the asset's hash.
    @discardableResult
    private func save(_ name: String, _ text: String, to store: Store) throws -> ContentHash {
        let path = self.store.path("file-\(name)")
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        let pin = try store.importAsset(at: path)
        var request = RequestBuilder(DatabaseID(.public), policy: .allKeys)
        request.save(
            RecordID(name, zone: ZoneID("_defaultZone")), type: "Item", fields: ["file": .asset(pin.value)])
        _ = try store.modify(request.request, as: Actor(user: "anna"))
        return pin.value.hash
    }

    private func open(_ name: String, at address: String? = nil) throws -> Store {
        var options = StoreOptions.service
        if let address { options.place = try SequencerAddress(address).place }
        return try Store.open(at: store.path(name), options: options)
    }

    private func objects() throws -> ObjectStore {
        try #require(try SequencerAddress(cluster).place.objects(Platform()))
    }

    @Test("The assets of a store move to the cluster with it, and are checked, kept and removed")
    func wholeLife() throws {
        defer { server.kill() }
        let alone = try open("Alone.strata")
        let hash = try save("one", "first", to: alone)
        try alone.close()
        #expect(try store.run("create", cluster, "--from", store.path("Alone.strata")).errors.isEmpty)
        #expect(try store.succeed("assets", cluster) == "1 asset of 5 bytes is whole\n")
        let copy = try open("Copy.strata", at: cluster)
        try save("two", "second", to: copy)
        let unused = store.path("unused")
        try Data("unused".utf8).write(to: URL(fileURLWithPath: unused))
        _ = try copy.importAsset(at: unused)
        try copy.close()
        #expect(try store.succeed("info", cluster).contains("\nassets      3 in the cluster\n"))
        let found = try store.object("assets", cluster)
        try PromisedKeys.expect(found, follows: "What `assets` prints")
        #expect(found["assets"] as? Int == 2 && found["unused"] as? Int == 1 && found["bytes"] as? Int == 11)
        let removed = try store.succeed("assets", cluster, "--remove-unused")
        #expect(removed == "2 assets of 11 bytes are whole; 1 that no commit names were removed\n")
        try store.succeed("assets", cluster, "--copy", store.path("Backup.strata"))
        let objects = try objects()
        try objects.remove(hash)
        objects.close()
        let damaged = try store.run("assets", cluster)
        #expect(damaged.code == 1 && damaged.output.contains("missing or damaged: \(hash)"))
        // The backup has the file of every asset.
        let added = try store.succeed("assets", cluster, "--add", store.path("Backup.strata"))
        #expect(added == "2 files added to the cluster\n2 assets of 11 bytes are whole\n")
    }

    @Test("A store that cannot move leaves the cluster to others, and one without a claim leaves no entry")
    func refusedMoves() throws {
        defer { server.kill() }
        let compacted = try open("Compacted.strata")
        for number in 0..<3 { try save("note\(number)", "text", to: compacted) }
        try compacted.compact(before: compacted.offset)
        try compacted.close()
        #expect(try store.run("create", cluster, "--from", store.path("Compacted.strata")).code == 1)
        let objects = try objects()
        // No store has a claim, so another one can have it.
        try objects.claim(for: SeededRandom(seed: 1).nextIdentifier())
        objects.close()
        #expect(try store.run("create", cluster).code == 1)
        #expect(try SequencerAddress(address).withSequencer { try $0.last() } == 0)
    }

    @Test("A store moves its assets from a directory; processes that name another place are refused")
    func moves() throws {
        defer { server.kill() }
        #expect(try store.run("create", address).code == 0)
        #expect(try store.run("assets", address).code == 2)
        #expect(throws: StrataError.self) { try open("Early.strata", at: cluster) }
        var options = StoreOptions.service
        options.place = try SequencerAddress(address).place.withFiles(in: store.path("files"))
        let directory = try Store.open(at: store.path("Copy.strata"), options: options)
        try save("one", "first", to: directory)
        try directory.close()
        let moved = try store.succeed("assets", cluster, "--add", store.path("files"))
        #expect(moved == "1 file added to the cluster\n1 asset of 5 bytes is whole\n")
        #expect(throws: StrataError.self) { try Store.open(at: store.path("Copy.strata"), options: options) }
        let copy = try open("Copy.strata", at: cluster)
        try copy.requireAsset(FieldValue.Asset(hash: save("one", "first", to: copy), size: 5))
        try copy.close()
    }
}
