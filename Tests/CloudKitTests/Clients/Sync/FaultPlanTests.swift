import CloudKit
import StrataSystem
import TestSupport
import Testing

/// A small client of two devices under bad luck: whatever fails and gets lost, all come to agree.
@Suite("Clients under a fault plan", .timeLimit(.minutes(60)))
struct FaultPlanTests {
    /// As many as `STRATA_FAULT_RUNS` says; few enough otherwise for the ordinary tests.
    private static let runs = number("STRATA_FAULT_RUNS") ?? 200
    /// So that several processes can share many.
    private static let firstSeed = number("STRATA_FAULT_FIRST") ?? 1

    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    @Test("Whatever goes wrong, devices come to agree and nothing that was written is lost")
    func convergence() async throws {
        var struck = 0
        for seed in Self.firstSeed..<Self.firstSeed + Self.runs {
            let world = try UnluckyWorld(seed: seed)
            try await world.run(steps: 24)
            struck += await world.failures
            let problems = try await world.settledProblems()
            #expect(problems == [], "\(world.plan)")
            if !problems.isEmpty { break }
        }
        // A plan that does nothing would prove nothing.
        #expect(struck > Int(Self.runs))
    }

    @Test("The same seed brings the same luck, another seed another")
    func repetition() async throws {
        var stories: [[String]] = []
        for seed in [7, 7, 8] as [UInt64] {
            let world = try UnluckyWorld(seed: 3, luck: seed)
            try await world.run(steps: 60)
            stories.append(await world.story)
        }
        #expect(stories[0] == stories[1] && stories[0] != stories[2])
        #expect(stories[0].contains { $0.contains("serverResponseLost") })
    }

    @Test("The canary: clients that take a conflict for a success diverge under a plan, and that is noticed")
    func canary() async throws {
        var noticed = false
        for seed in 1...60 as ClosedRange<UInt64> where !noticed {
            let world = try UnluckyWorld(seed: seed, ignoresConflicts: true)
            try await world.run(steps: 24)
            noticed = try await !world.settledProblems().isEmpty
        }
        #expect(noticed)
    }
}

/// Two devices that edit two notes on a store in memory, while a plan makes their requests fail.
private actor UnluckyWorld {
    private static let devices = ["phone", "tablet"]
    private static let names = ["one", "two"]

    let plan: CloudStore.FaultPlan
    private let directory: TestDirectory
    private let store: CloudStore
    private let clients: [SyncClient]
    private var random: SeededGenerator
    private var written: [String: [String: Int]] = [:]
    private(set) var story: [String] = []
    private(set) var failures = 0

    init(seed: UInt64, luck: UInt64? = nil, ignoresConflicts: Bool = false) throws {
        let directory = try TestDirectory()
        self.directory = directory
        random = SeededGenerator(seed: seed)
        var plan = CloudStore.FaultPlan(seed: luck ?? seed)
        plan.requestFailure = 0.15
        plan.itemFailure = 0.1
        plan.lostResponse = 0.15
        plan.expiredToken = 0.1
        self.plan = plan
        let store = try CloudStore.inMemory()
        self.store = store
        clients = try Self.devices.indices.map { index in
            let database = store.container(user: "anna", device: Self.devices[index]).privateCloudDatabase
            return try SyncClient(
                file: URL(fileURLWithPath: directory.path(Self.devices[index] + ".json")), database: database,
                source: ChangeSource(database, seed: UInt64(index)), ignoresConflicts: ignoresConflicts)
        }
        try store.console.setFaultPlan(plan)
    }

    func run(steps: Int) async throws {
        for step in 1...steps {
            let device = random.next(below: clients.count)
            let name = Self.names[random.next(below: Self.names.count)]
            let (choice, isAtomic, inOperation) = (
                random.next(below: 10), random.next(below: 2) == 0, random.next(below: 2) == 0
            )
            switch choice {
            case 0..<4:
                try await clients[device].set(step, forKey: Self.devices[device], of: name)
                written[name, default: [:]][Self.devices[device]] = step
            case 4..<7:
                try await trying("push of \(Self.devices[device])") {
                    try await self.clients[device].push(atomically: isAtomic, inOperation: inOperation)
                }
            default:
                try await trying("pull of \(Self.devices[device])") { try await self.clients[device].pull() }
            }
        }
    }

    /// Bad luck is told and left for later; anything else is a mistake of the store.
    private func trying(_ what: String, _ body: () async throws -> Void) async throws {
        do {
            try await body()
            story.append(what)
        } catch let error as CKError where SyncClient.retryable.contains(error.code) {
            failures += 1
            story.append("\(what): \(error.code)")
        }
    }

    /// What is wrong once everything goes well again and the devices have said what they had to say.
    func settledProblems() async throws -> [String] {
        try store.console.clearFaults()
        for _ in 0..<4 {
            for client in clients {
                try await client.pull()
                try await client.push(atomically: false, inOperation: false)
            }
        }
        for client in clients { try await client.pull() }
        var problems: [String] = []
        let (phone, tablet) = (await clients[0].notes, await clients[1].notes)
        if phone != tablet { problems.append("phone has \(phone), tablet \(tablet)") }
        for (name, values) in written where phone[name] != values {
            problems.append("\(name) is \(phone[name] ?? [:]), and was written as \(values)")
        }
        try store.close()
        return problems
    }
}
