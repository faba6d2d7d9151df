import ModelComparison
import ReferenceModel
import StrataModel
import StrataStore
import StrataSystem
import StrataViews
import TestSupport

/// One random history of owners and members of shares: a store in memory, and beside it the plain model of the rules.
///
/// Writes follow from the seed, and so does what is read between them. Every answer is compared with the model's, and
/// after each write everything that it changed, as each user finds it.
struct SharedHistory {
    /// A fault that is put in on purpose.
    enum Fault: String, Sendable {
        /// The model lets those stay members who left or were removed.
        case staying
        /// Devices overlook what a feed says is gone.
        case overlooking
        /// The answer to a request that was committed says that it failed.
        case misanswering
    }

    private static let length = 150
    private static let comparedEvery = 25
    /// The first operations are writes, since there is nothing to read.
    private static let firstWrites = 20

    let store: Store
    let fault: Fault?
    var reference: ReferenceStore
    var generator: RequestGenerator
    var dice: SeededGenerator
    var versions = VersionTable()
    var shares = ShareTable()
    private var followers = SharedFollowers()
    private let clock = ManualTime(microseconds: 0)
    var operations = 0
    var races = 0

    init(seed: UInt64, fault: Fault?) throws {
        self.fault = fault
        var options = StoreOptions.service
        ReferenceLimits.ofShares.apply(to: &options)
        options.recordsRefusals = seed % 2 == 0
        store = try Store.inMemory(
            options: options, platform: Platform(time: clock, random: SeededRandom(seed: seed)))
        let snapshot = store.snapshot()
        let users = RequestGenerator.users + ["", Actor.service.user]
        let names = try Dictionary(uniqueKeysWithValues: users.map { ($0, try snapshot.recordName(of: $0)) })
        reference = ReferenceStore(
            limits: .ofShares, mutation: fault == .staying ? .removedMembersStay : nil,
            userRecordName: { names[$0] ?? "" })
        generator = RequestGenerator(seed: seed, limits: .ofShares, hasShares: true)
        dice = SeededGenerator(seed: ~seed)
    }

    mutating func run() throws {
        defer { try? store.close() }
        // The note of a refusal would make a user known, too, at a time that the model does not know.
        for user in RequestGenerator.users {
            let request = Request.zones(saving: [ZoneID("Notes")])
            try write(.init(request: request, actor: Actor(user: user, device: "phone"), time: generator.time))
        }
        var compared = 0
        while operations < Self.length {
            let kind = dice.next(below: 100)
            if operations < Self.firstWrites || kind < 45 {
                try write(generator.next(for: reference))
            } else if kind < 90 {
                try read()
            } else {
                try race()
            }
            guard operations >= compared + Self.comparedEvery else { continue }
            compared = operations
            try compareEverything()
        }
        try compareEverything()
        for user in reference.readers {
            let pageSize = 1 + dice.next(below: 4)
            try followers.followDatabase(of: user, reference, store, pageSize, recent: 2, oldest: 1)
            try followers.followZones(of: user, reference, store, pageSize, recent: 4, oldest: 1)
        }
        // Notes of refusals may come at any time.
        if store.options.recordsRefusals { return }
        guard try Views.inMemory(store.log).trees.snapshot().digests() == store.snapshot().digests() else {
            throw Divergence(description: "the log folds to another state")
        }
    }

    // MARK: Writing

    func translated(_ request: Request) -> Request { shares.translated(versions.translated(request)) }

    mutating func write(_ step: RequestGenerator.Step) throws {
        operations += 1
        clock.advance(byMicroseconds: step.time - clock.nowMicroseconds())
        let before = reference
        var offset: UInt64?
        let found: Result<RequestResult, Refusal>
        do {
            let answer = try store.modify(translated(step.request), as: step.actor)
            offset = answer.offset
            found = .success(answer.result)
        } catch let refusal as Refusal { found = .failure(refusal) }
        let time = try offset.flatMap { try store.log.commit(at: $0)?.time } ?? step.time
        let expected = Result { () throws(Refusal) in
            try reference.modify(step.request, as: step.actor, time: time)
        }
        try versions.compare(expected, found, step, hasShares: true)
        guard offset != nil || reference.commitCount == before.commitCount else {
            throw Divergence(description: "only the model wrote anything for \(step)")
        }
        try compareChanged(since: before.state)
    }

    // MARK: Reading

    private mutating func read() throws {
        operations += 1
        let readers = reference.readers
        guard !readers.isEmpty else { return }
        let user = readers[dice.next(below: readers.count)]
        let zones = zones(notOf: user)
        let comparison = SharedComparison(expected: reference, found: store.snapshot())
        let pageSize = 1 + dice.next(below: 4)
        switch dice.next(below: 10) {
        case 0..<4 where !zones.isEmpty:
            let zone = zones[dice.next(below: zones.count)]
            try comparison.compareFetch(of: zone, to: user, &versions, &shares)
        case 4..<7 where !zones.isEmpty:
            let zone = zones[dice.next(below: zones.count)]
            let type = SharedComparison.types[dice.next(below: SharedComparison.types.count)]
            try comparison.compareQuery(type, of: zone, to: user, store)
        case 7:
            try followers.followDatabase(of: user, reference, store, pageSize, recent: 2, oldest: 0)
        default:
            try followers.followZones(
                of: user, reference, store, pageSize, recent: 2, oldest: dice.next(below: 2))
        }
    }

    private func zones(notOf user: String) -> [ReferenceSharedView.Zone] {
        reference.state.databases.filter { $0.key.scope == .private && $0.key.owner != user }
            .flatMap { id, database in database.zones.keys.map { .init(owner: id.owner, name: $0) } }
            .sorted { ($0.owner, $0.name) < ($1.owner, $1.name) }
    }

    // MARK: Comparing

    /// Compares the zones that differ from those of an earlier state, as every user finds them.
    mutating func compareChanged(since before: ReferenceState) throws {
        let comparison = SharedComparison(expected: reference, found: store.snapshot())
        for (id, database) in reference.state.databases {
            for zone in database.zones.values where before.databases[id]?.zones[zone.name] != zone {
                try comparison.compareHome(zone, in: id, &versions, &shares)
                guard id.scope == .private else { continue }
                let place = ReferenceSharedView.Zone(owner: id.owner, name: zone.name)
                for user in reference.readers where user != id.owner {
                    try comparison.compareFetch(of: place, to: user, &versions, &shares)
                }
            }
        }
    }

    private mutating func compareEverything() throws {
        try compareChanged(since: ReferenceState())
        let comparison = SharedComparison(expected: reference, found: store.snapshot())
        try comparison.run(&versions, &shares)
        try comparison.compareQueries(store)
    }
}
