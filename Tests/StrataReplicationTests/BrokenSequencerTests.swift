import StrataLog
import StrataModel
import StrataReplication
import StrataSystem
import TestSupport
import Testing

@Suite("A sequencer that breaks its promise is noticed")
struct BrokenSequencerTests {
    private let sequence = MemorySequencer.Sequence()

    private func copy(seed: UInt64 = 1) throws -> TestCopy {
        try TestCopy(MemorySequencer(sequence), seed: seed, options: .init(outcomeMilliseconds: 2_000))
    }

    /// Checks that a copy takes no writes any more, and can still be read.
    private func checkStopped(_ copy: TestCopy, _ code: StrataError.Code, commits: Int) throws {
        let end = copy.log.end
        #expect(failureCode { _ = try copy.log.confirmEnd() } == code)
        #expect(failureCode { _ = try copy.log.append([copy.commit()], expecting: end) } == code)
        #expect(try copy.commits.count == commits && copy.log.end == end)
    }

    @Test("It forgets the last entries: at the next question for the end")
    func forgets() throws {
        let copy = try copy()
        try copy.append(5)
        sequence.tamper { $0.removeLast(2) }
        try checkStopped(copy, .brokenSequence, commits: 5)
    }

    @Test("It forgets the last entries: at the next append, which it can never accept")
    func forgetsBeforeAppend() throws {
        let copy = try copy()
        try copy.append(5)
        sequence.tamper { $0.removeLast() }
        let end = copy.log.end
        #expect(failureCode { _ = try copy.log.append([copy.commit()], expecting: end) } == .brokenSequence)
        try checkStopped(copy, .brokenSequence, commits: 5)
    }

    @Test("It forgets entries, and others go on from there", arguments: 1...3)
    func forks(forgotten: Int) throws {
        let copy = try copy()
        try copy.append(5)
        sequence.tamper { $0.removeLast(forgotten) }
        // It never saw what was forgotten, so it writes what does not fit.
        let other = try self.copy(seed: 2)
        try other.append(forgotten + 1)
        try checkStopped(copy, .brokenChain, commits: 5)
        #expect(try other.commits.count == 6)
        try copy.log.close()
        #expect(failureCode { try copy.reopen(MemorySequencer(sequence)) } != nil)
    }

    @Test("It changes an entry: when its bytes are read", arguments: [0, 20, 100, 150])
    func changesBytes(place: Int) throws {
        let (copy, late) = (try copy(), try self.copy(seed: 2))
        try copy.append(3)
        sequence.tamper { $0[2][place] ^= 4 }
        let code: StrataError.Code = place == 0 ? .wrongMagic : .badChecksum
        try checkStopped(late, code, commits: 1)
    }

    @Test("It gives other copies another commit, under a right checksum: at the next entry")
    func changesCommit() throws {
        let (copy, late) = (try copy(), try self.copy(seed: 2))
        try copy.append(3)
        let last = try #require(try MemorySequencer(sequence).entries(after: 3, waitingMilliseconds: 0).first)
        var changed = try SequencedEntry(decoding: last)
        changed.content = .commits([late.commit()])
        sequence.tamper { $0[3] = changed.encoded() }
        #expect(try late.log.confirmEnd().offset == 3)
        try copy.append(1)
        try checkStopped(late, .brokenChain, commits: 3)
    }

    @Test("It has entries of another store")
    func foreignEntries() throws {
        let copy = try copy()
        try copy.append(1)
        let last = try #require(try MemorySequencer(sequence).entries(after: 1, waitingMilliseconds: 0).first)
        var foreign = try SequencedEntry(decoding: last)
        foreign.store = Identifier(high: 3, low: 4)
        _ = sequence.force(foreign.encoded())
        try checkStopped(copy, .foreignSegment, commits: 1)
    }

    @Test("An entry of a later release stops a copy, which can be read and goes on when it is updated")
    func laterRelease() throws {
        let copy = try copy()
        try copy.append(1)
        let last = try #require(try MemorySequencer(sequence).entries(after: 1, waitingMilliseconds: 0).first)
        var later = Array(last.dropLast(4))
        later[4] = 2
        let checksum = later.withUnsafeBytes { CRC32C.checksum($0) }
        _ = sequence.force(later + withUnsafeBytes(of: checksum.littleEndian) { Array($0) })
        try checkStopped(copy, .newerFormat, commits: 1)
    }

    @Test("A new sequencer that lacks what a copy has is noticed when the copy is opened")
    func shorterSequence() throws {
        let copy = try copy()
        try copy.append(5)
        try copy.log.close()
        sequence.tamper { $0.removeLast(2) }
        #expect(failureCode { try copy.reopen(MemorySequencer(sequence)) } == .brokenSequence)
        try copy.disk.removeFile(TestCopy.path + "/REPLICA")
        #expect(failureCode { try copy.reopen(MemorySequencer(sequence)) } == .brokenSequence)
    }
}
