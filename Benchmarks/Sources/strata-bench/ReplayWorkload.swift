import Glibc
import StrataLog
import StrataModel
import StrataQuery
import StrataReplay
import StrataStore
import StrataSystem
import StrataViews

/// The past of a store of a million commits: single records and whole states at random offsets, the search for a
/// commit, the difference of two states, and all of it once more.
struct ReplayWorkload: Workload {
    static let name = "replay"

    enum Part: String, CaseIterable {
        case past, bisect, diff, step, retell
    }

    let size: WorkloadSize
    let folder: String

    init(size: WorkloadSize, folder: String) {
        self.size = size
        self.folder = folder
    }

    /// States that are looked at in a round, of a store that was opened for it.
    private var stateCount: Int { size.isQuick ? 10 : 400 }
    private var recordCount: Int { size.isQuick ? 200 : 1_000 }

    func run(_ progress: (String) -> Void) throws -> [Measurement] {
        let (path, isKept) = try ToolStore.find(in: folder, size, progress)
        defer { if !isKept { removeTree(path) } }
        var all: [Measurement] = []
        for part in Part.allCases where size.includes(part.rawValue) {
            progress("replay: \(part.rawValue)")
            let store = try Store.open(at: path, access: .readOnly)
            defer { try? store.close() }
            switch part {
            case .past:
                // Each round opens the store for itself: what was kept of one is nothing to the next.
                try store.close()
                all += try past(path)
            case .bisect: all += try bisections(store)
            case .diff: all += try differences(store)
            case .step: all += try steps(store)
            case .retell: all += try replays(store, path)
            }
        }
        return all
    }

    func measured(
        _ metric: String, _ unit: String, _ bar: Measurement.Bar, _ figures: [Double]
    ) -> Measurement {
        Measurement(workload: Self.name, metric: metric, unit: unit, strata: figures, bar: bar)
    }

    func milliseconds(_ body: () throws -> Void) rethrows -> Double {
        let start = secondsNow()
        try body()
        return (secondsNow() - start) * 1e3
    }

    // MARK: States

    private func past(_ path: String) throws -> [Measurement] {
        let random = SeededRandom(seed: 5)
        var (points, states): ([[Double]], [[Double]]) = ([], [])
        let gauge = MemoryGauge()
        for _ in 0..<size.rounds {
            let store = try Store.open(at: path, access: .readOnly)
            defer { try? store.close() }
            points.append(
                try (0..<recordCount).map { _ in
                    let offset = 1 + random.next() % store.offset
                    let (id, actor) = note(Int(random.next() % 100_000))
                    return try milliseconds {
                        _ = try store.snapshot().record(id, asOf: offset, in: DatabaseID(.private), as: actor)
                    }
                })
            states.append(
                try (0..<stateCount).map { _ in
                    let offset = 1 + random.next() % store.offset
                    return try milliseconds {
                        let past = try store.asOf(offset)
                        _ = try past.query(.new(Self.any), in: DatabaseID(.private), limit: 1, as: note(0).actor)
                        try past.close()
                    }
                })
        }
        func part(_ rounds: [[Double]], _ share: Double) -> [Double] {
            rounds.map { $0.sorted()[min($0.count - 1, Int(Double($0.count) * share))] }
        }
        return [
            measured("a record as of a random offset, p50", "ms", .atMost(10), part(points, 0.5)),
            measured("a record as of a random offset, p99", "ms", .atMost(50), part(points, 0.99)),
            measured("the first query as of a random offset", "ms", .none, states.map { $0[0] }),
            measured("a query as of a random offset, p50", "ms", .atMost(100), part(states, 0.5)),
            measured("a query as of a random offset, p99", "ms", .atMost(500), part(states, 0.99)),
            measured("as of: memory", "MiB", .atMost(256), [gauge.extraMebibytes]),
        ]
    }

    private static var any: Query {
        Query("Note", where: .constant(true), zone: ToolStore.zone(ofNote: 0))
    }

    func note(_ number: Int) -> (id: RecordID, actor: Actor) {
        (
            RecordID(ToolStore.note(number), zone: ToolStore.zone(ofNote: number)),
            Actor(user: ToolStore.users[number % ToolStore.users.count])
        )
    }

    // MARK: Commits

    private func bisections(_ store: Store) throws -> [Measurement] {
        let (id, actor) = note(ToolStore.askedNote)
        var one = BisectionQuestion(
            "Note", where: try PredicateParser.parse("rank >= 0"), in: DatabaseID(.private), as: actor)
        one.record = id.name
        let any = BisectionQuestion(
            "Note", where: try PredicateParser.parse("rank > 8 AND title BEGINSWITH 'zz'"), in: DatabaseID(.private),
            as: actor)
        func figures(_ question: BisectionQuestion) throws -> [Double] {
            try (0..<size.rounds).map { _ in
                try milliseconds {
                    _ = try Bisection(of: store, question, from: 0, to: store.offset).answer(limit: 1)
                }
            }
        }
        let gauge = MemoryGauge()
        return [
            measured("bisect a record", "ms", .atMost(100), try figures(one)),
            measured("bisect any record", "ms", .atMost(2_000), try figures(any)),
            measured("bisect: memory", "MiB", .atMost(256), [gauge.extraMebibytes]),
        ]
    }

    // MARK: Differences

    private func differences(_ store: Store) throws -> [Measurement] {
        let first = store.offset - 1_000
        let figures = try (0..<size.rounds).map { _ in
            try milliseconds {
                var count = 0
                try StateDifference(of: store, from: first, to: store.offset).forEachRecord { _ in
                    count += 1
                    return true
                }
                guard count > 100 else { throw BenchError(message: "only \(count) records differ") }
            }
        }
        return [measured("the last 1,000 commits' difference", "ms", .atMost(100), figures)]
    }

    // MARK: All of it

    private func replays(_ store: Store, _ path: String) throws -> [Measurement] {
        var events = 0
        let log = try SegmentedLog.open(at: path)
        defer { try? log.close() }
        var cursor = try log.read(from: 1)
        while let commit = try cursor.next() {
            events += try commit.payload.withUnsafeBytes { try EventWalker($0).eventCount }
        }
        let gauge = MemoryGauge()
        let applied = try (0..<size.rounds).map { _ in
            let time = try milliseconds {
                _ = try Views.openForReading(log, store: log.identity.storeID, in: path, from: .log)
            }
            return Double(events) * 1_000 / time
        }
        let appliedMemory = gauge.extraMebibytes
        let judgedGauge = MemoryGauge()
        let judged = try (0..<min(2, size.rounds)).map { _ in
            let time = try milliseconds { try Rerun(of: store).run().close() }
            return Double(events) * 1_000 / time
        }
        return [
            measured("full replay, applied again", "events/s", .atLeast(300_000), applied),
            measured("full replay, applied again: memory", "MiB", .atMost(256), [appliedMemory]),
            measured("full replay, judged again", "events/s", .atLeast(100_000), judged),
            measured(
                "full replay, judged again: memory", "MiB", .atMost(256), [judgedGauge.extraMebibytes]),
        ]
    }
}
