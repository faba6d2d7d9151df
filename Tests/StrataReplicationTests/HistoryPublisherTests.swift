import StrataLog
import StrataModel
import StrataReplication
import StrataSystem
import TestSupport
import Testing

@Suite("A sequencer gets the history of a log")
struct HistoryPublisherTests {
    private static let path = "/Alone.strata"
    private let sequence = MemorySequencer.Sequence()
    private let disk = SimulatedDisk()
    private var platform: Platform { Platform(files: disk) }

    /// A store that one process has written, closed.
    @discardableResult
    private func store(_ count: Int, trimmed: Bool = false) throws -> [Commit] {
        let log = try SegmentedLog.open(
            at: Self.path,
            options: LogOptions(segmentBytes: 64 << 10, firstSegmentBytes: 64 << 10, spaceStepBytes: 0),
            platform: platform)
        let random = SeededRandom(seed: 5)
        for time in 1...Int64(count) {
            let body = random.nextBytes(count: trimmed ? 4_000 : 40)
            let payload = Envelope(events: [Event(.consoleActed, body: body[...])]).encoded()
            let commit = NewCommit(id: random.nextIdentifier(), time: time, payload: payload[...])
            _ = try log.append([commit], expecting: log.end)
        }
        if trimmed { #expect(try log.trim(to: UInt64(count)).offset > 0) }
        let commits = try Self.commits(of: log)
        try log.close()
        return commits
    }

    private static func commits(of log: any HistoryLog) throws -> [Commit] {
        var cursor = try log.read(from: log.floor.offset + 1)
        var commits: [Commit] = []
        while let commit = try cursor.next() { commits.append(commit) }
        return commits
    }

    private func attach(maximumEntryBytes: Int = 1 << 20) throws -> CopyMove.Result {
        try CopyMove.attach(
            at: Self.path, to: MemorySequencer(sequence, maximumEntryBytes: maximumEntryBytes), address: "memory",
            platform: platform)
    }

    private func open(_ path: String = path, on disk: SimulatedDisk? = nil) throws -> ReplicatedLog {
        try ReplicatedLog.open(
            at: path, sequencer: MemorySequencer(sequence), platform: Platform(files: disk ?? self.disk))
    }

    @Test("Commits keep offsets, times, ids and chain values, and entries are as long as they may be")
    func attaches() throws {
        let commits = try store(30)
        let result = try attach(maximumEntryBytes: 400)
        #expect(result.end == commits.last?.position)
        // The identity, and two or three commits in each entry.
        #expect((11...16).contains(sequence.last))
        let (own, other) = (try open(), try open(on: SimulatedDisk()))
        #expect(own.copy.identity == result.identity && other.copy.identity == result.identity)
        #expect(try Self.commits(of: own) == commits && Self.commits(of: other) == commits)
        #expect(try CopyAddress.read(at: Self.path, disk) == "memory")
        // Both go on from there.
        for (writer, reader) in [(own, other), (other, own)] {
            let commit = NewCommit(
                id: Identifier(high: 1, low: writer.end.offset), time: 99, payload: commits[0].payload)
            _ = try writer.append([commit], expecting: writer.end)
            #expect(try reader.confirmEnd() == writer.end)
        }
        for log in [own, other] { try log.close() }
    }

    @Test("What is refused leaves nothing in the sequencer")
    func refusals() throws {
        try store(30)
        #expect(failureCode { _ = try attach(maximumEntryBytes: 116) } == .tooLarge)
        #expect(sequence.last == 0)
        _ = try attach()
        let last = sequence.last
        try SegmentedLog.open(at: "/Other.strata", platform: platform).close()
        let code = failureCode {
            _ = try CopyMove.attach(
                at: "/Other.strata", to: MemorySequencer(sequence), address: "memory", platform: platform)
        }
        #expect(code == .alreadyExists)
        #expect(sequence.last == last)
    }

    @Test("What was interrupted is completed, unless another process has written meanwhile")
    func interruption() throws {
        let commits = try store(30)
        _ = try attach(maximumEntryBytes: 400)
        try disk.remove(StorePaths(Self.path).replica)
        sequence.tamper { $0.removeLast(4) }
        #expect(try attach(maximumEntryBytes: 400).end == commits.last?.position)
        let other = try open(on: SimulatedDisk())
        #expect(try Self.commits(of: other) == commits)
        try disk.remove(StorePaths(Self.path).replica)
        let commit = NewCommit(id: Identifier(high: 1, low: 1), time: 99, payload: commits[0].payload)
        _ = try other.append([commit], expecting: other.end)
        let last = sequence.last
        #expect(throws: PartedHistories.self) { _ = try attach() }
        #expect(sequence.last == last)
        try other.close()
    }

    @Test("A history that was compacted is refused")
    func compacted() throws {
        try store(60, trimmed: true)
        #expect(failureCode { _ = try attach() } == .outOfRange)
        #expect(sequence.last == 0)
        #expect(try !CopyMove.isCopy(at: Self.path, disk))
    }

    @Test("A history with erased data is refused: a copy would have other chain values")
    func erased() throws {
        let commits = try store(60)
        let log = try SegmentedLog.open(at: Self.path, platform: platform)
        let other = Envelope(events: [Event(.consoleActed, body: [])]).encoded()
        while try log.sealNext() {}
        try log.rewrite(through: log.end.offset, lookup: { _ in nil }) { offset, _ in offset == 2 ? other : nil }
        let isErased = try log.commit(at: 2)?.payload != commits[1].payload
        try log.close()
        try #require(isErased)
        #expect(failureCode { _ = try attach() } == .erased)
        #expect(sequence.last == 0)
    }

    @Test("A copy becomes a store by itself")
    func detaches() throws {
        let commits = try store(5)
        _ = try attach()
        #expect(try CopyMove.isCopy(at: Self.path, disk))
        #expect(try CopyMove.detach(at: Self.path, platform: platform).end == commits.last?.position)
        #expect(try !CopyMove.isCopy(at: Self.path, disk) && CopyAddress.read(at: Self.path, disk) == nil)
        let log = try SegmentedLog.open(at: Self.path, platform: platform)
        #expect(try Self.commits(of: log) == commits)
        try log.close()
    }

    @Test("A damaged address is an error, and the next opening writes it anew")
    func damagedAddress() throws {
        try store(1)
        _ = try attach()
        for damage in ["", "memory", "one\ntwo\n", "\n", String(repeating: "x", count: 5_000) + "\n"] {
            disk.setContent(Array(damage.utf8), of: StorePaths(Self.path).sequencer)
            let code = failureCode { _ = try CopyAddress.read(at: Self.path, disk) }
            #expect(code == .malformed, "\(damage.prefix(9))")
        }
        let log = try ReplicatedLog.open(
            at: Self.path, sequencer: MemorySequencer(sequence), options: .init(address: "memory"), platform: platform)
        try log.close()
        #expect(try CopyAddress.read(at: Self.path, disk) == "memory")
    }

    @Test("Reading gives an empty sequencer no identity")
    func reading() throws {
        let options = ReplicatedLog.Options(givesIdentity: false)
        func read() throws {
            try ReplicatedLog.open(
                at: "/Read.strata", sequencer: MemorySequencer(sequence), options: options, platform: platform
            ).close()
        }
        #expect(failureCode(read) == .notFound)
        #expect(failureCode { _ = try SequencedHistory(MemorySequencer(sequence)) } == .notFound)
        #expect(try !disk.exists("/Read.strata"))
        #expect(sequence.last == 0)
        try store(3)
        _ = try attach()
        let last = sequence.last
        try read()
        #expect(sequence.last == last)
    }

    @Test("Void entries are left out, whoever reads")
    func voidEntries() throws {
        try store(3)
        let identity = try attach().identity
        let log = try open()
        let lost = SequencedEntry(
            store: identity.storeID, id: Identifier(high: 7, low: 7), writer: Identifier(high: 8, low: 8),
            previous: Identifier(high: 9, low: 9), position: .start, content: .fence)
        _ = sequence.force(lost.encoded())
        let payload = try #require(try log.commit(at: 1)).payload
        let commit = NewCommit(id: Identifier(high: 1, low: 1), time: 9, payload: payload)
        _ = try log.append([commit], expecting: try log.confirmEnd())
        var history = try SequencedHistory(MemorySequencer(sequence))
        var count = 0
        while let commits = try history.next(through: sequence.last) { count += commits.count }
        #expect(count == 4 && history.end == log.end && history.number == sequence.last && history.endTime == 9)
        try log.close()
    }

    @Test("A publisher sees the commits of another process, and does not put its own after them")
    func publisherThatIsLate() throws {
        try store(3)
        let identity = try attach().identity
        let ahead = try open(on: SimulatedDisk())
        let payload = try #require(try ahead.commit(at: 1)).payload
        let source = try LogReader.open(at: Self.path, platform: platform)
        var publisher = try HistoryPublisher(of: source, identity, to: MemorySequencer(sequence))
        try publisher.compare()
        #expect(try publisher.publish() == 0 && publisher.missing == 0 && publisher.surplus == 0)
        _ = try ahead.append(
            [NewCommit(id: Identifier(high: 1, low: 1), time: 9, payload: payload)], expecting: ahead.end)
        let log = try SegmentedLog.open(at: Self.path, platform: platform)
        _ = try log.append([NewCommit(id: Identifier(high: 1, low: 2), time: 10, payload: payload)], expecting: log.end)
        try log.close()
        _ = try source.refresh()
        let last = sequence.last
        let parted = #expect(throws: PartedHistories.self) { try publisher.publish() }
        #expect(parted?.offset == 4 && sequence.last == last)
        var later = try HistoryPublisher(of: source, identity, to: MemorySequencer(sequence))
        #expect(throws: PartedHistories.self) { try later.compare() }
        try ahead.close()
    }
}

@Suite("A sequencer that lost entries is repaired from a copy")
struct RepairTests {
    private let sequence = MemorySequencer.Sequence()

