import StrataLog
import StrataModel
import StrataReplication
import StrataSystem

/// A sequencer that behaves as badly as any may, as one process sees it; others see the same sequence through others.
///
/// ```swift
/// let sequencer = HostileSequencer(sequence, .everything, seed: 7)
/// ```
package final class HostileSequencer: Sequencer {
    /// The rates, per thousand calls, of what a sequencer may do.
    package struct FaultProfile: Sendable {
        /// The entry goes in, and the answer is lost.
        package var lostAnswers = 0
        /// The entry is lost, and so is the answer.
        package var lostEntries = 0
        /// The answer is lost, and the entry goes in some calls later, whatever is there by then.
        package var lateEntries = 0
        /// The entry goes in twice.
        package var doubles = 0
        /// The expectation is ignored.
        package var ignoredExpectations = 0
        /// Another writer's entry goes in first, with a commit or as a fence.
        package var foreignEntries = 0
        /// Nothing goes in, and the sequencer says so.
        package var refusals = 0
        /// An entry whose number is known cannot be read yet.
        package var hiddenEntries = 0
        /// Entries cannot be read, or the last number cannot be had.
        package var unreachable = 0

        /// Another writer's entry always goes in before an entry with more commits.
        package var maximumCommits = Int.max

        package init() {}

        package static let everything: FaultProfile = {
            var faults = FaultProfile()
            (faults.lostAnswers, faults.lostEntries, faults.lateEntries) = (60, 60, 60)
            (faults.doubles, faults.ignoredExpectations, faults.foreignEntries) = (60, 60, 100)
            (faults.refusals, faults.hiddenEntries, faults.unreachable) = (60, 100, 60)
            return faults
        }()
    }

    private struct State {
        var late = LateArrivals<[UInt8]>()
        var isTroubled = true
    }

    private let sequence: MemorySequencer.Sequence
    private let inner: MemorySequencer
    private let faults: FaultProfile
    private let random: SeededRandom
    private let state = Lock(State())

    package init(
        _ sequence: MemorySequencer.Sequence, _ faults: FaultProfile, seed: UInt64, maximumEntryBytes: Int = 80 << 20
    ) {
        self.sequence = sequence
        inner = MemorySequencer(sequence, maximumEntryBytes: maximumEntryBytes)
        self.faults = faults
        random = SeededRandom(seed: seed)
    }

    /// Behaves from now on, once everything that is late has arrived.
    package func calm() {
        let late = state.withLock { state in
            state.isTroubled = false
            return state.late.takeAll()
        }
        for entry in late { _ = sequence.force(entry) }
    }

    package var maximumEntryBytes: Int { inner.maximumEntryBytes }

    private func happens(_ perThousand: Int) -> Bool {
        state.withLock(\.isTroubled) && random.happens(perThousand)
    }

    private static let lost = StrataError(.outcomeUnknown, "The answer was lost, as configured.")

    package func append(_ entry: [UInt8], id: Identifier, expecting: UInt64) -> SequencerAnswer {
        deliverLate()
        if happens(faults.refusals) {
            return .refused(StrataError(.inputOutput, "The sequencer refused, as configured."))
        }
        if happens(faults.foreignEntries) || hasTooManyCommits(entry), let foreign = foreignEntry(before: entry) {
            _ = inner.append(foreign, id: id, expecting: expecting)
        }
        if happens(faults.lostEntries) { return .unknown(Self.lost) }
        if happens(faults.lateEntries) {
            state.withLock { $0.late.add(entry, random) }
            return .unknown(Self.lost)
        }
        let answer: SequencerAnswer
        if happens(faults.ignoredExpectations) {
            answer = .accepted(sequence.force(entry))
        } else {
            answer = inner.append(entry, id: id, expecting: expecting)
        }
        if case .accepted = answer, happens(faults.doubles) { _ = sequence.force(entry) }
        return happens(faults.lostAnswers) ? .unknown(Self.lost) : answer
    }

    private func deliverLate() {
        let arrived = state.withLock { $0.late.next() }
        for entry in arrived { _ = sequence.force(entry) }
    }

    private func hasTooManyCommits(_ bytes: [UInt8]) -> Bool {
        guard faults.maximumCommits < .max, let entry = try? SequencedEntry(decoding: bytes),
            case .commits(let commits) = entry.content
        else { return false }
        return commits.count > faults.maximumCommits
    }

    /// Returns an entry that another writer decides on the same state.
    private func foreignEntry(before bytes: [UInt8]) -> [UInt8]? {
        guard var entry = try? SequencedEntry(decoding: bytes) else { return nil }
        (entry.id, entry.writer) = (random.nextIdentifier(), random.nextIdentifier())
        let commits: [NewCommit]
        switch entry.content {
        case .identity, .fence, .base: return nil
        case .commits(let own): commits = own
        case .part, .whole:
            entry.content = .fence
            return entry.encoded()
        }
        let payload = Envelope(events: [Event(.consoleActed, body: [])]).encoded()
        let commit = NewCommit(id: random.nextIdentifier(), time: commits[0].time, payload: payload[...])
        entry.content = random.next(below: 3) == 0 ? .fence : .commits([commit])
        return entry.encoded()
    }

    package func entries(after number: UInt64, waitingMilliseconds milliseconds: Int) throws -> [[UInt8]] {
        if happens(faults.unreachable) {
            throw StrataError(.inputOutput, "The sequencer cannot be reached, as configured.")
        }
        if happens(faults.hiddenEntries) { return [] }
        let entries = try inner.entries(after: number, waitingMilliseconds: milliseconds)
        return happens(faults.hiddenEntries) ? Array(entries.prefix(1)) : entries
    }

    package func last() throws -> UInt64 {
        if happens(faults.unreachable) {
            throw StrataError(.inputOutput, "The sequencer cannot be reached, as configured.")
        }
        return try inner.last()
    }

    package func trim(through number: UInt64) throws -> UInt64 { try inner.trim(through: number) }
    package func close() { inner.close() }
}
