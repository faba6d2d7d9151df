import StrataLog
import StrataModel
import StrataReplication
import StrataSystem
import TestSupport
import Testing

@Suite("Commits that are longer than an entry")
struct EntryPartsTests {
    private static let entryBytes = 400

    private let sequence = MemorySequencer.Sequence()

    private var sequencer: MemorySequencer { MemorySequencer(sequence, maximumEntryBytes: Self.entryBytes) }

    private func entries() throws -> [SequencedEntry] {
        try MemorySequencer(sequence).entries(after: 0, waitingMilliseconds: 0).map { try SequencedEntry(decoding: $0) }
    }

    /// A commit of about 3,000 bytes that do not compress.
    private func longCommit(of copy: TestCopy, seed: UInt64 = 3) -> NewCommit {
        var commit = copy.commit()
        let body = SeededRandom(seed: seed).nextBytes(count: 3_000)
        commit.payload = Envelope(events: [Event(.consoleActed, body: body[...])]).encoded()[...]
        return commit
    }

    private func parts(_ entries: [SequencedEntry]) -> [EntryPart] {
        entries.compactMap { if case .part(let part) = $0.content { part } else { nil } }
    }

    @Test("A long commit goes in parts, and all copies have it, also those that are opened later")
    func roundTrip() throws {
        let (left, right) = (try TestCopy(sequencer), try TestCopy(sequencer, seed: 2))
        try left.append(2)
        let commit = longCommit(of: left)
        let appended = try left.log.append([commit, left.commit()], expecting: left.log.end)
        #expect(appended.count == 1 && appended.positions[0] == left.log.end)
        #expect(parts(try entries()).count == 11)
        try left.append(1)
        #expect(try right.log.confirmEnd() == left.log.end)
        #expect(try right.commits == left.commits)
        #expect(try right.commits[2].payload == commit.payload)
        try right.reopen(sequencer)
        try right.append(1)
        #expect(try TestCopy(sequencer, seed: 3).commits == right.commits)
        var history = try SequencedHistory(MemorySequencer(sequence))
        var read: [Commit] = []
        while let more = try history.next(through: sequence.last) { read += more }
        #expect(try read == right.commits)
    }

    @Test("A store's history moves to a sequencer whose entries are shorter than its commits")
    func publishing() throws {
        let disk = SimulatedDisk()
        let platform = Platform(files: disk)
        let store = try SegmentedLog.open(at: "/Old.strata", platform: platform)
        let maker = try TestCopy(MemorySequencer(), seed: 9)
        let commits = [maker.commit(), longCommit(of: maker), maker.commit()]
        _ = try store.append(commits, expecting: .start)
        try store.close()
        let result = try CopyMove.attach(
            at: "/Old.strata", to: sequencer, address: "memory", platform: platform)
        #expect(result.end.offset == 3)
        #expect(try TestCopy(sequencer).commits.map(\.payload) == commits.map(\.payload))
    }

    @Test("An entry of which a part is missing is void for every copy, and the next one counts")
    func missingPart() throws {
        let writer = try TestCopy(sequencer)
        try writer.append(1)
        let known = try entries()
        // What a writer sent that was killed before its last part, and what arrives twice or out of order.
        let scratch = MemorySequencer.Sequence()
        for entry in known { _ = scratch.force(entry.encoded()) }
        let killed = try TestCopy(MemorySequencer(scratch, maximumEntryBytes: Self.entryBytes), seed: 4)
        _ = try killed.log.append([longCommit(of: killed)], expecting: killed.log.end)
        let sent = try MemorySequencer(scratch).entries(
            after: UInt64(known.count), waitingMilliseconds: 0)
        #expect(sent.count == 12)
        for index in [0, 2, 1, 1, 3, 11] { _ = sequence.force(sent[index]) }
        #expect(try writer.log.confirmEnd().offset == 1)
        try writer.append(1)
        let late = try TestCopy(sequencer, seed: 5)
        #expect(try late.commits == writer.commits && late.log.end.offset == 2)
        #expect(writer.log.status.failure == nil && late.log.status.failure == nil)
    }

    @Test("Another process's commit between the parts comes first, and the parts count no more")
    func conflict() throws {
        let other = try TestCopy(MemorySequencer(sequence), seed: 6)
        var faults = HostileSequencer.FaultProfile()
        faults.foreignEntries = 60
        let hostile = HostileSequencer(sequence, faults, seed: 1, maximumEntryBytes: Self.entryBytes)
        let writer = try TestCopy(hostile, seed: 7)
        var (conflicts, appended) = (0, 0)
        for attempt in 0..<200 as Range<UInt64> where appended < 3 {
            do throws(AppendFailure) {
                appended += try writer.log.append(
                    [longCommit(of: writer, seed: attempt)], expecting: writer.log.end
                ).count
            } catch {
                guard case .conflict = error else { throw error }
                conflicts += 1
            }
        }
        #expect(appended == 3 && conflicts > 0)
        #expect(try other.log.confirmEnd() == writer.log.end)
        #expect(try other.commits == writer.commits)
    }

    @Test("The parts' bytes must be those that the entry states")
    func checksum() throws {
        let writer = try TestCopy(sequencer)
        _ = try writer.log.append([longCommit(of: writer)], expecting: writer.log.end)
        sequence.tamper { entries in
            guard var entry = try? SequencedEntry(decoding: entries[1]), case .part(let part) = entry.content else {
                return
            }
            var bytes = part.bytes
            bytes[40] ^= 1
            entry.content = .part(EntryPart(of: part.whole, index: part.index, bytes: bytes))
            entries[1] = entry.encoded()
        }
        // To a new copy the commit is void; the next entry was decided on another history.
        #expect(try TestCopy(sequencer, seed: 2).log.end == .start)
        try writer.append(1)
        #expect(failureCode { _ = try TestCopy(sequencer, seed: 3) } == .brokenSequence)
    }
}