    private func copy(seed: UInt64 = 1) throws -> TestCopy {
        try TestCopy(MemorySequencer(sequence), seed: seed, options: .init(outcomeMilliseconds: 2_000))
    }

    /// Gives the commits of a copy to the sequencer, in entries of at most so many bytes.
    private func repair(from copy: TestCopy, maximumEntryBytes: Int = 1 << 20) throws -> UInt64 {
        var publisher = try HistoryPublisher(
            of: copy.log.copy, copy.log.copy.identity,
            to: MemorySequencer(sequence, maximumEntryBytes: maximumEntryBytes))
        try publisher.compare()
        return try publisher.publish()
    }

    @Test("Every copy has the same commits again once it is opened", arguments: 1...5)
    func repairs(lost: Int) throws {
        let (left, right) = (try copy(), try copy(seed: 2))
        try left.append(5)
        _ = try right.log.confirmEnd()
        sequence.tamper { $0.removeLast(lost) }
        #expect(failureCode { _ = try left.log.confirmEnd() } == .brokenSequence)
        #expect(try repair(from: left) == UInt64(lost))
        for copy in [left, right] { try copy.reopen(MemorySequencer(sequence)) }
        for copy in [left, right, left] {
            _ = try copy.log.confirmEnd()
            try copy.append(2)
        }
        _ = try right.log.confirmEnd()
        let fresh = try self.copy(seed: 3)
        #expect(try left.commits.count == 11 && left.commits == right.commits && left.commits == fresh.commits)
    }

