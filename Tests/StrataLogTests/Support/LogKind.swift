import StrataLog
import StrataModel
import StrataReplication
import StrataSystem
import TestSupport
import Testing

/// The logs that the contract suite runs on.
enum LogKind: Sendable, CaseIterable, CustomTestStringConvertible {
    case simulatedDisk, stutteringDisk, realDisk, memory
    /// Every segment is sealed as soon as it is closed, or some time later by the log's own thread.
    case sealed, sealing
    case hostileMemory(seed: UInt64)
    /// A copy in segments of what a sequencer orders.
    case replicated
    case hostileReplicated(seed: UInt64)

    static let allCases: [LogKind] =
        [.simulatedDisk, .stutteringDisk, .realDisk, .memory, .sealed, .sealing, .replicated]
        + seeds(8).map { .hostileMemory(seed: $0) } + seeds(8).map { .hostileReplicated(seed: $0) }

    /// Those that do nothing that the caller did not ask for.
    static let predictable: [LogKind] = [
        .simulatedDisk, .stutteringDisk, .realDisk, .memory, .sealed, .sealing, .replicated,
    ]

    var testDescription: String {
        switch self {
        case .simulatedDisk: "segments on a simulated disk"
        case .stutteringDisk: "segments on a disk with short and interrupted calls"
        case .realDisk: "segments on the real disk"
        case .sealed: "sealed segments on a simulated disk"
        case .sealing: "segments on the real disk, sealed meanwhile"
        case .memory: "memory"
        case .hostileMemory(let seed): "hostile memory, seed \(seed)"
        case .replicated: "a sequencer's entries on a simulated disk"
        case .hostileReplicated(let seed): "a hostile sequencer's entries, seed \(seed)"
        }
    }
}

/// A log under test, and what it takes to append to it whatever it does.
final class LogFixture {
    let log: any EventLog
    /// Commits of the test, in order, as the log says that it took them.
    private(set) var appended: [Commit] = []
    private var commits: CommitSequence
    // Held so that the directory lives as long as the fixture.
    private let directory: TestDirectory?
    private var sealsAll: () throws -> Void = {}

    static let noTouches: TouchFunction = { _ in [] }

    init(_ kind: LogKind, options: LogOptions? = nil, touches: TouchFunction? = nil) throws {
        let touches = touches ?? { try Envelope.touches(of: $0) }
        // Small segments, so that every test crosses some; the step is small enough to be taken often.
        var options = options ?? LogOptions(segmentBytes: 64 << 10, spaceStepBytes: 8 << 10)
        options.maximumWaitingSegments = 0
        commits = CommitSequence(seed: 1, noise: 0.9)
        var directory: TestDirectory?
        switch kind {
        case .simulatedDisk, .stutteringDisk:
            let disk = SimulatedDisk()
            if case .stutteringDisk = kind { disk.stutter(seed: 1) }
            log = try SegmentedLog.open(
                at: "/Notes.strata", options: options, platform: Platform(files: disk), touches: touches)
        case .sealed:
            let segmented = try SegmentedLog.open(
                at: "/Notes.strata", options: options, platform: Platform(files: SimulatedDisk()), touches: touches)
            log = segmented
            sealsAll = { while try segmented.sealNext() {} }
        case .realDisk, .sealing:
            let real = try TestDirectory()
            directory = real
            let segmented = try SegmentedLog.open(at: real.path("Notes.strata"), options: options, touches: touches)
            log = segmented
            if case .sealing = kind { try segmented.startSealing { _ in nil } }
        case .memory: log = MemoryLog(touches: touches)
        case .hostileMemory(let seed): log = HostileLog(.everything, seed: seed, touches: touches)
        case .replicated:
            log = try Self.replicated(by: MemorySequencer(), options, touches)
        case .hostileReplicated(let seed):
            let sequencer = HostileSequencer(MemorySequencer.Sequence(), .everything, seed: seed)
            log = try Self.replicated(by: sequencer, options, touches)
        }
        self.directory = directory
    }

    private static func replicated(
        by sequencer: any Sequencer, _ options: LogOptions, _ touches: @escaping TouchFunction
    ) throws -> ReplicatedLog {
        for _ in 0..<100 {
            do {
                // Patience for a few tries only, so that unknown outcomes occur.
                return try ReplicatedLog.open(
                    at: "/Notes.strata", sequencer: sequencer, options: .init(outcomeMilliseconds: 60), log: options,
                    platform: Platform(files: SimulatedDisk()), touches: touches)
            } catch let error as StrataError where [.inputOutput, .outcomeUnknown, .unreachable].contains(error.code) {
                continue
            }
        }
        throw Mismatch("the log never opens")
    }

    /// A log that somebody else made.
    init(_ log: any EventLog) {
        self.log = log
        commits = CommitSequence(seed: 1, noise: 0.9)
        directory = nil
    }

    func make(_ count: Int, events: Int = 2, bytesPerEvent: Int = 60) -> [NewCommit] {
        commits.next(count, events: events, bytesPerEvent: bytesPerEvent)
    }

    func makeRaw(_ count: Int, isRandom: Bool) -> NewCommit { commits.raw(count, isRandom: isRandom) }

    /// Appends all of them, through every conflict, refusal, prefix and unknown outcome.
    @discardableResult
    func append(_ commits: [NewCommit]) throws -> [Position] {
        var positions: [Position] = []
        var expecting = log.end
        var tries = 0
        while positions.count < commits.count {
            tries += 1
            try check(tries < 1_000, "an append never ends")
            do throws(AppendFailure) {
                let appended = try log.append(Array(commits[positions.count...]), expecting: expecting)
                positions += appended.positions
                expecting = positions.last ?? expecting
            } catch {
                switch error {
                case .conflict(let end): expecting = end
                case .notWritten(let error) where error.code == .inputOutput: continue
                case .unknown: (log as? HostileLog)?.reopen()
                default: throw error
                }
            }
        }
        for (commit, position) in zip(commits, positions) {
            appended.append(
                Commit(
                    offset: position.offset, id: commit.id, time: commit.time, chain: position.chain,
                    payload: commit.payload))
        }
        try sealsAll()
        return positions
    }

    /// Appends so many commits, each with a few kilobytes, in batches of one to four.
    func fill(_ count: Int, bytesPerEvent: Int = 2_000) throws {
        var rest = make(count, bytesPerEvent: bytesPerEvent)[...]
        var batch = 1
        while !rest.isEmpty {
            try append(Array(rest.prefix(batch)))
            rest = rest.dropFirst(batch)
            batch = batch % 4 + 1
        }
    }

    /// The commits of a list that this fixture appended; others are somebody else's.
    func own(_ commits: [Commit]) -> [Commit] {
        let ids = Set(appended.map(\.id))
        return commits.filter { ids.contains($0.id) }
    }
}
