import StrataLog
import StrataModel
import StrataQuery
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

/// Who is told of what: B183, B186 to B194.
@Suite(.timeLimit(.minutes(1)))
struct NotifierTests {
    private let phone: Client
    private let tablet: Client

    init() throws {
        phone = try Client().with { $0.zone = "Notes" }
        tablet = phone.with { $0.device = "tablet" }
        #expect(phone.zones(save: ["Notes", "Other"]) == [nil, nil])
        try tablet.save("first")
    }

    /// Subscribes as the client's user, in its database.
    private func subscribe(
        _ client: Client, _ id: String, _ kind: Subscription.Kind, zone: String? = nil, type: String? = nil,
        where predicate: String = "", _ options: Subscription.Options = [], _ info: NotificationInfo? = nil
    ) throws {
        var names = RequestNames()
        let subscription = Subscription(
            id, kind, zone: zone.map { names.ordinal(of: ZoneID($0)) } ?? 0,
            recordType: type.map { names.ordinal(ofType: $0) } ?? 0,
            predicate: kind == .query && predicate.isEmpty ? "TRUEPREDICATE" : predicate, options: options,
            notification: info)
        let request = Request(
            database: client.database, names: names, .modifySubscriptions(.init(saves: [subscription])))
        #expect(client.ask(request).map(\.result).codes == [nil])
    }

