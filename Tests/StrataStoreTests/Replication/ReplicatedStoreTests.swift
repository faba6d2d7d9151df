import StrataLog
import StrataModel
import StrataReplication
import StrataSystem
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

@Suite("A store that several processes write", .timeLimit(.minutes(2)))
struct ReplicatedStoreTests {
    private let sequence = MemorySequencer.Sequence()

    private static func client(_ sequencer: any Sequencer, outcomeMilliseconds: Int = 60_000) throws -> Client {
        let log = try ReplicatedLog.open(
            at: "/Notes.strata", sequencer: sequencer, options: .init(outcomeMilliseconds: outcomeMilliseconds),
            platform: Platform(files: SimulatedDisk()))
        return Client(of: try Store(on: log))
    }

    /// Two clients of one user at two processes, of which the second learns nothing by itself.
    private func pair(isConfirming: Bool = true) throws -> (client: Client, lagging: Client) {
        let client = try Self.client(MemorySequencer(sequence))
        let log = try ReplicatedLog.open(
            at: "/Notes.strata", sequencer: LaggingSequencer(sequence), platform: Platform(files: SimulatedDisk()))
        let lagging = Client(of: try Store(on: isConfirming ? log : UnconfirmedLog(log)))
        return (client.with { $0.zone = "Notes" }, lagging.with { $0.zone = "Notes" })
    }

    @Test("What one process commits is published by the others as it comes")
    func following() async throws {
        let (left, right) = (try Self.client(MemorySequencer(sequence)), try Self.client(MemorySequencer(sequence)))
        #expect(left.store.storeID == right.store.storeID)
        for round in 1...20 as ClosedRange<UInt64> {
            let (writer, reader) = round % 2 == 0 ? (left, right) : (right, left)
            let version = try writer.save("note\(round)", ["number": .int64(Int64(round))])
            #expect(try await reader.store.waitForChange(past: version.offset - 1))
            #expect(try reader.fields("note\(round)") == ["number": .int64(Int64(round))])
        }
        #expect(try left.store.snapshot().digests() == right.store.snapshot().digests())
    }

    @Test("A tag that another process gave out is known, although this process lags")
    func tags() throws {
        let (client, lagging) = try pair()
        #expect(client.zones(save: ["Notes"]) == [nil])
        var version = try client.save("note", ["number": .int64(0)])
        for number in 1...5 as ClosedRange<Int64> {
            // The first of these does not know the zone, the others not the record's last version.
            version = try lagging.save("note", ["number": .int64(2 * number)], base: version)
            version = try client.save("note", ["number": .int64(2 * number + 1)], base: version)
        }
    }

