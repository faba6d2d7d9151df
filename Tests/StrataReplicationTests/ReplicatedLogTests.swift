import StrataLog
import StrataModel
import StrataReplication
import StrataSystem
import TestSupport
import Testing

@Suite("A log on a sequencer")
struct ReplicatedLogTests {
    private let sequence = MemorySequencer.Sequence()

    private func copy(seed: UInt64 = 1) throws -> TestCopy { try TestCopy(MemorySequencer(sequence), seed: seed) }

    @Test("Two copies have one store's identity, and the same commits at the same positions")
    func twoCopies() throws {
        let (left, right) = (try copy(), try copy(seed: 2))
        #expect(left.log.segments?.identity == right.log.segments?.identity)
        for _ in 0..<10 {
            try left.append(2)
            #expect(try right.log.confirmEnd() == left.log.end)
            try right.append(1)
            #expect(try left.log.confirmEnd() == right.log.end)
        }
        #expect(left.log.end.offset == 30)
        #expect(try left.commits == right.commits)
    }

    @Test("A conflict brings everything up to the end that it names")
    func conflict() throws {
        let (left, right) = (try copy(), try copy(seed: 2))
        try left.append(3)
        var end: Position?
        do throws(AppendFailure) { _ = try right.log.append([right.commit()], expecting: .start) } catch {
            if case .conflict(let position) = error { end = position }
        }
        #expect(end == left.log.end && right.log.end == end)
        #expect(try right.commits == left.commits)
    }

    @Test("Another process's commits come by themselves, and are announced; own ones are not")
    func following() async throws {
        let (left, right) = (try copy(), try copy(seed: 2))
        let calls = Monitor(0)
        try right.log.follow { calls.withLock { $0 += 1 } }
        try right.append(1)
        #expect(calls.withLock { $0 } == 0)
        _ = try left.log.confirmEnd()
        try left.append(1)
        await right.log.waitForEnd(past: 1)
        #expect(eventually { calls.withLock { $0 } == 1 })
        #expect(right.log.end == left.log.end)
        try right.log.close()
    }

