import StrataLog
import StrataModel
import StrataReplication
import StrataSystem
import TestSupport

/// A copy on a simulated disk, which can be closed, lose power and be opened again.
final class TestCopy {
    static let path = "/Notes.strata"

    private(set) var log: ReplicatedLog
    private(set) var disk: SimulatedDisk
    private var time: Int64 = 1_000
    private let random: SeededRandom

    init(
        _ sequencer: any Sequencer, seed: UInt64 = 1, disk: SimulatedDisk = SimulatedDisk(),
        options: ReplicatedLog.Options = .init(outcomeMilliseconds: 60_000)
    ) throws {
        self.disk = disk
        random = SeededRandom(seed: seed)
        log = try Self.open(sequencer, disk, options)
    }

    static func open(
        _ sequencer: any Sequencer, _ disk: SimulatedDisk,
        _ options: ReplicatedLog.Options = .init(outcomeMilliseconds: 60_000)
    ) throws -> ReplicatedLog {
        try ReplicatedLog.open(
            at: path, sequencer: sequencer, options: options,
            log: LogOptions(segmentBytes: 64 << 10, firstSegmentBytes: 64 << 10, spaceStepBytes: 0),
            platform: Platform(files: disk))
    }

    func commit() -> NewCommit {
        time = max(time + 1, log.endTime ?? .min)
        let payload = Envelope(events: [Event(.consoleActed, body: random.nextBytes(count: 40)[...])]).encoded()
        return NewCommit(id: random.nextIdentifier(), time: time, payload: payload[...])
    }

    /// Appends at the present end, one commit in each entry.
    func append(_ count: Int) throws {
        for _ in 0..<count { _ = try log.append([commit()], expecting: log.end) }
    }

    func reopen(_ sequencer: any Sequencer) throws {
        try log.close()
        log = try Self.open(sequencer, disk)
    }

    func reopenAfterPowerLoss(_ sequencer: any Sequencer) throws {
        disk = disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced)
        log = try Self.open(sequencer, disk)
    }

    var commits: [Commit] {
        get throws {
            var cursor = try log.read(from: log.floor.offset + 1)
            var commits: [Commit] = []
            while let commit = try cursor.next() { commits.append(commit) }
            return commits
        }
    }
}

/// Returns the code of the error that an append or another call fails with.
func failureCode(_ body: () throws -> Void) -> StrataError.Code? {
    do { try body() } catch let failure as AppendFailure {
        switch failure {
        case .notWritten(let error): return error.code
        case .unknown(let error): return (error.cause as? StrataError)?.code ?? error.code
        case .conflict, .tooLarge: return nil
        }
    } catch { return (error as? StrataError)?.code }
    return nil
}
