import StrataLog
import StrataModel
import StrataReplication
import StrataSystem
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

@Suite("A subscription that fires once, in a store that several processes write", .timeLimit(.minutes(2)))
struct SharedOnceTests {
    private let sequence = MemorySequencer.Sequence()
    private let clock = ManualTime(microseconds: 1_700_000_000_000_000)

    private func client(device: String) throws -> Client {
        let platform = Platform(files: SimulatedDisk(), time: clock)
        let log = try ReplicatedLog.open(at: "/Notes.strata", sequencer: MemorySequencer(sequence), platform: platform)
        return Client(of: try Store(on: log, platform: platform)).with {
            $0.zone = "Notes"
            $0.device = device
        }
    }

    private func subscribe(_ client: Client) throws {
        var names = RequestNames()
        let subscription = Subscription(
            "once", .query, zone: 0, recordType: names.ordinal(ofType: "Note"), predicate: "n = 1",
            options: [.creation, .once], notification: nil)
        let request = Request(
            database: client.database, names: names, .modifySubscriptions(.init(saves: [subscription])))
        #expect(client.ask(request).map(\.result).codes == [nil])
    }

    private func isThere(_ client: Client) throws -> Bool {
        try client.store.confirm()
        return try client.store.snapshot().subscriptions(in: client.database, as: client.actor).contains {
            $0.id == "once"
        }
    }

    /// The commits that end a subscription.
    private func ends(_ client: Client) throws -> [UInt64] {
        var cursor = try client.store.log.read(from: 1)
        var ends: [UInt64] = []
        while let commit = try cursor.next() {
            let events = try Envelope(decoding: commit.payload).events
            if events.contains(where: { $0.kind == .subscriptionDeleted }) { ends.append(commit.offset) }
        }
        return ends
    }

    /// Two processes, of which the first has the subscription's user, with two devices.
    private func pair() throws -> (phone: Client, tablet: Client) {
        let (phone, tablet) = (try client(device: "phone"), try client(device: "tablet"))
        #expect(phone.zones(save: ["Notes"]) == [nil])
        try tablet.save("first")
        return (phone, tablet)
    }

    @Test("The process whose entry made it fire notes it at once, and no other does")
    func own() throws {
        let (phone, tablet) = try pair()
        try subscribe(phone)
        let queue = try phone.store.listen(as: phone.actor)
        // A process that listens follows what fires.
        let other = try tablet.store.listen(as: tablet.actor)
        try tablet.store.confirm()
        try tablet.save("a", ["n": .int64(1)])
        #expect(eventually { (try? isThere(tablet)) == false })
        // The first has examined the note of the second before the time in which it waits is over.
        clock.advance(byMicroseconds: 10_000_000)
        try tablet.save("later")
        try phone.store.confirm()
        phone.store.engine.notifier.awaitSight(of: phone.store.offset)
        let end = try #require(try ends(phone).first)
        #expect(try ends(phone).count == 1 && tablet.store.log.isOwn(end) && !phone.store.log.isOwn(end))
        #expect(queue.waitingCount == 1 && other.waitingCount == 0)
        for client in [phone, tablet] { try client.store.close() }
    }

    @Test("If that process does not note it, another one does after two seconds")
    func others() throws {
        let (phone, tablet) = try pair()
        try subscribe(phone)
        // No device listens at the second process, which knew of no subscription when it was opened.
        try tablet.save("a", ["n": .int64(1)])
        func examine() throws {
            try tablet.save("later \(tablet.store.offset)")
            try phone.store.confirm()
            phone.store.engine.notifier.awaitSight(of: phone.store.offset)
        }
        try examine()
        clock.advance(byMicroseconds: 1_900_000)
        try examine()
        #expect(try isThere(phone) && ends(phone) == [])
        clock.advance(byMicroseconds: 200_000)
        try tablet.save("at last")
        #expect(eventually { (try? isThere(phone)) == false })
        let ends = try self.ends(phone)
        #expect(ends.count == 1 && phone.store.log.isOwn(ends[0]))
        // It fired for the first record alone.
        try tablet.save("b", ["n": .int64(1)])
        try examine()
        #expect(try self.ends(phone) == ends)
        for client in [phone, tablet] { try client.store.close() }
    }

    @Test("A process that ends while it waits notes it, so that nothing fires again later")
    func ending() throws {
        let (phone, tablet) = try pair()
        try subscribe(phone)
        try tablet.save("a", ["n": .int64(1)])
        try phone.store.confirm()
        phone.store.engine.notifier.awaitSight(of: phone.store.offset)
        #expect(try isThere(tablet))
        try phone.store.close()
        #expect(try !isThere(tablet) && ends(tablet).count == 1)
        try tablet.store.close()
    }
}
