import StrataLog
import StrataModel
import StrataSystem

/// A log in memory that behaves as badly as any log may: a store that works on it works on all of them.
///
/// ```swift
/// let log = HostileLog(.everything, seed: 7)
/// ```
package final class HostileLog: EventLog, ForwardingLog {
    /// The rates, per thousand appends, of the faults that the protocol allows.
    package struct FaultProfile: Sendable {
        /// Offsets are skipped before a commit.
        package var gaps: Int
        /// Only a prefix is accepted.
        package var partialAcceptance: Int
        /// Another writer's commit came first.
        package var conflicts: Int
        /// Nothing is written, and the log says so.
        package var refusals: Int
        /// All, some or nothing is written, and the log does not say which. It takes no writes until ``reopen()``.
        package var unknownOutcomes: Int

        package init(
            gaps: Int = 0, partialAcceptance: Int = 0, conflicts: Int = 0, refusals: Int = 0, unknownOutcomes: Int = 0
        ) {
            self.gaps = gaps
            self.partialAcceptance = partialAcceptance
            self.conflicts = conflicts
            self.refusals = refusals
            self.unknownOutcomes = unknownOutcomes
        }

        package static let everything = FaultProfile(
            gaps: 200, partialAcceptance: 200, conflicts: 100, refusals: 100, unknownOutcomes: 50)
    }

    private let hostility: FaultProfile
    private let random: SeededRandom
    private let log: MemoryLog
    private let touches: TouchFunction
    package var source: MemoryLog { log }
    /// After an unknown outcome, the error of every append. Held while something is appended.
    private let refusal = Lock<StrataError?>(nil)

    package init(
        _ hostility: FaultProfile, seed: UInt64, touches: @escaping TouchFunction = { try Envelope.touches(of: $0) }
    ) {
        let random = SeededRandom(seed: seed)
        self.hostility = hostility
        self.random = random
        self.touches = touches
        let gaps = UInt64(hostility.gaps)
        let gap: @Sendable () -> UInt64 = { random.next(below: 1_000) < gaps ? random.next(below: 5) : 0 }
        log = MemoryLog(gap: gaps > 0 ? gap : nil, touches: touches)
    }

    private func happens(_ perThousand: Int) -> Bool {
        perThousand > 0 && random.next(below: 1_000) < UInt64(perThousand)
    }

    /// Takes writes again after an unknown outcome, and any use after it was closed.
    package func reopen() {
        refusal.withLock { $0 = nil }
        log.reopen()
    }

    // MARK: Writing

    package func append(_ commits: [NewCommit], expecting: Position) throws(AppendFailure) -> Appended {
        let result: Result<Appended, AppendFailure> = refusal.withLock { refusal in
            do throws(AppendFailure) { return .success(try append(commits, expecting, &refusal)) } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private func append(
        _ commits: [NewCommit], _ expecting: Position, _ refusal: inout StrataError?
    ) throws(AppendFailure) -> Appended {
        if let refusal, isOpen { throw .unknown(refusal) }
        guard isOpen, !commits.isEmpty, expecting == log.end, isAcceptable(commits) else {
            return try log.append(commits, expecting: expecting)
        }
        if happens(hostility.refusals) {
            throw .notWritten(StrataError(.inputOutput, "The log refused, as configured."))
        }
        if happens(hostility.conflicts) {
            let foreign = NewCommit(
                id: random.nextIdentifier(), time: max(commits[0].time, log.endTime ?? Int64.min),
                payload: Envelope(events: [Event(.consoleActed, body: [])]).encoded()[...])
            _ = try log.append([foreign], expecting: expecting)
            throw .conflict(log.end)
        }
        var accepted = commits.count
        if happens(hostility.partialAcceptance) { accepted = 1 + Int(random.next(below: UInt64(commits.count))) }
        let isUnknown = happens(hostility.unknownOutcomes)
        if isUnknown { accepted = Int(random.next(below: UInt64(commits.count) + 1)) }
        let appended = try log.append(Array(commits.prefix(accepted)), expecting: expecting)
        if isUnknown {
            let error = StrataError(.outcomeUnknown, "The log does not report what it wrote, as configured.")
            refusal = error
            throw .unknown(error)
        }
        return appended
    }

    private var isOpen: Bool { (try? log.sync()) != nil }

    /// Returns whether a log without faults would accept the commits. If not, that log throws the best error.
    private func isAcceptable(_ commits: [NewCommit]) -> Bool {
        var time = log.endTime ?? Int64.min
        return commits.allSatisfy { commit in
            defer { time = commit.time }
            guard commit.time >= time, commit.payload.count <= maximumCommitBytes else { return false }
            return commit.touches != nil || (try? commit.payload.withUnsafeBytes(touches)) != nil
        }
    }

    package func appendLazily(_ commits: [NewCommit], expecting: Position) throws(AppendFailure) -> Appended {
        try append(commits, expecting: expecting)
    }

    package func sync() throws {
        try log.sync()
        if let refusal = refusal.withLock({ $0 }) { throw refusal }
    }

    // MARK: The same as of the log in memory

    package var durableEnd: Position { log.durableEnd }
    package var assignsNextOffset: Bool { log.assignsNextOffset }
    package var maximumCommitBytes: Int { log.maximumCommitBytes }

    package func trim(to offset: UInt64) throws -> Position { try log.trim(to: offset) }
    package func close() throws { try log.close() }
    package func waitForEnd(past offset: UInt64) async { await log.waitForEnd(past: offset) }

    package func rewrite(
        through offset: UInt64, lookup: @escaping NameLookup, _ rewritten: PayloadRewriting
    ) throws {
        try log.rewrite(through: offset, lookup: lookup, rewritten)
    }
}