    @Test("A refusal is that of the end of the log, and so is an answer without a commit")
    func refusals() throws {
        let (client, lagging) = try pair()
        #expect(client.zones(save: ["Notes"]) == [nil])
        #expect(lagging.zones(save: ["Notes"]) == [nil])
        try client.save("note", ["number": .int64(0)])
        #expect(lagging.modify(deletes: ["note"]).codes == [nil])
        #expect(
            try client.refusal(.init("note", ["number": .int64(1)], base: Version(offset: 1, eventIndex: 0))).code
                == .unknownItem)
        #expect(!client.exists("note") && !lagging.exists("note"))
    }

    @Test("A token that is ahead of a process waits until it has caught up")
    func tokens() throws {
        let (client, lagging) = try pair()
        #expect(client.zones(save: ["Notes"]) == [nil])
        _ = try lagging.store.confirm()
        try client.save("note")
        let page = try client.store.zoneChanges(of: ZoneID("Notes"), in: client.database, as: client.actor)
        let database = try client.store.databaseChanges(in: client.database, as: client.actor)
        #expect(page.changed.count == 1 && lagging.store.offset < page.token.position.offset)
        let next = try lagging.store.zoneChanges(
            of: ZoneID("Notes"), in: client.database, since: page.token, as: client.actor)
        #expect(next.changed.isEmpty && next.deleted.isEmpty && lagging.exists("note"))
        try client.save("other")
        let later = try client.store.databaseChanges(in: client.database, since: database.token, as: client.actor)
        #expect(try lagging.store.standing(of: later.token).refusal == nil)
        #expect(
            try lagging.store.databaseChanges(in: client.database, since: later.token, as: client.actor).changed == [])
    }

    @Test("Canary: without confirming the end, a process that lags refuses what is right")
    func unconfirmed() throws {
        let (client, lagging) = try pair(isConfirming: false)
        #expect(client.zones(save: ["Notes"]) == [nil])
        let version = try client.save("note", ["number": .int64(0)])
        #expect(lagging.codes([.init("note", ["number": .int64(1)], base: version)]) == [.zoneNotFound])
        let page = try client.store.zoneChanges(of: ZoneID("Notes"), in: client.database, as: client.actor)
        let refusal = try lagging.store.standing(of: page.token).refusal
        #expect(refusal?.code == .changeTokenExpired)
    }

    @Test("A store whose append has no outcome takes writes again when it is known, without being opened again")
    func settling() throws {
        let sequencer = MutedSequencer(sequence)
        let client = try Self.client(sequencer, outcomeMilliseconds: 50)
        try client.save("note", ["number": .int64(1)])
        sequencer.isMuted.withLock { $0 = true }
        #expect(client.codes([.init("lost")]) == [.serverResponseLost])
        guard case .failure(let refusal) = client.modify([.init("refused")]) else {
            Issue.record("nothing was refused")
            return
        }
        #expect(refusal.code == .serviceUnavailable && refusal.retryAfterSeconds == Refusal.serverRetrySeconds)
        // Reading goes on.
        #expect(client.exists("note") && !client.exists("lost"))
        sequencer.isMuted.withLock { $0 = false }
        #expect(eventually { client.codes([.init("later")]) == [nil] })
        #expect(client.exists("lost") && !client.exists("refused"))
        #expect(try Views.inMemory(client.store.log).trees.snapshot().digests() == client.store.snapshot().digests())
    }

    @Test("A device is notified, at the process where it listens, of what another process commits")
    func notifications() async throws {
        let phone = try Self.client(MemorySequencer(sequence)).with { $0.zone = "Notes" }
        let tablet = try Self.client(MemorySequencer(sequence)).with { $0.device = "tablet" }
        #expect(phone.zones(save: ["Notes"]) == [nil])
        let subscription = Subscription(
            "all", .database, zone: 0, recordType: 0, predicate: "", options: [], notification: nil)
        let request = Request(database: phone.database, .modifySubscriptions(.init(saves: [subscription])))
        #expect(phone.ask(request).map(\.result).codes == [nil])
        try tablet.store.confirm()
        let queue = try tablet.store.listen(as: tablet.actor)
        try phone.save("note")
        let push = try #require(await queue.next())
        #expect(push.subscriptionID == "all")
    }

    @Test("A process whose large batches always come second makes them smaller until all requests are answered")
    func starvation() throws {
        var faults = HostileSequencer.FaultProfile()
        faults.maximumCommits = 4
        let client = try Self.client(HostileSequencer(sequence, faults, seed: 1)).with { $0.zone = "Notes" }
        #expect(client.zones(save: ["Notes"]) == [nil])
        let start = Monitor(false)
        let threads = try (0..<32).map { number in
            try WorkerThread(name: "client") {
                start.wait { $0 ? () : nil }
                for round in 0..<4 { _ = try? client.save("note\(number)-\(round)") }
            }
        }
        start.withLock { $0 = true }
        start.notifyAll()
        for thread in threads { thread.join() }
        for number in 0..<32 { for round in 0..<4 { #expect(client.exists("note\(number)-\(round)")) } }
        // Some batches were too large.
        #expect(client.store.offset > 1 + 32 * 4)
    }

    @Test("A sequencer that lost entries: nothing is written, and what is there can be read")
    func lostEntries() throws {
        let client = try Self.client(MemorySequencer(sequence), outcomeMilliseconds: 2_000)
        try client.save("note", ["number": .int64(1)])
        sequence.tamper { $0.removeLast() }
        let codes = client.codes([.init("other")])
        #expect(codes == [.serverResponseLost] || codes == [.serviceUnavailable])
        #expect(client.codes([.init("other")]) == [.serviceUnavailable])
        #expect(try client.fields("note") == ["number": .int64(1)])
    }

    private func open(_ disk: SimulatedDisk) throws -> Client {
        var options = StoreOptions.service
        options.place = LogPlace(address: "memory") { _ in MemorySequencer(sequence) }
        options.trees.generationBytes = 128 << 10
        return Client(of: try Store.open(at: "/Notes.strata", options: options, platform: Platform(files: disk)))
    }

    @Test("A store whose changes cannot be written follows others no more, and goes on once there is room")
    func fullDisk() throws {
        let disk = SimulatedDisk()
        let (writer, follower) = (try open(SimulatedDisk()), try open(disk))
        disk.fail(.write, from: 1, with: .errno(28), on: "/views/")
        for number in 0..<600 {
            try writer.save("note\(number)", ["text": .string(String(repeating: "x", count: 2_000))])
            _ = try? follower.store.confirm()
        }
        #expect((3...5).contains(follower.store.views.trees.waitingGenerations))
        #expect(throws: StrataError.self) { try follower.store.confirm() }
        #expect(follower.store.offset < writer.store.offset)
        disk.heal()
        #expect(eventually { follower.store.offset == writer.store.offset })
        #expect(try follower.store.snapshot().digests() == writer.store.snapshot().digests())
        for client in [follower, writer] { try client.store.close() }
    }

    @Test("A store on disk follows, keeps states and opens again with what it missed")
    func onDisk() async throws {
        let (left, right) = (SimulatedDisk(), SimulatedDisk())
        let client = try open(left)
        for round in 0..<3 {
            let other = try open(right)
            for number in 0..<30 { try (number % 2 == 0 ? client : other).save("note\(round)-\(number)") }
            for client in [client, other] { try client.store.confirm() }
            #expect(other.exists("note\(round)-28") && client.exists("note\(round)-29"))
            #expect(try other.store.snapshot().digests() == client.store.snapshot().digests())
            try other.store.close()
            // Without the sequencer, it would write what nobody else has.
            #expect(throws: StrataError.self) {
                _ = try Store.open(at: "/Notes.strata", platform: Platform(files: right))
            }
            for number in 30..<40 { try client.save("note\(round)-\(number)") }
        }
        let lost = try open(right.afterPowerLoss(seed: 1, keeping: .nothingUnsynced))
        #expect(try lost.store.snapshot().digests() == client.store.snapshot().digests())
    }
}
