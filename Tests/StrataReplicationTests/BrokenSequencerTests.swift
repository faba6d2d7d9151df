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
        #expect(failureCode { _ = try copy.log.confirmEnd() } == code)
        let end = copy.log.end
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
        var other = late.commit()
        other.time = try #require(copy.log.endTime)
        changed.content = .commits([other])
        sequence.tamper { $0[3] = changed.encoded() }
        #expect(try late.log.confirmEnd().offset == 3)
        try copy.append(1)
        try checkStopped(late, .brokenChain, commits: 3)
    }

    /// A sequencer that replaces commits and makes the checksum right again.
    private final class ChangingSequencer: Sequencer {
        private let inner: MemorySequencer

        init(_ sequence: MemorySequencer.Sequence) { inner = MemorySequencer(sequence) }

        var maximumEntryBytes: Int { inner.maximumEntryBytes }
        func append(_ bytes: [UInt8], id: Identifier, expecting: UInt64) -> SequencerAnswer {
            guard var entry = try? SequencedEntry(decoding: bytes), case .commits(var commits) = entry.content else {
                return inner.append(bytes, id: id, expecting: expecting)
            }
            commits[0].id = Identifier(high: 1, low: 1)
            entry.content = .commits(commits)
            return inner.append(entry.encoded(), id: id, expecting: expecting)
        }
        func entries(after number: UInt64, waitingMilliseconds: Int) throws -> [[UInt8]] {
            try inner.entries(after: number, waitingMilliseconds: waitingMilliseconds)
        }
        func last() throws -> UInt64 { try inner.last() }
        func trim(through number: UInt64) throws -> UInt64 { try inner.trim(through: number) }
        func close() { inner.close() }
    }

    @Test("It changes an entry on its way: the writer compares it with what it sent")
    func changesOwnEntry() throws {
        let copy = try TestCopy(ChangingSequencer(sequence), options: .init(outcomeMilliseconds: 2_000))
        #expect(failureCode { _ = try copy.log.append([copy.commit()], expecting: .start) } == .brokenSequence)
        try checkStopped(copy, .brokenSequence, commits: 0)
    }

    @Test("It has an entry that was decided on commits that it never gave")
    func unknownCommits() throws {
        let copy = try copy()
        try copy.append(1)
        let last = try #require(try MemorySequencer(sequence).entries(after: 1, waitingMilliseconds: 0).first)
        var entry = try SequencedEntry(decoding: last)
        entry.id = Identifier(high: 1, low: 1)
        entry.position.offset = 5
        _ = sequence.force(entry.encoded())
        try checkStopped(copy, .brokenSequence, commits: 1)
    }

    @Test("It has another commit than a copy, which compares them when it has no mark")
    func otherCommit() throws {
        let copy = try copy()
        try copy.append(2)
        try copy.log.close()
        var entry = try SequencedEntry(
            decoding: MemorySequencer(sequence).entries(after: 2, waitingMilliseconds: 0)[0])
        entry.content = .commits([copy.commit()])
        let changed = entry.encoded()
        sequence.tamper { $0[2] = changed }
        try copy.disk.removeFile(TestCopy.path + "/REPLICA")
        #expect(failureCode { try copy.reopen(MemorySequencer(sequence)) } == .brokenChain)
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
