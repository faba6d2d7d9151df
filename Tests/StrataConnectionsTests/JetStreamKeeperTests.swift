import StrataModel
import StrataReplication
import StrataSystem
import TestNeeds
import TestSupport
import Testing

@testable import StrataJetStream

@Suite("Assets in a stream of their own", .needs(.natsServer))
struct JetStreamKeeperTests {
    private static let payloadBytes = 8_192
    private static let pieceBytes = payloadBytes - JetStreamSequencer.headerBytes - 76

    private let random = SeededRandom(seed: 1)

    private func start(_ count: Int, settings: String = "") throws -> (JetStreamServers, JetStreamOptions) {
        let servers = try JetStreamServers(count: count, settings: settings)
        let options = try servers.stream("notes")
        #expect(try JetStreamSequencer.create(options.forObjects))
        return (servers, options)
    }

    private func connect(_ options: JetStreamOptions) throws -> ObjectStore {
        ObjectStore(try JetStreamKeeper(options), random)
    }

    @Test("The contract of object stores, by one process and by several at once")
    func contract() throws {
        let (servers, options) = try start(1, settings: "max_payload: \(Self.payloadBytes)")
        let contract = ObjectContract { try JetStreamKeeper(options) }
        try contract.run(seed: 1, pieceBytes: Self.pieceBytes)
        for seed in 2..<6 as Range<UInt64> { try contract.race(seed: seed, byteCount: Int(seed) * Self.pieceBytes + 7) }
        // Entries of the store have a stream of their own.
        let sequencer = try JetStreamSequencer(options)
        #expect(try sequencer.last() == 0)
        sequencer.close()
        withExtendedLifetime(servers) {}
    }

    @Test("An upload whose connection ends leaves no object, and the next one succeeds")
    func cutOff() throws {
        let (servers, options) = try start(1, settings: "max_payload: \(Self.payloadBytes)")
        let store = try connect(options)
        defer { store.close() }
        let bytes = random.nextBytes(count: 200 * Self.pieceBytes)
        let (hash, file) = try ObjectContract.file(bytes)
        let keeper = try JetStreamKeeper(options)
        let cut = ObjectStore(keeper, random, outcomeMilliseconds: 100)
        let thread = try WorkerThread(name: "put") { try? cut.put(hash, file, byteCount: bytes.count) }
        #expect(try eventually { try keeper.names("*.*.*").count > 3 })
        keeper.close()
        thread.join()
        #expect(try !store.contains(hash) && store.list().isEmpty)
        try store.put(hash, file, byteCount: bytes.count)
        #expect(try ObjectContract.fetch(hash, from: store) == bytes)
        #expect(try store.removeLeftovers() == 1)
        #expect(try ObjectContract.fetch(hash, from: store) == bytes)
        withExtendedLifetime(servers) {}
    }

    @Test("A cluster keeps objects while its servers are killed and one loses its disk")
    func killed() throws {
        let (servers, options) = try start(3)
        let store = try connect(options)
        defer { store.close() }
        var objects: [ContentHash: [UInt8]] = [:]
        func put(_ size: Int) throws {
            let bytes = random.nextBytes(count: size)
            objects[try ObjectContract.put(bytes, in: store)] = bytes
        }
        for size in [100, 600_000, 1_300_000] { try put(size) }
        let leader = try #require(servers.leader(options.forObjects))
        servers.kill(leader)
        for size in [200, 1_100_000] { try put(size) }
        try servers.wipe(leader)
        try servers.start(leader)
        // The server must have everything again before another one may be lost.
        #expect(eventually { servers.isComplete(options.forObjects) })
        let next = try #require(servers.leader(options.forObjects))
        servers.kill(next)
        for (hash, bytes) in objects {
            #expect(try ObjectContract.patiently { try ObjectContract.fetch(hash, from: store) } == bytes)
        }
        #expect(try ObjectContract.patiently { Set(try store.list()) } == Set(objects.keys))
    }

    private func code(_ body: () throws -> Void) -> StrataError.Code? {
        do { try body() } catch { return (error as? StrataError)?.code }
        return nil
    }

    @Test("A stream that would lose objects, or is missing, is refused; servers cannot delete single messages")
    func settings() throws {
        let (servers, options) = try start(1)
        let missing = try connect(servers.stream("other"))
        #expect(code { _ = try missing.list() } == .unsuitable)
        #expect(code { try missing.claim(for: .zero) } == .unsuitable)
        missing.close()
        let wrong = try servers.options("wrong")
        let names = #""name":"wrong-assets","subjects":["strata-assets.wrong.>"]"#
        try servers.ask(
            "STREAM.CREATE.wrong-assets", "{\(names),\"max_age\":3600000000000,\"deny_delete\":true}", wrong)
        let refused = try connect(wrong)
        #expect(code { _ = try refused.list() } == .unsuitable)
        refused.close()
        let store = try connect(options)
        try ObjectContract.put([1, 2, 3], in: store)
        #expect(throws: JetStreamAPI.Failure.self) {
            try servers.ask("STREAM.MSG.DELETE.notes-assets", #"{"seq":1}"#, options)
        }
        store.close()
    }

    @Test("An address says where the assets are")
    func addresses() throws {
        let place = try LogPlace.jetStream("nats://127.0.0.1/notes?assets=cluster")
        #expect(place.assets == .cluster && place.address == "nats://127.0.0.1/notes")
        #expect(try place == LogPlace.jetStream("nats://127.0.0.1/notes").withAssets(in: .cluster))
        #expect(try LogPlace.jetStream("nats://127.0.0.1/notes?assets=directory").assets == .directory)
        #expect(throws: StrataError.self) { try LogPlace.jetStream("nats://127.0.0.1/notes?assets=moon") }
    }
}