    @Test("A batch that is longer than an entry is accepted in part, and a commit that is too long is refused")
    func limits() throws {
        let copy = try TestCopy(MemorySequencer(sequence, maximumEntryBytes: 400))
        let limit = 1_024 * (400 - 116) - 32
        #expect(copy.log.maximumCommitBytes == limit)
        let commits = (0..<10).map { _ in copy.commit() }
        let appended = try copy.log.append(commits, expecting: .start)
        #expect((1..<10).contains(appended.count))
        #expect(try copy.commits.map(\.id) == commits.prefix(appended.count).map(\.id))
        var long = copy.commit()
        long.payload = [UInt8](repeating: 0, count: limit + 1)[...]
        let end = copy.log.end
        #expect { try copy.log.append([long], expecting: end) } throws: { error in
            if case .tooLarge(limit) = error as? AppendFailure { true } else { false }
        }
        #expect(copy.log.end == end)
    }

    @Test("A copy that follows notes how far it has come")
    func noting() throws {
        let writer = try copy()
        let reader = try TestCopy(MemorySequencer(sequence), seed: 2, options: .init(notedEntries: 5))
        let mark = TestCopy.path + "/REPLICA"
        let before = try reader.disk.readAll(mark, atMost: 100)
        try reader.log.follow {}
        try writer.append(20)
        #expect(eventually { (try? reader.disk.readAll(mark, atMost: 100)) ?? before != before })
        try reader.log.close()
    }

    /// A sequencer whose answer to a question for the last number takes time.
    private final class SlowSequencer: Sequencer {
        let inner: MemorySequencer
        let meanwhile = Monitor<(@Sendable () -> Void)?>(nil)

        init(_ sequence: MemorySequencer.Sequence) { inner = MemorySequencer(sequence) }

        var maximumEntryBytes: Int { inner.maximumEntryBytes }
        func append(_ entry: [UInt8], id: Identifier, expecting: UInt64) -> SequencerAnswer {
            inner.append(entry, id: id, expecting: expecting)
        }
        func entries(after number: UInt64, waitingMilliseconds: Int) throws -> [[UInt8]] {
            try inner.entries(after: number, waitingMilliseconds: waitingMilliseconds)
        }
        func last() throws -> UInt64 {
            let last = try inner.last()
            meanwhile.withLock { $0 }?()
            return last
        }
        func trim(through number: UInt64) throws -> UInt64 { try inner.trim(through: number) }
        func close() { inner.close() }
    }

    @Test("Entries that are read while the end is confirmed are not taken for lost ones")
    func readingMeanwhile() throws {
        let sequencer = SlowSequencer(sequence)
        let log = try TestCopy.open(sequencer, SimulatedDisk())
        let other = try TestCopy.open(MemorySequencer(sequence), SimulatedDisk())
        try log.follow {}
        sequencer.meanwhile.withLock {
            $0 = {
                let payload = Envelope(events: [Event(.consoleActed, body: [])]).encoded()
                let commit = NewCommit(id: Identifier(high: 1, low: 1), time: 1, payload: payload[...])
                _ = try? other.append([commit], expecting: other.end)
                _ = eventually { log.end.offset == 1 }
            }
        }
        #expect(try log.confirmEnd() == other.end)
        #expect(log.end.offset == 1)
        try log.close()
    }

    // MARK: Opening

    /// The calls of a sequencer for entries, and from where on.
    private final class CountingSequencer: Sequencer {
        let inner: MemorySequencer
        let starts = Monitor<[UInt64]>([])

        init(_ sequence: MemorySequencer.Sequence) { inner = MemorySequencer(sequence) }

        var maximumEntryBytes: Int { inner.maximumEntryBytes }
        func append(_ entry: [UInt8], id: Identifier, expecting: UInt64) -> SequencerAnswer {
            inner.append(entry, id: id, expecting: expecting)
        }
        func entries(after number: UInt64, waitingMilliseconds: Int) throws -> [[UInt8]] {
            starts.withLock { $0.append(number) }
            return try inner.entries(after: number, waitingMilliseconds: waitingMilliseconds)
        }
        func last() throws -> UInt64 { try inner.last() }
        func trim(through number: UInt64) throws -> UInt64 { try inner.trim(through: number) }
        func close() { inner.close() }
    }

    @Test("A closed copy goes on where it was; without its mark it reads and compares everything")
    func reopening() throws {
        let (left, right) = (try copy(), try copy(seed: 2))
        try left.append(20)
        _ = try right.log.confirmEnd()
        try right.log.close()
        try left.append(5)
        var counting = CountingSequencer(sequence)
        try right.reopen(counting)
        // The identity is read from the first entry, the entry of the mark to recognize it, and the rest after it.
        #expect(counting.starts.withLock { $0.filter { $0 > 0 }.min() } == 20)
        #expect(try right.commits == left.commits)
        for damage in [nil, 3, 20, 40, 63] as [Int?] {
            try right.log.close()
            if let damage {
                try right.disk.flipBit(TestCopy.path + "/REPLICA", byte: damage, bit: 2)
            } else {
                try right.disk.removeFile(TestCopy.path + "/REPLICA")
            }
            counting = CountingSequencer(sequence)
            try right.reopen(counting)
            #expect(counting.starts.withLock { $0.filter { $0 == 0 }.count } >= 2)
            #expect(try right.commits == left.commits)
            try right.append(1)
            _ = try left.log.confirmEnd()
        }
    }

    @Test("What a loss of power took is fetched again, for the log and for what a state names")
    func powerLoss() throws {
        let copy = try copy()
        try copy.append(10)
        try copy.log.sync()
        try copy.append(15)
        let (all, end) = (try copy.commits, copy.log.end)
        let store = try #require(copy.log.segments?.identity.storeID)
        let lost = copy.disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced)
        lost.setContent(Self.state(of: store, at: end), of: TestCopy.path + "/views/state-0000000000000001")
        let opened = try TestCopy(MemorySequencer(sequence), disk: lost)
        #expect(opened.log.segments?.recovery.missingEnd == end)
        #expect(try opened.commits == all)
        try opened.log.close()
        // Only if nobody has it is it damage.
        let ahead = Position(offset: end.offset + 1, chain: 7)
        lost.setContent(Self.state(of: store, at: ahead), of: TestCopy.path + "/views/state-0000000000000001")
        #expect(failureCode { _ = try TestCopy.open(MemorySequencer(sequence), lost) } == .missingSegment)
        // The store without a sequencer reports what it lacks by itself.
        #expect(
            failureCode { _ = try SegmentedLog.open(at: TestCopy.path, platform: Platform(files: lost)) }
                == .missingSegment)
    }

    /// A state file, as far as the log looks at it.
    private static func state(of store: Identifier, at position: Position) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(bytes: "StrataSt".utf8)
        writer.append(UInt16(1))
        writer.append(UInt16(1))
        writer.append(store)
        writer.append(UInt64(1))
        writer.append(position.offset)
        writer.append(position.chain)
        writer.append(bytes: [UInt8](repeating: 0, count: 100))
        return ChecksummedBytes.seal(writer)
    }

    @Test("A directory with another store is refused, and left alone")
    func foreignDirectory() throws {
        let disk = SimulatedDisk()
        try SegmentedLog.open(at: TestCopy.path, platform: Platform(files: disk)).close()
        _ = try copy()
        #expect(failureCode { _ = try TestCopy.open(MemorySequencer(sequence), disk) } == .invalidArgument)
        try SegmentedLog.open(at: TestCopy.path, platform: Platform(files: disk)).close()
    }

    @Test("A copy follows over its own trim")
    func trimming() throws {
        let (left, right) = (try copy(), try copy(seed: 2))
        try left.append(1_200)
        #expect(try left.log.trim(to: 1_000).offset > 0)
        try left.reopen(MemorySequencer(sequence))
        #expect(left.log.end.offset == 1_200)
        try left.log.close()
        try left.disk.removeFile(TestCopy.path + "/REPLICA")
        try left.reopen(MemorySequencer(sequence))
        _ = try right.log.confirmEnd()
        try right.append(1)
        #expect(try left.log.confirmEnd() == right.log.end)
    }

    @Test("Entries that were trimmed before a copy read them are reported as missing")
    func trimmedEntries() throws {
        let (left, right) = (try copy(), try copy(seed: 2))
        try left.append(5)
        _ = try MemorySequencer(sequence).trim(through: 3)
        #expect(failureCode { _ = try right.log.confirmEnd() } == .outOfRange)
        try left.append(1)
    }

    // MARK: Outcomes

    /// A sequencer that loses entries or answers while its mood is bad.
    private final class SilentSequencer: Sequencer {
        enum Mood { case open, losesEntries, losesAnswers }

        let inner: MemorySequencer
        let mood = Monitor(Mood.open)

        init(_ sequence: MemorySequencer.Sequence) { inner = MemorySequencer(sequence) }

        var maximumEntryBytes: Int { inner.maximumEntryBytes }
        func append(_ entry: [UInt8], id: Identifier, expecting: UInt64) -> SequencerAnswer {
            let mood = mood.withLock { $0 }
            if mood != .losesEntries {
                let answer = inner.append(entry, id: id, expecting: expecting)
                if mood == .open { return answer }
            }
            return .unknown(StrataError(.outcomeUnknown, "No answer came."))
        }
        func entries(after number: UInt64, waitingMilliseconds: Int) throws -> [[UInt8]] {
            // Who waited already when the mood changed gets nothing either.
            let entries = try inner.entries(after: number, waitingMilliseconds: waitingMilliseconds)
            return mood.withLock { $0 } == .open ? entries : []
        }
        func last() throws -> UInt64 { try inner.last() }
        func trim(through number: UInt64) throws -> UInt64 { try inner.trim(through: number) }
        func close() { inner.close() }
    }

    private func unknown(_ body: () throws(AppendFailure) -> Void) -> Bool {
        do throws(AppendFailure) { try body() } catch {
            if case .unknown = error { return true }
        }
        return false
    }

    @Test("A log that is followed finds an unknown outcome by itself, and says so", arguments: [true, false])
    func settlingByItself(isIn: Bool) throws {
        let sequencer = SilentSequencer(sequence)
        let copy = try TestCopy(sequencer, options: .init(outcomeMilliseconds: 2_000))
        let settled = Monitor(0)
        try copy.log.follow { [log = copy.log] in
            if !log.isUnsettled { settled.withLock { $0 += 1 } }
        }
        try copy.append(1)
        #expect(!copy.log.isUnsettled && settled.withLock { $0 } == 0)
        let (expecting, commit) = (copy.log.end, copy.commit())
        sequencer.mood.withLock { $0 = isIn ? .losesAnswers : .losesEntries }
        #expect(unknown { () throws(AppendFailure) in _ = try copy.log.append([commit], expecting: expecting) })
        #expect(copy.log.isUnsettled)
        sequencer.mood.withLock { $0 = .open }
        // An entry that was lost is sent again.
        #expect(eventually { !copy.log.isUnsettled && settled.withLock { $0 } == 1 })
        #expect(copy.log.end.offset == 2)
        #expect(try copy.commits.last?.id == commit.id)
        try copy.log.close()
    }

    @Test("An unknown outcome settles: the entry is in, or another made it void", arguments: [true, false])
    func settling(isIn: Bool) throws {
        let sequencer = SilentSequencer(sequence)
        let copy = try TestCopy(sequencer, options: .init(outcomeMilliseconds: 2_000))
        let other = try self.copy(seed: 2)
        try copy.append(1)
        _ = try other.log.confirmEnd()
        let (expecting, commit) = (copy.log.end, copy.commit())
        sequencer.mood.withLock { $0 = isIn ? .losesAnswers : .losesEntries }
        #expect(unknown { () throws(AppendFailure) in _ = try copy.log.append([commit], expecting: expecting) })
        #expect(unknown { () throws(AppendFailure) in _ = try copy.log.settle(milliseconds: 10) })
        if !isIn { try other.append(1) }
        sequencer.mood.withLock { $0 = .open }
        #expect(try copy.log.settle(milliseconds: 60_000).offset == 2)
        let ids = try copy.commits.map(\.id)
        #expect(ids.contains(commit.id) == isIn && ids.count == 2)
        // Repeating it is as safe as ever.
        #expect(try other.log.confirmEnd() == copy.log.end)
        do throws(AppendFailure) {
            let again = try copy.log.append([commit], expecting: expecting)
            #expect(isIn && again.positions == [copy.log.end])
        } catch {
            guard case .conflict = error, !isIn else { throw error }
        }
    }

    @Test("A void entry at the expected place decides nothing: the next one there counts")
    func voidEntries() throws {
        let (left, right) = (try copy(), try copy(seed: 2))
        try left.append(1)
        let old = try #require(try MemorySequencer(sequence).entries(after: 1, waitingMilliseconds: 0).first)
        for _ in 0..<3 {
            // The first entry once more: it was decided on another one than the last.
            _ = sequence.force(old)
            try left.append(1)
        }
        #expect(left.log.end.offset == 4 && sequence.last == 8)
        #expect(try right.log.confirmEnd() == left.log.end)
        #expect(try right.commits == left.commits)
    }

    @Test("Of two processes that found the sequencer empty, the one whose identity came second uses that of the first")
    func secondIdentity() throws {
        let (left, right) = (try copy(), try copy(seed: 2))
        let first = try MemorySequencer(sequence).entries(after: 0, waitingMilliseconds: 0)[0]
        var second = try SequencedEntry(decoding: first)
        (second.store, second.id) = (Identifier(high: 3, low: 4), Identifier(high: 5, low: 6))
        second.content = .identity(
            try StoreIdentity(storeID: second.store, containerIdentifier: "iCloud.other", created: 1), terms: "")
        _ = sequence.force(second.encoded())
        try left.append(2)
        #expect(try right.log.confirmEnd() == left.log.end)
        #expect(try right.commits == left.commits)
    }

    @Test("A fence makes void what was decided before it, and takes no offset")
    func fences() throws {
        let copy = try copy()
        try copy.append(2)
        let last = try MemorySequencer(sequence).entries(after: 2, waitingMilliseconds: 0)[0]
        var fence = try SequencedEntry(decoding: last)
        (fence.previous, fence.position, fence.content) = (fence.id, copy.log.end, .fence)
        fence.id = Identifier(high: 1, low: 2)
        _ = sequence.force(fence.encoded())
        let (end, commit) = (copy.log.end, copy.commit())
        do throws(AppendFailure) { _ = try copy.log.append([commit], expecting: end) } catch {
            guard case .conflict(end) = error else { throw error }
        }
        #expect(try copy.log.append([commit], expecting: end).count == 1)
        #expect(copy.log.end.offset == 3)
    }
}
