import StrataLog
import StrataModel
import StrataStore
import StrataSystem
import StrataViews

/// Compares a store with what its writers were told: each acknowledged request is there, each other one whole or not at
/// all, every way of reading gives the same, and what was erased is in no file.
struct StoreCheck {
    private let settings: ChildSettings
    private let told: [Int: Acknowledgements.Told]
    private let platform = Platform()

    init(_ settings: ChildSettings) {
        self.settings = settings
        told = Acknowledgements.read(settings.acknowledgements)
    }

    func run() throws {
        reportErrors()
        let report = LogVerifier.verify(at: settings.store)
        if let damage = report.damage { Telling.wrong("verify finds damage where there was none: \(damage)") }
        var store = try Store.open(at: settings.store, options: settings.storeOptions)
        let plans = try compare(store)
        let digests = try store.snapshot().digests()
        try store.close()
        try verifyDeeply()
        if settings.seed % 2 == 0 {
            for name in try platform.files.list(settings.store + "/views") {
                try platform.files.remove("\(settings.store)/views/\(name)")
            }
            store = try Store.open(at: settings.store, options: settings.storeOptions)
            if try store.snapshot().digests() != digests { Telling.wrong("the log folds to another state than before") }
            try store.close()
        }
        try SecretSearch(in: settings.store).run(plans)
        for plan in plans { Telling.say("number \(plan.content.writer) \(plan.number)") }
        Telling.say("done")
    }

    /// Where nothing was done to the system, no request may fail.
    private func reportErrors() {
        Telling.count("failed requests", told.values.filter { $0.error != nil }.count)
        guard !settings.toleratesErrors else { return }
        for (writer, told) in told {
            if let error = told.error { Telling.wrong("writer \(writer), request \(told.begun): \(error)") }
        }
    }

    private func verifyDeeply() throws {
        let report = try DeepVerifier.verify(at: settings.store)
        guard !report.isWhole else { return }
        var reasons = report.frameDamage.map { "\($0)" }
        reasons += report.differences.map { "\($0.entry)" }
        reasons += report.assetProblems.map { "\($0.path) \($0.kind)" }
        if let damage = report.logDamage { reasons.append("\(damage)") }
        Telling.wrong("verify --deep: \(reasons.prefix(3).joined(separator: "; "))")
    }

    // MARK: Writers

    private func compare(_ store: Store) throws -> [WriterPlan] {
        try checkCommits(store)
        var plans: [WriterPlan] = []
        var (acknowledged, incremented, mayBeIncremented) = (0, 0, 0)
        for writer in 0..<WritingRun.writerCount {
            let told = told[writer] ?? .init()
            var plan = WriterPlan(seed: settings.seed, writer: writer, maintains: writer == WritingRun.maintainer)
            plan.advance(to: settings.numbers[writer])
            let before = plan
            plan.advance(to: max(told.acknowledged, before.number))
            acknowledged += plan.number - before.number
            incremented += plan.increments - before.increments
            var next = plan
            next.advance(to: max(told.begun, plan.number))
            mayBeIncremented += next.increments - plan.increments
            let standing = try standing(store, acknowledged: plan, begun: next)
            try FeedCheck(settings, store).run(from: before, to: standing)
            plans.append(standing)
        }
        Telling.count("acknowledged", acknowledged)
        let counter = try counter(store)
        let expected = settings.counter + incremented...settings.counter + incremented + mayBeIncremented
        if counter < expected.lowerBound {
            Telling.lost("the counter is \(counter), expected \(expected)")
        } else if counter > expected.upperBound {
            Telling.wrong("the counter is \(counter), expected \(expected)")
        }
        Telling.say("number \(WritingRun.writerCount) \(counter)")
        return plans
    }

    /// The plan up to the request that the store has last.
    private func standing(_ store: Store, acknowledged: WriterPlan, begun: WriterPlan) throws -> WriterPlan {
        let found = try FoundState(store, acknowledged.content)
        var differences: [String] = []
        for plan in [begun, acknowledged] {
            let difference: String?
            do { difference = try found.firstDifference(from: plan) } catch { difference = "\(error)" }
            guard let difference else {
                try found.checkOtherReads(store)
                return plan
            }
            differences.append("request \(plan.number): \(difference)")
        }
        Telling.lost("\(begun.user) has neither of two states; \(differences.joined(separator: "; "))")
        return begun
    }

    /// Each commit that was acknowledged with its offset is at that offset, unless its history was compacted.
    private func checkCommits(_ store: Store) throws {
        var operations: [UInt64: String] = [:]
        let floor = store.log.floor.offset
        var cursor = try store.log.read(from: floor + 1)
        while let commit = try cursor.next() {
            operations[commit.offset] = try Envelope(decoding: commit.payload).header.operationID
        }
        for (writer, told) in told {
            for (number, offset) in told.offsets where offset > floor {
                guard let operation = operations[offset] else {
                    Telling.lost("commit \(offset) of writer \(writer), request \(number)")
                    continue
                }
                // An erasure may have taken the request's own words, but never puts others there.
                if operation != "\(writer)-\(number)" {
                    Telling.wrong("commit \(offset) is of \(operation), and was acknowledged to \(writer)-\(number)")
                }
            }
        }
    }

    private func counter(_ store: Store) throws -> Int {
        let shared = Actor(user: WriterContent.counterUser)
        let id = RecordID(WriterContent.counterName, zone: ZoneID("_defaultZone"))
        guard case .success(let record) = try store.fetch([id], in: DatabaseID(.private), as: shared)[0] else {
            return 0
        }
        guard case .int64(let count)? = try record["count"] else { return 0 }
        return Int(count)
    }
}
