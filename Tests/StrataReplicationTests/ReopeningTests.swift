import StrataLog
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataReplication

@Suite("A copy that is opened again")
struct ReopeningTests {
    private let sequence = MemorySequencer.Sequence()

    /// Returns an entry that was decided on the present end and is still on its way.
    private func lateEntry(of copy: TestCopy) throws -> [UInt8] {
        let entries = try MemorySequencer(sequence).entries(after: 0, waitingMilliseconds: 0)
        let last = try SequencedEntry(decoding: #require(entries.last))
        return SequencedEntry(
            store: last.store, id: Identifier(high: 7, low: 7), writer: last.writer, previous: last.id,
            position: copy.log.end, content: .commits([copy.commit()])
        ).encoded()
    }

    @Test("What the process had on its way when it was killed cannot come in later")
    func fencing() throws {
        let copy = try TestCopy(MemorySequencer(sequence))
        try copy.append(2)
        let late = try lateEntry(of: copy)
        try copy.reopenAfterPowerLoss(MemorySequencer(sequence))
        let end = copy.log.end
        _ = sequence.force(late)
        #expect(try copy.log.confirmEnd() == end && end.offset == 2)
        try copy.append(1)
        #expect(copy.log.end.offset == 3)
    }

    @Test("A copy that was closed costs no entry when it is opened")
    func closed() throws {
        let copy = try TestCopy(MemorySequencer(sequence))
        try copy.append(2)
        let last = sequence.last
        for _ in 0..<3 { try copy.reopen(MemorySequencer(sequence)) }
        #expect(sequence.last == last)
    }

    @Test("A directory is known to be a copy from the moment it has an identity")
    func marking() throws {
        let copy = try TestCopy(MemorySequencer(sequence))
        try copy.append(1)
        let disk = SimulatedDisk()
        // The first opening ends while it reads.
        let broken = BrokenReading(sequence)
        #expect(throws: StrataError.self) {
            _ = try TestCopy.open(broken, disk, .init(outcomeMilliseconds: 50))
        }
        let paths = StorePaths(TestCopy.path)
        #expect(try disk.exists(paths.identity) && disk.exists(paths.replica))
    }

    /// A sequencer that shows its first entry only.
    private final class BrokenReading: Sequencer {
        private let inner: MemorySequencer
        init(_ sequence: MemorySequencer.Sequence) { inner = MemorySequencer(sequence) }

        var maximumEntryBytes: Int { inner.maximumEntryBytes }
        func append(_ entry: [UInt8], id: Identifier, expecting: UInt64) -> SequencerAnswer { .taken }
        func entries(after number: UInt64, waitingMilliseconds: Int) throws -> [[UInt8]] {
            number == 0 ? try Array(inner.entries(after: 0, waitingMilliseconds: 0).prefix(1)) : []
        }
        func last() throws -> UInt64 { try inner.last() }
        func trim(through number: UInt64) throws -> UInt64 { 0 }
        func close() { inner.close() }
    }

    @Test("An empty sequencer stays empty when a directory with another store is opened on it")
    func foreignDirectory() throws {
        let disk = SimulatedDisk()
        let platform = Platform(files: disk)
        try SegmentedLog.open(at: TestCopy.path, platform: platform).close()
        var error = #expect(throws: StrataError.self) { _ = try TestCopy.open(MemorySequencer(sequence), disk) }
        #expect(error?.code == .invalidArgument && sequence.last == 0)
        error = #expect(throws: StrataError.self) {
            _ = try ReplicatedLog.open(
                at: "/Other.strata", sequencer: MemorySequencer(sequence), log: LogOptions(createsStore: false),
                platform: platform)
        }
        #expect(error?.code == .notFound && sequence.last == 0)
    }

    @Test("A store that is one by itself stays one when the sequencer has other commits")
    func storeByItself() throws {
        let copy = try TestCopy(MemorySequencer(sequence))
        try copy.append(2)
        try copy.log.close()
        try copy.disk.remove(StorePaths(TestCopy.path).replica)
        let alone = try SegmentedLog.open(at: TestCopy.path, platform: Platform(files: copy.disk))
        _ = try alone.append([copy.commit()], expecting: alone.end)
        try alone.close()
        #expect(throws: StrataError.self) { _ = try TestCopy.open(MemorySequencer(sequence), copy.disk) }
        #expect(try !copy.disk.exists(StorePaths(TestCopy.path).replica))
    }

    @Test("All processes must have the options of the first")
    func terms() throws {
        func open(_ terms: String) throws {
            let log = try ReplicatedLog.open(
                at: TestCopy.path, sequencer: MemorySequencer(sequence), options: .init(terms: terms),
                platform: Platform(files: SimulatedDisk()))
            try log.close()
        }
        try open("schema open\nlimits 400")
        try open("schema open\nlimits 400")
        // A tool, which judges no requests, and releases with other options.
        for text in ["", "schema open", "schema open\nlimits 400\nlater 1", "later 1"] { try open(text) }
        let error = try #require(throws: StrataError.self) { try open("schema enforced\nlimits 400") }
        #expect(error.code == .invalidArgument)
        #expect(error.context.expected == "schema open" && error.context.found == "schema enforced")
    }

    @Test("A copy whose disk is full in the middle of an entry refuses appends, and goes on when there is room")
    func fullDisk() throws {
        let writer = try TestCopy(MemorySequencer(sequence))
        let reader = try TestCopy(MemorySequencer(sequence), seed: 2, options: .init(outcomeMilliseconds: 100))
        try writer.append(1)
        _ = try reader.log.confirmEnd()
        // More than the active segment has room for.
        let large = (0..<40).map { _ in
            var commit = writer.commit()
            commit.payload =
                Envelope(
                    events: [Event(.consoleActed, body: SeededRandom(seed: 3).nextBytes(count: 4_000)[...])]
                ).encoded()[...]
            return commit
        }
        reader.disk.capacityBytes = reader.disk.usedBytes + 100_000
        #expect(try writer.log.append(large, expecting: writer.log.end).count == 40)
        #expect(throws: StrataError.self) { _ = try reader.log.confirmEnd() }
        let partial = reader.log.end
        #expect(partial.offset > 1 && partial.offset < writer.log.end.offset)
        do throws(AppendFailure) {
            _ = try reader.log.append([reader.commit()], expecting: partial)
            Issue.record("appended on a part of an entry")
        } catch {
            guard case .notWritten = error else { throw error }
        }
        reader.disk.capacityBytes = nil
        #expect(try reader.log.confirmEnd() == writer.log.end)
        #expect(try reader.commits == writer.commits)
    }

    @Test("A sequencer that is closed too early does not keep a core busy")
    func closedSequencer() throws {
        let sequencer = MemorySequencer(sequence)
        let log = try TestCopy.open(sequencer, SimulatedDisk())
        sequencer.close()
        let seconds = try ThreadTime.seconds { _ = try log.advance(milliseconds: 200) { _ in false } }
        #expect(seconds < 0.1)
        try log.close()
    }
}
