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
        let sequencer = GatedSequencer(sequence, through: 6)
        let log = try TestCopy.open(sequencer, SimulatedDisk(), Self.early)
        // The first entry is the identity of the store.
        var cursor = try log.read(from: 1)
        for commit in commits[..<5] { #expect(try cursor.next()?.id == commit.id) }
        #expect(log.end.offset == 5)
        var late = try log.read(from: 11)
        sequencer.open(through: .max)
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
        let sequencer = GatedSequencer(sequence, through: 3)
        let early = try TestCopy.open(
            sequencer, SimulatedDisk(), .init(outcomeMilliseconds: 60_000, earlyEntries: last))
        var cursor = try early.read(from: 2)
        #expect(try cursor.next()?.offset == 2 && early.end.offset == 2)
        sequencer.open(through: .max)
        try early.awaitOpening()
        try early.close()
        func open(through number: UInt64, outcomeMilliseconds: Int) throws {
            let options = ReplicatedLog.Options(outcomeMilliseconds: outcomeMilliseconds, earlyEntries: last + 1)
            try TestCopy.open(GatedSequencer(sequence, through: number), SimulatedDisk(), options).close()
        }
        try open(through: .max, outcomeMilliseconds: 60_000)
        #expect(failureCode { try open(through: 3, outcomeMilliseconds: 50) } == .unreachable)
    }

    @Test("What fails afterwards reaches those that read and those that wait")
    func failing() throws {
        _ = try fill(20)
        let sequencer = GatedSequencer(sequence, through: 6)
        let disk = SimulatedDisk()
        let log = try TestCopy.open(sequencer, disk, .init(outcomeMilliseconds: 50, earlyEntries: 8))
        var cursor = try log.read(from: 5)
        #expect(try cursor.next()?.offset == 5)
        sequencer.fail(with: StrataError(.unreachable, "No server answers."))
        #expect(failureCode { _ = try cursor.next() } == .unreachable)
        #expect(failureCode { try log.awaitOpening() } == .unreachable)
        try log.close()
        // The commits that came stay, and the others follow.
        let again = try TestCopy.open(MemorySequencer(sequence), disk, Self.early)
        #expect(again.end.offset == 20)
        try again.close()
    }

    @Test("One that has no commit when it fails is not opened")
    func failingAtOnce() throws {
        _ = try fill(20)
        let options = ReplicatedLog.Options(outcomeMilliseconds: 50, earlyEntries: 8)
        let open = { _ = try TestCopy.open(GatedSequencer(sequence, through: 1), SimulatedDisk(), options) }
        #expect(failureCode(open) == .unreachable)
    }

    @Test("A fence that is due after an opening that was not closed stays due until it is appended")
    func fencing() throws {
        _ = try fill(20)
        let disk = SimulatedDisk()
        let options = ReplicatedLog.Options(outcomeMilliseconds: 50, earlyEntries: 8)
        #expect(
            failureCode { _ = try TestCopy.open(GatedSequencer(sequence, through: 1), disk, options) } == .unreachable)
        let sequencer = GatedSequencer(sequence, through: 6)
        let log = try TestCopy.open(sequencer, disk, options)
        sequencer.fail(with: StrataError(.unreachable, "No server answers."))
        #expect(failureCode { try log.awaitOpening() } == .unreachable)
        try log.close()
        let last = sequence.last
        let again = try TestCopy.open(MemorySequencer(sequence), disk)
        #expect(sequence.last == last + 1 && again.end.offset == 20)
        try again.close()
    }

    @Test("Closing ends it while it waits for entries")
    func closing() throws {
        _ = try fill(20)
        let log = try TestCopy.open(GatedSequencer(sequence, through: 6), SimulatedDisk(), Self.early)
        try log.close()
        #expect(failureCode { try log.awaitOpening() } == .closed)
    }
}
