import Glibc
import StrataLog
import StrataModel
import StrataSystem
import TestSupport

/// New commits one after another, the same for the same seed; payloads are envelopes.
struct CommitSequence {
    private(set) var time: Int64 = 1_000_000
    private var sample: SamplePayload
    private var generator: SeededGenerator

    init(seed: UInt64, zones: [UInt64] = [1, 2, 3], noise: Double = 0.25) {
        sample = SamplePayload(seed: seed, zones: zones, noise: noise)
        generator = SeededGenerator(seed: seed &+ 1_000)
    }

    mutating func next(events: Int = 2, bytesPerEvent: Int = 60) -> NewCommit {
        next(sample.next(events: events, bytesPerEvent: bytesPerEvent))
    }

    mutating func next(_ payload: [UInt8]) -> NewCommit {
        // Every other commit has the time of the one before: that is allowed.
        time += Int64(generator.next(below: 2)) * 1_000
        return NewCommit(
            id: Identifier(high: generator.next(), low: generator.next()), time: time, payload: payload[...])
    }

    mutating func next(_ count: Int, events: Int = 2, bytesPerEvent: Int = 60) -> [NewCommit] {
        (0..<count).map { _ in next(events: events, bytesPerEvent: bytesPerEvent) }
    }

    /// Commits with bytes of just this size that are no envelope.
    mutating func raw(_ count: Int, isRandom: Bool) -> NewCommit {
        next(isRandom ? generator.nextBytes(count) : [UInt8](repeating: UInt8(count % 251), count: count))
    }
}

/// What a log without gaps that begins at `start` makes of commits; worked out here, not by the log.
func expectedCommits(_ commits: [NewCommit], after start: Position = .start) -> [Commit] {
    var end = start
    return commits.map { commit in
        let offset = end.offset + 1
        let chain = ReferenceChain.value(
            after: end.chain, offset: offset, time: commit.time, payload: commit.payload)
        end = Position(offset: offset, chain: chain)
        return Commit(offset: offset, id: commit.id, time: commit.time, chain: chain, payload: commit.payload)
    }
}

extension EventLog {
    /// All commits behind the floor, by a cursor.
    func allCommits() throws -> [Commit] { try commits(from: floor.offset + 1) }

    func commits(from offset: UInt64) throws -> [Commit] {
        var cursor = try read(from: offset)
        var commits: [Commit] = []
        while let commit = try cursor.next() { commits.append(commit) }
        return commits
    }
}

extension LogReader {
    func allCommits() throws -> [Commit] {
        var cursor = try read(from: floor.offset + 1)
        var commits: [Commit] = []
        while let commit = try cursor.next() { commits.append(commit) }
        return commits
    }
}

/// Where two lists of commits differ, in words. Payloads are compared by the C library: builds for tests are not
/// optimised, and some payloads have megabytes.
func firstDifference(_ left: [Commit], _ right: [Commit]) -> String? {
    for (left, right) in zip(left, right) {
        let isSame =
            left.position == right.position && left.id == right.id && left.time == right.time
            && left.payload.count == right.payload.count
            && left.payload.withUnsafeBytes { left in
                right.payload.withUnsafeBytes { right in
                    guard let first = left.baseAddress, let second = right.baseAddress else { return true }
                    return memcmp(first, second, left.count) == 0
                }
            }
        if !isSame {
            return "\(left.position) with \(left.payload.count) bytes, \(right.position) with \(right.payload.count)"
        }
    }
    return left.count == right.count ? nil : "\(left.count) and \(right.count) commits"
}
