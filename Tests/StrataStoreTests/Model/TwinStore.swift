import ModelComparison
import ReferenceModel
import StrataLog
import StrataModel
import StrataQuery
import StrataReplication
import StrataRules
import StrataSystem
import StrataTree
import StrataViews
import TestSupport

@testable import StrataStore

/// A store and the plain model, asked the same things.
///
/// The two number versions differently; which stands for which is learned, and must stay one to one.
struct TwinStore {
    enum Ground: String, CaseIterable, Sendable {
        case memory, hostile, segmented
        /// Three stores on one hostile sequencer, of which each request goes to any.
        case replicated

        /// The stores with a log of their own.
        static let allCases: [Ground] = [.memory, .hostile, .segmented]
    }

    let ground: Ground
    private(set) var reference: ReferenceStore
    private var generator: RequestGenerator
    private var dice: SeededGenerator
    private let clock = ManualTime(microseconds: 0)
    private var disk = SimulatedDisk()
    private var memory: HostileLog?
    private(set) var store: Store {
        didSet { if copies.isEmpty || reference.commitCount == 0 { secret.learn(from: store) } }
    }
    /// The secret from which users' record names are derived.
    private let secret = LearnedSecret()
    /// All stores of the same log; empty if there is only one.
    private var copies: [Store] = []
    private var versions = VersionTable()
    private var shares = ShareTable()
    private var followers = SharedFollowers()
    private let hasShares: Bool
    /// Time of the last commit.
    private var lastTime = Int64.min
    private(set) var requestCount = 0
    private(set) var lostAnswers = 0
    /// Requests that came to nothing by the rules.
    private var refusedCount = 0
    private var hasCrashed = false
    private(set) var compactions = 0
    /// All commits, folded as they came: no base was ever between.
    private var uncompacted: TreeStore?
    private static let path = "/store"

    private let options: StoreOptions

    init(
        _ ground: Ground, seed: UInt64, mutation: ReferenceStore.Mutation? = nil, recordsRefusals: Bool = true,
        hasRoles: Bool = false, hasShares: Bool = false, confirmsEnd: Bool = true
    ) throws {
        self.ground = ground
        self.hasShares = hasShares
        let limits = hasShares ? ReferenceLimits.ofShares : .small
        options = Self.options(limits, recordsRefusals: recordsRefusals)
        reference = ReferenceStore(
            limits: limits, mutation: mutation, userRecordName: { [secret] user in secret.recordName(of: user) })
        generator = RequestGenerator(seed: seed, limits: limits, hasRoles: hasRoles, hasShares: hasShares)
        dice = SeededGenerator(seed: seed &+ 99)
        switch ground {
        case .memory: memory = HostileLog(.init(), seed: 0)
        case .hostile:
            memory = HostileLog(
                .init(
                    gaps: seed % 2 == 0 ? 200 : 0, partialAcceptance: 200, conflicts: 100, refusals: 100,
                    unknownOutcomes: 50), seed: seed)
        case .segmented: memory = nil
        case .replicated:
            let sequence = MemorySequencer.Sequence()
            // The files of the generator's assets.
            for number in 0..<50 as Range<UInt128> {
                let hash = ContentHash(first: number, second: 1)
                disk.setContent(Array(repeating: 1, count: 9), of: AssetPaths("/files").file(of: hash))
            }
            for number in 0..<3 as Range<UInt64> {
                let sequencer = HostileSequencer(sequence, .everything, seed: 3 &* seed &+ number)
                copies.append(try Self.replicated(by: sequencer, clock, options, disk, confirmsEnd: confirmsEnd))
            }
            store = copies[0]
            secret.learn(from: store)
            return
        }
        store = try Self.open(memory, disk, clock, options)
        secret.learn(from: store)
    }

    private static func replicated(
        by sequencer: HostileSequencer, _ clock: ManualTime, _ options: StoreOptions, _ files: SimulatedDisk,
        confirmsEnd: Bool
    ) throws -> Store {
        var options = options
        options.place = LogPlace(address: "hostile") { _ in sequencer }.withFiles(in: "/files")
        let platform = Platform(files: SimulatedDisk(), time: clock)
        for _ in 0..<1_000 {
            do {
                let log = try ReplicatedLog.open(
                    at: path, sequencer: sequencer, options: .init(outcomeMilliseconds: 30), log: options.log,
                    platform: platform)
                return try Store(
                    on: confirmsEnd ? log : UnconfirmedLog(log), options: options,
                    platform: Platform(files: files, time: clock))
            } catch let error as StrataError where [.inputOutput, .outcomeUnknown, .unreachable].contains(error.code) {
                continue
            }
        }
        throw Divergence(description: "the log never opens")
    }

    /// The limits of generated requests, and many segments and states.
    static func options(_ small: ReferenceLimits = .small, recordsRefusals: Bool) -> StoreOptions {
        var options = StoreOptions.service
        small.apply(to: &options)
        options.segmentBytes = 64 << 10
        // With a batch or at the end, so that their times are none that nobody knows of.
        options.recordsRefusals = recordsRefusals
        options.auditDelayMilliseconds = 3_600_000
        // Some states of the past are kept, and not for long.
        options.pasts.intervalBytes = 1_500
        options.pasts.nearCommits = 2
        options.pasts.maximumBytes = 1 << 20
        options.trees.generationBytes = 128 << 10
        return options
    }