    private func done(_ codes: [Refusal.Code?]) { #expect(codes.allSatisfy { $0 == nil }) }

    /// What waits in a box, up to one that a last change of `marker` makes.
    private func drain(_ box: PushQueue, _ count: Int) async -> [String] {
        var found: [String] = []
        for _ in 0..<count {
            guard let push = await box.next() else { break }
            found.append(push.text)
        }
        return found
    }

    @Test func `B186 every device of the user but the one that made the change is told`() async throws {
        try subscribe(phone, "all", .database)
        let boxes = try [phone, tablet, phone.with { $0.device = "watch" }].map { try $0.store.listen(as: $0.actor) }
        let stranger = try phone.store.listen(as: Actor(user: "berta", device: "phone"))
        try phone.save("a")
        try tablet.save("b")
        #expect(await drain(boxes[0], 1) == ["all: database"])
        #expect(await drain(boxes[1], 1) == ["all: database"])
        #expect(await drain(boxes[2], 1) == ["all: database"])
        try await phone.store.settleNotifications()
        #expect(stranger.waitingCount == 0)
    }

    @Test(arguments: [Durability.system, .interval(.milliseconds(3_600_000)), .commit])
    func `a device is notified of what can be fetched, whether or not the disk has it`(
        _ durability: Durability
    ) async throws {
        var options = StoreOptions.service
        options.durability = durability
        let platform = Platform(files: SimulatedDisk())
        let phone = Client(of: try Store.open(at: "/Notes.strata", options: options, platform: platform))
        let tablet = phone.with { $0.device = "tablet" }
        #expect(phone.zones(save: ["Notes"]) == [nil])
        try subscribe(phone, "all", .database)
        let box = try phone.store.listen(as: phone.actor)
        try tablet.save("n", in: "Notes")
        #expect(await drain(box, 1) == ["all: database"])
        // The canary: nothing has been synced meanwhile, but where every commit is.
        #expect((phone.store.durableOffset < phone.store.offset) == (durability != .commit))
    }

    @Test func `B187 B182 databases and zones, narrowed by a type; the default zone takes no part`() async throws {
        try subscribe(phone, "database", .database)
        try subscribe(phone, "lists", .database, type: "List")
        try subscribe(phone, "zone", .recordZone, zone: "Notes")
        try subscribe(phone, "zone lists", .recordZone, zone: "Notes", type: "List")
        let box = try phone.store.listen(as: phone.actor)
        func told(_ act: () throws -> Void) async throws -> [String] {
            try act()
            try await phone.store.settleNotifications()
            return await drain(box, box.waitingCount).sorted()
        }
        #expect(try await told { try tablet.save("n") } == ["database: database", "zone: zone Notes"])
        #expect(
            try await told { done(tablet.codes([.init("l", type: "List")])) } == [
                "database: database", "lists: database", "zone lists: zone Notes", "zone: zone Notes",
            ])
        #expect(try await told { try tablet.save("n", in: "Other") } == ["database: database"])
        #expect(try await told { try tablet.save("n", in: "_defaultZone") } == [])
        #expect(
            try await told { done(tablet.codes(deletes: ["l"])) } == [
                "database: database", "lists: database", "zone lists: zone Notes", "zone: zone Notes",
            ])
        #expect(try await told { done(tablet.zones(save: ["New"])) } == ["database: database"])
        #expect(try await told { done(tablet.zones(delete: ["New"])) } == ["database: database"])
        #expect(
            try await told { done(phone.administer(purging: "Other")) }
                == ["database: database"])
    }

    @Test func `B183 B194 queries: the new version of what is made or changed, the last one of what is deleted`()
        async throws
    {
        try subscribe(
            phone, "big", .query, type: "Note", where: "n > 5", [.creation, .update, .deletion])
        try subscribe(phone, "made", .query, type: "Note", [.creation])
        try subscribe(phone, "here", .query, zone: "Other", type: "Note", where: "n > 5", [.creation])
        let box = try phone.store.listen(as: phone.actor)
        let writer = tablet.with { $0.policy = .allKeys }
        func told(_ act: () throws -> Void) async throws -> [String] {
            try act()
            try await phone.store.settleNotifications()
            return await drain(box, box.waitingCount).sorted()
        }
        #expect(try await told { try writer.save("a", ["n": .int64(1)]) } == ["made: created a"])
        #expect(try await told { try writer.save("a", ["n": .int64(9)]) } == ["big: updated a"])
        #expect(try await told { try writer.save("a", ["n": .int64(2)]) } == [])
        #expect(try await told { done(writer.codes(deletes: ["a"])) } == [])
        #expect(try await told { try writer.save("b", ["n": .int64(7)]) } == ["big: created b", "made: created b"])
        #expect(try await told { done(writer.codes(deletes: ["b"])) } == ["big: deleted b"])
        #expect(
            try await told { try writer.save("b", ["n": .int64(7)], in: "Other") } == [
                "big: created b", "here: created b", "made: created b",
            ])
    }

    @Test func `B183 what is to fire once is gone then; a change of the only device is none`() async throws {
        let store = phone.store
        try subscribe(phone, "once", .query, type: "Note", where: "n = 1", [.creation, .once])
        func ids() throws -> [String] {
            try store.snapshot().subscriptions(in: phone.database, as: phone.actor).map(\.id)
        }
        try tablet.save("other", ["n": .int64(2)])
        try await store.settleNotifications()
        #expect(try ids() == ["once"])
        try tablet.save("a", ["n": .int64(1)])
        try await store.settleNotifications()
        #expect(try ids() == [])
        // Nobody listened then; who does now is told of the one time.
        try tablet.save("b", ["n": .int64(1)])
        let box = try store.listen(as: phone.actor)
        #expect(await drain(box, 1) == ["once: created a"])
        try await store.settleNotifications()
        #expect(box.waitingCount == 0)
    }

    @Test func `Public subscriptions tell those who made them, whoever writes`() async throws {
        let anna = phone.with {
            $0.scope = .public
            $0.zone = "_defaultZone"
        }
        let berta = anna.with { $0.user = "berta" }
        try berta.save("hers")
        try subscribe(anna, "news", .query, type: "Note", where: "topic = 'swift'", [.creation])
        let box = try anna.store.listen(as: anna.actor)
        let bertas = try anna.store.listen(as: berta.actor)
        try berta.save("x", ["topic": .string("rust")])
        try berta.save("y", ["topic": .string("swift")])
        #expect(await drain(box, 1) == ["news: created y"])
        try await anna.store.settleNotifications()
        #expect(bertas.waitingCount == 0 && box.waitingCount == 0)
    }

    @Test func `B188 of what waits the newest wins, and no more than 128 wait`() async throws {
        try subscribe(phone, "all", .database)
        try subscribe(phone, "each", .query, type: "Note", [.creation, .update])
        let box = try phone.store.listen(as: phone.actor)
        let writer = tablet.with { $0.policy = .allKeys }
        for number in 0..<5 { try writer.save("same", ["n": .int64(Int64(number))]) }
        try await phone.store.settleNotifications()
        #expect(box.waitingCount == 2)
        #expect(await drain(box, 2).sorted() == ["all: database", "each: created same"])
        #expect(writer.codes((0..<200).map { .init("n-\($0)") }).allSatisfy { $0 == nil })
        try await phone.store.settleNotifications()
        #expect(box.waitingCount == PushQueue.maximumCount)
    }

    @Test func `What a device missed comes first, also after a restart, and once`() async throws {
        let directory = try TestDirectory()
        func open() throws -> (phone: Client, tablet: Client) {
            let phone = Client(of: try Store.open(at: directory.path("N.strata"))).with { $0.zone = "Notes" }
            return (phone, phone.with { $0.device = "tablet" })
        }
        var (phone, tablet) = try open()
        #expect(phone.zones(save: ["Notes"]) == [nil])
        try subscribe(phone, "all", .database)
        try subscribe(phone, "made", .query, type: "Note", [.creation])
        try tablet.save("a")
        try phone.save("mine")
        try phone.store.close()
        (phone, tablet) = try open()
        var box = try phone.store.listen(as: phone.actor)
        #expect(await drain(box, 2).sorted() == ["all: database", "made: created a"])
        try await phone.store.settleNotifications()
        #expect(box.waitingCount == 0)
        try phone.store.close()
        #expect(await box.next() == nil)
        (phone, tablet) = try open()
        try tablet.save("b")
        box = try phone.store.listen(as: phone.actor)
        #expect(await drain(box, 2).sorted() == ["all: database", "made: created b"])
        try await phone.store.settleNotifications()
        #expect(box.waitingCount == 0)
        try phone.store.close()
    }

    @Test func `Each of several that fired once is found by its own predicate`() async throws {
        for number in 0..<8 {
            try subscribe(phone, "once \(number)", .query, type: "Note", where: "n = \(number)", [.creation, .once])
        }
        for number in 0..<8 { try tablet.save("r\(number)", ["n": .int64(Int64(number))]) }
        try await phone.store.settleNotifications()
        let box = try phone.store.listen(as: phone.actor)
        try await phone.store.settleNotifications()
        #expect(await drain(box, box.waitingCount) == (0..<8).map { "once \($0): created r\($0)" })
    }

    @Test func `What fired once and was saved again fires again, however far behind the thread is`() async throws {
        for number in 0..<40 {
            try subscribe(
                phone, "slow \(number)", .query, type: "List", where: "t BEGINSWITH 'abc\(number)'", [.creation])
        }
        var info = NotificationInfo()
        try subscribe(phone, "once", .query, type: "Note", where: "n = 1", [.creation, .once])
        let box = try phone.store.listen(as: phone.actor)
        try await phone.store.settleNotifications()
        // Keeps the thread busy while the rest happens.
        done(tablet.codes((0..<300).map { .init("l\($0)", ["t": .string("abababab")], type: "List") }))
        try tablet.save("a", ["n": .int64(1)])
        info.alertBody = "again"
        try subscribe(phone, "once", .query, type: "Note", where: "n = 1", [.creation, .once], info)
        try tablet.save("b", ["n": .int64(1)])
        try await phone.store.settleNotifications()
        #expect(await drain(box, box.waitingCount) == ["once: created a", "once: created b"])
        #expect(
            try phone.store.snapshot().subscriptions(in: phone.database, as: phone.actor)
                .contains { $0.id == "once" } == false)
    }

    @Test func `What a predicate calls now is when the change was made`() async throws {
        try subscribe(phone, "past", .query, type: "Note", where: "at < now()", [.creation])
        let box = try phone.store.listen(as: phone.actor)
        let before = EngineDate.seconds(phone.time.nowMicroseconds())
        // A request comes 10 ms after the one before it.
        try tablet.save("a", ["at": .date(before + 0.005)])
        try tablet.save("b", ["at": .date(before + 0.025)])
        try tablet.save("c", ["at": .date(before + 0.025)])
        try await phone.store.settleNotifications()
        #expect(await drain(box, box.waitingCount) == ["past: created a", "past: created c"])
    }

    @Test func `A device that leaves before it was let in misses nothing`() async throws {
        try subscribe(phone, "all", .database)
        let watches = (0..<50).map { number in phone.with { $0.device = "watch \(number)" } }
        for watch in watches { try watch.save(watch.device) }
        try tablet.save("a")
        for watch in watches { try watch.store.listen(as: watch.actor).close() }
        try await phone.store.settleNotifications()
        let boxes = try watches.map { try $0.store.listen(as: $0.actor) }
        try await phone.store.settleNotifications()
        for box in boxes { #expect(await drain(box, box.waitingCount) == ["all: database"]) }
    }

    @Test func `A device that listened before its user wrote anything misses nothing later`() async throws {
        let berta = phone.with { $0.user = "berta" }
        let other = berta.with { $0.device = "tablet" }
        let first = try berta.store.listen(as: other.actor)
        try await phone.store.settleNotifications()
        #expect(berta.zones(save: ["Notes"]) == [nil])
        try subscribe(berta, "all", .database)
        try berta.save("a")
        try await phone.store.settleNotifications()
        #expect(first.waitingCount == 1)
        first.close()
        try berta.save("b")
        try await phone.store.settleNotifications()
        let box = try berta.store.listen(as: other.actor)
        try await phone.store.settleNotifications()
        #expect(await drain(box, box.waitingCount) == ["all: database"])
    }

    @Test("News about a device are announced once until they are noted, and not while nothing comes")
    func news() async {
        let announced = Lock(0)
        let box = PushQueue(phone.actor, onNews: { announced.withLock { $0 += 1 } }, onClose: { _ in })
        func offer(_ offset: UInt64) {
            box.offer(
                Push(
                    subscriptionID: "s\(offset)", user: "anna", scope: .private, subject: .database,
                    version: Version(offset: offset, eventIndex: 0), firstOffset: offset))
        }
        box.begin(seenThrough: 4, badge: 0, isNews: false)
        offer(5)
        offer(6)
        box.advance(to: 6)
        #expect(announced.withLock { $0 } == 0 && box.takeNews() == nil)
        _ = await box.next()
        #expect(box.takeWaiting() != nil)
        #expect(announced.withLock { $0 } == 1 && box.takeNews()?.through == 6)
        box.noteIsLost()
        box.noteIsLost()
        #expect(announced.withLock { $0 } == 2)
        box.setBadge(3)
        #expect(announced.withLock { $0 } == 2 && box.takeNews()?.badge == 3)
        #expect(box.takeWaiting() == nil && announced.withLock { $0 } == 2)
    }

    @Test func `What comes for a device that has just left is not noted as told`() async throws {
        let box = PushQueue(phone.actor, onNews: {}, onClose: { _ in })
        func push(_ offset: UInt64) -> Push {
            Push(
                subscriptionID: "s\(offset)", user: "anna", scope: .private, subject: .database,
                version: Version(offset: offset, eventIndex: 0), firstOffset: offset)
        }
        box.begin(seenThrough: 4, badge: 0, isNews: false)
        box.offer(push(5))
        box.advance(to: 5)
        #expect(await box.next()?.subscriptionID == "s5")
        box.close()
        box.offer(push(8))
        box.advance(to: 9)
        #expect(box.takeNews()?.through == 7)
        #expect(await box.next() == nil)
    }

    @Test func `B188 a device that waits is told once of what one commit does`() async throws {
        try subscribe(phone, "all", .database)
        try subscribe(phone, "zone", .recordZone, zone: "Notes")
        let box = try phone.store.listen(as: phone.actor)
        let told = Lock<[String]>([])
        let listener = Task {
            while let push = await box.next() { told.withLock { $0.append(push.text) } }
        }
        for round in 0..<5 {
            #expect(tablet.codes((0..<200).map { .init("n-\(round)-\($0)") }).allSatisfy { $0 == nil })
            try await phone.store.settleNotifications()
            // What still waits when it leaves it is not told.
            try #require(try await awaited { box.waitingCount == 0 })
        }
        box.close()
        await listener.value
        #expect(told.withLock { $0.count { $0.hasPrefix("all") } } <= 5)
        #expect(told.withLock { $0.count } <= 10)
        #expect(told.withLock { Set($0) } == ["all: database", "zone: zone Notes"])
    }

    @Test(.timeLimit(.minutes(1))) func `What one handle of a store listens to and follows ends with that handle`()
        async throws
    {
        let directory = try TestDirectory()
        let path = directory.path("N.strata")
        let (first, second) = (try Store.open(at: path), try Store.open(at: path))
        let (box, other) = (try first.listen(as: phone.actor), try second.listen(as: tablet.actor))
        async let followed = first.waitForChange(past: first.offset + 100)
        async let push = box.next()
        try await Task.sleep(for: .milliseconds(20))
        try first.close()
        #expect(await push == nil)
        #expect(try await !followed)
        #expect(!other.isClosed)
        try second.close()
        #expect(other.isClosed)
    }

    @Test func `The canary: a device that is told nothing is noticed`() async throws {
        try subscribe(phone, "all", .database)
        let box = try phone.store.listen(as: tablet.actor)
        try tablet.save("a")
        try await phone.store.settleNotifications()
        #expect(box.waitingCount == 0)
        try phone.save("b")
        try await phone.store.settleNotifications()
        #expect(box.waitingCount == 1)
    }

    @Test func `Fields that are desired come with their values, those of what is deleted do not`() async throws {
        var info = NotificationInfo()
        info.desiredKeys = ["n", "missing"]
        info.alertLocalizationArguments = ["title"]
        info.shouldBadge = true
        try subscribe(phone, "made", .query, type: "Note", [.creation, .deletion], info)
        let box = try phone.store.listen(as: phone.actor)
        try tablet.save("a", ["n": .int64(1), "title": .string("T"), "other": .int64(2)])
        let push = try #require(await box.next())
        #expect(push.fields == ["n": .int64(1), "title": .string("T")] && push.badge == 1)
        #expect(tablet.codes(deletes: ["a"]) == [nil])
        let deletion = try #require(await box.next())
        #expect(deletion.fields.isEmpty && deletion.badge == 2 && deletion.id != push.id)
    }
}

extension Push {
    fileprivate var text: String {
        switch subject {
        case .database: "\(subscriptionID): database"
        case .zone(let zone): "\(subscriptionID): zone \(zone.name)"
        case .record(let id, let reason): "\(subscriptionID): \(reason) \(id.name)"
        }
    }
}
