import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

/// Users with several devices that subscribe, listen, leave and restart, while all of them write; against a plain list
/// of what each device must at least be told.
@Suite(.timeLimit(.minutes(5)))
struct NotificationModelTests {
    @Test(arguments: seeds(8))
    func `Each device is told of what others did, and never of what it did itself`(_ seed: UInt64) async throws {
        var world = try PushWorld(seed: seed)
        for step in 0..<600 {
            try await world.step()
            #expect(world.complaints == [], "seed \(seed), step \(step)")
            if !world.complaints.isEmpty { return }
        }
        try await world.end()
        #expect(world.complaints == [], "seed \(seed), the end")
        // Or nothing was asked.
        #expect(world.toldCount > 50)
    }

    @Test(arguments: [PushWorld.Fault.loses, .tellsItself])
    func `The canary: what is lost, and what comes back to its maker, is noticed`(_ fault: PushWorld.Fault) async throws
    {
        var world = try PushWorld(seed: 1)
        world.fault = fault
        for _ in 0..<300 where world.complaints.isEmpty { try await world.step() }
        #expect(!world.complaints.isEmpty)
    }
}

/// A store on disk, its devices, and what is known of what they are to be told.
struct PushWorld {
    enum Fault { case loses, tellsItself }

    /// A subscription and, if it is to a query, a record.
    private struct Topic: Hashable, CustomStringConvertible {
        var subscription: String
        var record: String?
        var description: String { "\(subscription)/\(record ?? "-")" }
    }

    private struct Watched {
        var user: String
        var id: String
        var kind: Subscription.Kind
        var scope: InternedName.Scope
        var zone: String?
        var predicate: String
        var options: Subscription.Options
        /// Which save of it it is.
        var life: Int

        func holds(_ number: Int) -> Bool {
            let bound = Int(predicate.split(separator: " ").last ?? "") ?? 0
            return switch predicate.split(separator: " ").dropFirst().first {
            case ">": number > bound
            case "<=": number <= bound
            case "=": number == bound
            default: true
            }
        }
    }

    private struct Device {
        var user: String
        var name: String
        var box: PushQueue?
        /// What it must be told, and by which life of the subscription.
        var due: [Topic: Int] = [:]
    }

    private struct Change {
        var user: String
        var device: String
        var scope: InternedName.Scope
        var zone: String
        var record: String
        var event: Subscription.Options
        var number: Int
    }