    private static func open(
        _ memory: HostileLog?, _ disk: SimulatedDisk, _ clock: ManualTime, _ options: StoreOptions
    ) throws -> Store {
        let platform = Platform(files: disk, time: clock)
        if let memory { return try Store(on: memory, options: options, platform: platform) }
        return try Store.open(at: path, options: options, platform: platform)
    }

    var log: any EventLog { store.log }
    private var stores: [Store] { copies.isEmpty ? [store] : copies }

    // MARK: Asking

    /// Asks both one thing, and compares what they answer and what they are then.
    mutating func step() throws {
        if !copies.isEmpty { store = copies[dice.next(below: copies.count)] }
        let step = generator.next(for: reference)
        requestCount += 1
        clock.advance(byMicroseconds: step.time - clock.nowMicroseconds())
        let request = shares.translated(versions.translated(step.request))
        let before = reference
        for store in stores { lastTime = max(lastTime, store.log.endTime ?? .min) }
        let time = max(step.time, lastTime)
        let expected = Self.result { () throws(Refusal) in
            try reference.modify(step.request, as: step.actor, time: time)
        }
        if reference.commitCount > before.commitCount { lastTime = time }
        for _ in 0..<50 {
            let found = Result { try store.modify(request, as: step.actor) }
            switch found {
            case .failure(let error as Refusal) where error.code == .serviceUnavailable:
                // What an audit came to that rode with an answered request may be unknown too.
                if store.pipeline.state.withLock({ $0.refusal != nil }) { try reopenRefusing() }
                continue
            case .failure(let error as Refusal) where error.code == .serverResponseLost:
                return try afterLostAnswer(before)
            case .failure(let error as Refusal) where compactions > 0 && error.code == .serverRejectedRequest:
                // A request that came before: what it was answered has gone with its commit, and it does nothing again.
                guard case .modifyRecords(let body) = request.content, body.clientToken != nil,
                    reference.commitCount == before.commitCount
                else { throw Divergence(description: "\(error) to \(step)") }
            case .failure(let error as Refusal):
                refusedCount += 1
                try versions.compare(expected, .failure(error), step, hasShares: hasShares)
            case .failure(let error): throw Divergence(description: "\(error) to \(step)")
            case .success(let answer):
                if answer.offset == nil, !Self.isWhole(answer.result) { refusedCount += 1 }
                try versions.compare(expected, .success(answer.result), step, hasShares: hasShares)
                if answer.offset == nil, reference.commitCount > before.commitCount {
                    throw Divergence(description: "only the model wrote anything for \(step)")
                }
                if answer.snapshot.offset < answer.offset ?? 0 {
                    throw Divergence(description: "the answer's state lacks its commit")
                }
            }
            try foldUncompacted()
            return try compareStates(step)
        }
        throw Divergence(description: "the log never took a request")
    }

    private static func isWhole(_ result: RequestResult) -> Bool {
        result.deletes.allSatisfy { $0 == nil } && result.saves.allSatisfy { (try? $0.get()) != nil }
    }

    /// Each refusal is in the log once, or waits; some are lost where nobody knows what was written.
    func checkAudits() throws {
        var found = stores.reduce(0) { count, store in
            count + store.pipeline.audits.waiting.count { $0.event.kind == .requestRefused }
        }
        var cursor = try log.read(from: 1)
        while let commit = try cursor.next() {
            found += try Envelope(decoding: commit.payload).events.count { $0.kind == .requestRefused }
        }
        guard lostAnswers > 0 || hasCrashed ? found <= refusedCount : found == refusedCount, found > 0 else {
            throw Divergence(description: "\(refusedCount) requests were refused, \(found) are noted")
        }
    }

    private static func result(
        _ body: () throws(Refusal) -> RequestResult
    ) -> Result<RequestResult, Refusal> {
        do throws(Refusal) { return .success(try body()) } catch { return .failure(error) }
    }

    private mutating func reopenRefusing() throws {
        lostAnswers += 1
        if !copies.isEmpty { return try confirm(store) }
        try store.close()
        memory?.reopen()
        store = try Self.open(memory, disk, clock, options)
    }

    /// Waits until a store of several has the end of the log, without being opened again.
    private func confirm(_ store: Store) throws {
        guard eventually({ store.pipeline.acceptsWrites && (try? store.confirm()) != nil }) else {
            throw Divergence(description: "an outcome stays unknown")
        }
    }

    /// Brings all stores up to date, and compares them.
    func compareCopies() throws {
        for copy in copies { try confirm(copy) }
        let digests = try store.snapshot().digests()
        for copy in copies where try copy.snapshot().digests() != digests || copy.log.end != log.end {
            throw Divergence(description: "two copies differ")
        }
    }

    func close() throws {
        for store in stores { try store.close() }
    }

