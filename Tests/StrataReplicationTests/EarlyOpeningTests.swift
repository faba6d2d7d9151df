import StrataLog
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataReplication

@Suite("A new copy that is opened before it has all entries")
struct EarlyOpeningTests {
    private static let early = ReplicatedLog.Options(outcomeMilliseconds: 60_000, earlyEntries: 8)
    private let sequence = MemorySequencer.Sequence()

    /// Shows the entries up to a number, which a test raises, and fails when it is told to.
    private final class HeldBack: Sequencer {
        private struct State {
            var visible: UInt64
            var failure: StrataError?
            var isClosed = false
        }

        private let inner: MemorySequencer
        private let state: Monitor<State>

        init(_ sequence: MemorySequencer.Sequence, visible: UInt64) {
            inner = MemorySequencer(sequence)
            state = Monitor(State(visible: visible))
        }

        func show(_ number: UInt64) {
            state.withLock { $0.visible = number }
            state.notifyAll()
        }

        func fail(_ error: StrataError) {
            state.withLock { $0.failure = error }
            state.notifyAll()
        }

        var maximumEntryBytes: Int { inner.maximumEntryBytes }
        func append(_ entry: [UInt8], id: Identifier, expecting: UInt64) -> SequencerAnswer {
            inner.append(entry, id: id, expecting: expecting)
        }
        func entries(after number: UInt64, waitingMilliseconds milliseconds: Int) throws -> [[UInt8]] {
            let visible = try state.wait(milliseconds: milliseconds) { state -> UInt64? in
                if let failure = state.failure { throw failure }
                return state.isClosed ? 0 : state.visible > number ? state.visible : nil
            }
            guard let visible, visible > number else { return [] }
            return try Array(
                inner.entries(after: number, waitingMilliseconds: 0).prefix(Int(clamping: visible - number)))
        }
        func last() throws -> UInt64 { try inner.last() }
        func trim(through number: UInt64) throws -> UInt64 { 0 }
        func close() {
            state.withLock { $0.isClosed = true }
            state.notifyAll()
            inner.close()
        }
    }

    private func fill(_ count: Int) throws -> [Commit] {
        let copy = try TestCopy(MemorySequencer(sequence))
        try copy.append(count)
        let commits = try copy.commits
        try copy.log.close()
        return commits
    }

    @Test("Its commits are read as they come, up to the last that was there")
    func reading() throws {
        let commits = try fill(20)
        let sequencer = HeldBack(sequence, visible: 6)
        let log = try TestCopy.open(sequencer, SimulatedDisk(), Self.early)
        // The first entry is the identity of the store.
        var cursor = try log.read(from: 1)
        for commit in commits[..<5] { #expect(try cursor.next()?.id == commit.id) }
        #expect(log.end.offset == 5)
        var late = try log.read(from: 11)
        sequencer.show(.max)
        for commit in commits[5...] { #expect(try cursor.next()?.id == commit.id) }
        for commit in commits[10...] { #expect(try late.next()?.id == commit.id) }
        #expect(try cursor.next() == nil && late.next() == nil)
        try log.awaitOpening()
        #expect(log.end.offset == 20)
        _ = try log.append([TestCopy(MemorySequencer(sequence)).commit()], expecting: log.confirmEnd())
        // Later commits end no cursor, and hold none up.
        #expect(try cursor.next()?.offset == 21 && cursor.next() == nil)
        try log.close()
    }

    @Test("The limit of entries decides, and a copy that has commits waits for the others")
    func limits() throws {
        _ = try fill(7)
        let last = sequence.last
        let sequencer = HeldBack(sequence, visible: 3)
        let early = try TestCopy.open(
            sequencer, SimulatedDisk(), .init(outcomeMilliseconds: 60_000, earlyEntries: last))
        #expect(early.end.offset == 2)
        sequencer.show(.max)
        try early.awaitOpening()
        try early.close()
        for (visible, limit) in [(UInt64.max, last + 1), (3, last + 1)] {
            let options = ReplicatedLog.Options(outcomeMilliseconds: 50, earlyEntries: limit)
            let open = { try TestCopy.open(HeldBack(sequence, visible: visible), SimulatedDisk(), options).close() }
            if visible == .max { try open() } else { #expect(failureCode(open) == .unreachable) }
        }
    }

    @Test("What fails afterwards reaches those that read and those that wait")
    func failing() throws {
        _ = try fill(20)
        let sequencer = HeldBack(sequence, visible: 6)
        let disk = SimulatedDisk()
        let log = try TestCopy.open(sequencer, disk, .init(outcomeMilliseconds: 50, earlyEntries: 8))
        var cursor = try log.read(from: 5)
        #expect(try cursor.next()?.offset == 5)
        sequencer.fail(StrataError(.unreachable, "No server answers."))
        #expect(failureCode { _ = try cursor.next() } == .unreachable)
        #expect(failureCode { try log.awaitOpening() } == .unreachable)
        try log.close()
        // The commits that came stay, and the others follow.
        let again = try TestCopy.open(MemorySequencer(sequence), disk, Self.early)
        #expect(again.end.offset == 20)
        try again.close()
    }

    @Test("Closing ends it while it waits for entries")
    func closing() throws {
        _ = try fill(20)
        let log = try TestCopy.open(HeldBack(sequence, visible: 6), SimulatedDisk(), Self.early)
        try log.close()
        #expect(failureCode { try log.awaitOpening() } == .closed)
    }
}