    @Test("A process that did not notice the loss is told by the repair, and acknowledges nothing after it")
    func unnoticed() throws {
        let (left, right) = (try copy(), try copy(seed: 2))
        _ = try left.log.append((0..<6).map { _ in left.commit() }, expecting: left.log.end)
        _ = try right.log.confirmEnd()
        let before = sequence.last
        sequence.tamper { $0.removeLast() }
        #expect(try repair(from: left, maximumEntryBytes: 300) == 6)
        // More entries than were lost: their number alone tells nothing.
        #expect(sequence.last > before)
        let end = right.log.end
        #expect(failureCode { _ = try right.log.append([right.commit()], expecting: end) } == .brokenSequence)
        try right.reopen(MemorySequencer(sequence))
        try right.append(1)
        #expect(try right.commits.dropLast() == left.commits[...])
    }

    @Test("A sequencer that others wrote to after the loss is not repaired")
    func parted() throws {
        let copy = try copy()
        try copy.append(5)
        sequence.tamper { $0.removeLast(2) }
        let other = try self.copy(seed: 2)
        try other.append(1)
        let last = sequence.last
        let parted = #expect(throws: PartedHistories.self) { try repair(from: copy) }
        #expect(parted?.offset == 4 && sequence.last == last)
    }

    @Test("Entries that come twice do not stop a copy that has read them")
    func duplicates() throws {
        let copy = try copy()
        try copy.append(3)
        sequence.tamper { $0.removeLast(1) }
        #expect(try repair(from: copy) == 1)
        try copy.reopen(MemorySequencer(sequence))
        sequence.tamper { $0.append($0[$0.count - 1]) }
        try copy.append(1)
        #expect(try copy.commits.count == 4)
        try copy.reopen(MemorySequencer(sequence))
        #expect(try copy.commits == self.copy(seed: 3).commits)
    }
}