    private var random: SeededGenerator
    private let directory: TestDirectory
    private var client: Client
    private var devices: [Device] = []
    private var watched: [Watched] = []
    private var records: [String: Int] = [:]
    /// Who wrote each commit.
    private var origins: [UInt64: Actor] = [:]
    private var lives = 0
    private(set) var complaints: [String] = []
    private(set) var toldCount = 0
    var fault: Fault?

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        directory = try TestDirectory()
        client = try Self.open(directory)
        for user in ["anna", "berta"] {
            for name in ["phone", "tablet", "watch"] {
                let device = Device(user: user, name: name)
                if name == "phone" { _ = by(device).zones(save: ["A", "B"]) }
                // It counts as one of the user's from now on.
                _ = by(device).codes([.init("begin-\(name)", ["n": .int64(-1)], in: "A", type: "Begin")])
                devices.append(device)
            }
        }
    }

    private static func open(_ directory: TestDirectory) throws -> Client {
        Client(of: try Store.open(at: directory.path("Pushes.strata"))).with { $0.policy = .allKeys }
    }

    private func by(_ device: Device, _ scope: InternedName.Scope = .private) -> Client {
        client.with { ($0.user, $0.device, $0.scope) = (device.user, device.name, scope) }
    }

    private mutating func one<Value>(of values: [Value]) -> Value { values[random.next(below: values.count)] }

    mutating func step() async throws {
        switch random.next(below: 24) {
        case 0: try await restart()
        case 1..<4: try await subscribe()
        case 4..<7: try await listen(random.next(below: devices.count))
        case 7, 8: leave(random.next(below: devices.count))
        case 9..<12: try await drain(random.next(below: devices.count))
        default: write()
        }
    }

    mutating func end() async throws {
        for index in devices.indices { try await listen(index) }
        for index in devices.indices { try await drain(index) }
        try client.store.close()
    }

    // MARK: What devices do

    private mutating func restart() async throws {
        for index in devices.indices { leave(index) }
        try client.store.close()
        client = try Self.open(directory)
    }

    private mutating func listen(_ index: Int) async throws {
        guard devices[index].box == nil else { return }
        devices[index].box = try client.store.listen(as: by(devices[index]).actor)
        // What it missed is found by the subscriptions as they are when it is let in.
        if random.next(below: 4) > 0 { return try await client.store.settleNotifications() }
        leave(index)
    }

    private mutating func leave(_ index: Int) {
        guard let box = devices[index].box else { return }
        box.close()
        devices[index].box = nil
        forgetChanged(index)
    }

    /// A device that does not listen is told by the subscriptions as they are when it does.
    private mutating func forgetChanged(_ index: Int) {
        let device = devices[index]
        guard device.box == nil else { return }
        devices[index].due = device.due.filter { topic, life in
            watched.contains { $0.user == device.user && $0.id == topic.subscription && $0.life == life }
        }
    }

    private mutating func subscribe() async throws {
        let device = one(of: devices)
        let kind = one(of: [Subscription.Kind.database, .recordZone, .query, .query, .query])
        let scope: InternedName.Scope = kind == .query && random.next(below: 2) == 0 ? .public : .private
        let id = "\(kind == .query ? "q" : "s")-\(scope)-\(random.next(below: 3))"
        if random.next(below: 4) == 0 {
            let request = Request(
                database: by(device, scope).database, names: RequestNames(),
                .modifySubscriptions(.init(deletes: [id])))
            guard by(device, scope).ask(request).map(\.result).codes == [nil] else { return }
            watched.removeAll { $0.user == device.user && $0.id == id }
        } else {
            lives += 1
            let zone = kind == .recordZone ? one(of: ["A", "B"]) : nil
            let predicate = one(of: ["n > 5", "n <= 3", "n = 4", "n = 2", "TRUEPREDICATE"])
            let options = Subscription.Options(rawValue: UInt64(1 + random.next(below: 7)))
            var names = RequestNames()
            // So that none says the same as another.
            var info = NotificationInfo()
            info.alertBody = "\(lives)"
            let subscription = Subscription(
                id, kind, zone: zone.map { names.ordinal(of: ZoneID($0)) } ?? 0,
                recordType: kind == .query ? names.ordinal(ofType: "Note") : 0,
                predicate: kind == .query ? predicate : "", options: kind == .query ? options : [],
                notification: info)
            let request = Request(
                database: by(device, scope).database, names: names, .modifySubscriptions(.init(saves: [subscription])))
            guard by(device, scope).ask(request).map(\.result).codes == [nil] else { return }
            watched.removeAll { $0.user == device.user && $0.id == id }
            watched.append(
                Watched(
                    user: device.user, id: id, kind: kind, scope: scope, zone: zone, predicate: predicate,
                    options: options, life: lives))
        }
        for index in devices.indices { forgetChanged(index) }
    }

    private mutating func write() {
        let device = one(of: devices)
        let scope = one(of: [InternedName.Scope.private, .private, .public])
        let zone = scope == .public ? "_defaultZone" : one(of: ["A", "B"])
        // Only who made a public record may change it.
        let name = scope == .public ? "\(device.user)-\(random.next(below: 3))" : "r\(random.next(below: 4))"
        let place = "\(scope == .public ? "" : device.user)/\(zone)/\(name)"
        let known = records[place]
        let number = random.next(below: 9)
        let client = by(device, scope)
        let deletes = known != nil && random.next(below: 4) == 0
        let request =
            deletes
            ? client.request([], deletes: [.init(name, in: zone)])
            : client.request([
                .init(name, ["n": .int64(Int64(number)), "c": .int64(Int64(bitPattern: random.next()))], in: zone)
            ])
        guard let answer = try? client.ask(request).get(), let offset = answer.offset,
            Result<RequestResult, Refusal>.success(answer.result).codes == [nil]
        else {
            complaints.append("a write by \(device.user) to \(place) was refused")
            return
        }
        origins[offset] = client.actor
        records[place] = deletes ? nil : number
        note(
            Change(
                user: device.user, device: device.name, scope: scope, zone: zone, record: name,
                event: deletes ? .deletion : known == nil ? .creation : .update,
                number: deletes ? known ?? 0 : number))
    }

    // MARK: What is to come of it

    private mutating func note(_ change: Change) {
        for one in watched where one.scope == change.scope {
            guard change.scope == .public || one.user == change.user else { continue }
            var topic = Topic(subscription: one.id)
            switch one.kind {
            case .database: break
            case .recordZone: guard one.zone == change.zone else { continue }
            case .query:
                guard one.options.contains(change.event), one.holds(change.number) else { continue }
                topic.record = "\(change.zone)/\(change.record)"
            }
            for index in devices.indices where devices[index].user == one.user {
                guard change.user != one.user || devices[index].name != change.device else { continue }
                devices[index].due[topic] = one.life
            }
        }
    }

    private mutating func drain(_ index: Int) async throws {
        guard let box = devices[index].box else { return }
        try await client.store.settleNotifications()
        var told: Set<Topic> = []
        while box.waitingCount > 0, let push = await box.next() {
            toldCount += 1
            let device = devices[index]
            if push.user != device.user { complaints.append("\(device.user) is told by \(push.user)'s") }
            var origin = origins[push.version.offset]
            if fault == .tellsItself { origin = by(device).actor }
            if origin == by(device).actor { complaints.append("\(device.user)'s \(device.name) is told of itself") }
            var topic = Topic(subscription: push.subscriptionID)
            if case .record(let id, _) = push.subject { topic.record = "\(id.zone.name)/\(id.name)" }
            if fault != .loses { told.insert(topic) }
        }
        let missed = Set(devices[index].due.keys).subtracting(told)
        if !missed.isEmpty { complaints.append("\(devices[index].user)'s \(devices[index].name) misses \(missed)") }
        devices[index].due = [:]
    }
}