    /// The request was applied or not, as a whole.
    private mutating func afterLostAnswer(_ before: ReferenceStore) throws {
        try reopenRefusing()
        let known = (versions, shares)
        do {
            try compareStates(nil)
        } catch is Divergence {
            (versions, shares) = known
            reference = before
            lastTime = log.endTime ?? .min
            try compareStates(nil)
        }
    }

    /// Closes and opens again; sometimes without the views, which are then folded anew.
    mutating func reopen() throws {
        try compareCopies()
        let digests = try store.snapshot().digests()
        let again = try Views.inMemory(log, options: TreeStoreOptions())
        guard try again.trees.snapshot().digests() == digests
        else { throw Divergence(description: "folding the log again gives another digest") }
        guard ground == .segmented else { return }
        try store.close()
        if dice.next(below: 3) == 0 { try TreeStore.removeAll(in: Self.path, files: disk) }
        store = try Self.open(memory, disk, clock, options)
        guard try store.snapshot().digests() == digests else {
            throw Divergence(description: "the store has another digest after it was opened again")
        }
        try requireDigest()
    }

    /// Lets go of everything up to a commit, which is a random one by default.
    mutating func compact(to horizon: UInt64? = nil) throws {
        let floor = log.floor.offset
        guard ground == .segmented, log.end.offset > floor else { return }
        if uncompacted == nil { uncompacted = try Views.emptyTrees(options: TreeStoreOptions()) }
        try foldUncompacted()
        let offset = horizon ?? floor + 1 + UInt64(dice.next(below: Int(log.end.offset - floor)))
        let done = try store.compact(before: offset + 1)
        guard done.horizon == offset, try log.base()?.offset == offset else {
            throw Divergence(description: "the base is at \(String(describing: try log.base())), not at \(offset)")
        }
        compactions += 1
        try requireDigest()
    }

    private func foldUncompacted() throws {
        if let uncompacted { try Replay(log: log, trees: uncompacted).run() }
    }

    /// That the store has the state of one that was never compacted.
    private func requireDigest() throws {
        guard let uncompacted else { return }
        try foldUncompacted()
        guard try uncompacted.snapshot().digests() == store.snapshot().digests() else {
            throw Divergence(description: "a store that was never compacted has another digest")
        }
    }

    /// Power goes, and comes back.
    mutating func crash() throws {
        guard ground == .segmented else { return }
        let digests = try store.snapshot().digests()
        let old = store
        hasCrashed = true
        disk = disk.afterPowerLoss(seed: dice.next())
        try old.close()
        store = try Self.open(memory, disk, clock, options)
        guard try store.snapshot().digests() == digests else {
            throw Divergence(description: "what was acknowledged is not there after a loss of power")
        }
    }

    // MARK: Comparing

    private mutating func compareStates(_ step: RequestGenerator.Step?) throws {
        do {
            let comparison = StateComparison(reference.state, store.snapshot())
            try comparison.run(&versions, &shares)
            let shared = SharedComparison(expected: reference, found: store.snapshot())
            if hasShares { try shared.run(&versions, &shares) }
        } catch let error as Divergence {
            throw Divergence(description: "\(error)\n\(step.map { "\($0)" } ?? "after a lost answer")")
        }
    }

    /// What members query, and what has changed for them since any of the times at which they asked.
    mutating func followShares() throws {
        try SharedComparison(expected: reference, found: store.snapshot()).compareQueries(store)
        try followers.follow(reference, store, 1 + dice.next(below: 4))
    }

    /// What each user, and somebody who is not signed in, finds in the public database, page by page.
    func compareReading() throws {
        for user in RequestGenerator.users + [""] {
            for type in ["Note", "Task"] { try compareQuery(type, Actor(user: user)) }
        }
    }

    private func compareQuery(_ type: String, _ actor: Actor) throws {
        let state = reference.state
        let zone = state.databases[DatabaseID(.public)]?.zones[.defaultZone]
        let readable = zone?.records.filter { state.mayRead($0.value, actor.user) } ?? [:]
        let wanted = readable.filter { $0.value.type == ReferenceName(type) }.keys.sorted().map(\.text)
        var found: [String] = []
        var refusal: Refusal?
        do {
            var question = Question.new(Query(type, where: .constant(true)))
            while true {
                let page = try store.query(question, in: DatabaseID(.public), limit: 2, as: actor)
                found += page.matches.map(\.id.name)
                guard let cursor = page.cursor else { break }
                question = .continued(cursor)
            }
        } catch let error as Refusal where error.code == .permissionFailure {
            refusal = error
        } catch let error as Refusal where error.code == .unknownItem && wanted.isEmpty { return }
        guard (refusal == nil) == state.mayQuery(ReferenceName(type), actor.user),
            found.map({ ReferenceName($0) }).sorted().map(\.text) == wanted,
            refusal == nil || refusal?.rule == .readGrants
        else {
            throw Divergence(description: "\(actor.user) finds \(found) of \(type), not \(wanted): \(refusal as Any)")
        }
    }

    /// What feeds would show: the changes of each living zone since its life began.
    mutating func compareFeeds() throws {
        try StateComparison(reference.state, store.snapshot()).compareFeeds(log, &versions)
    }
}
