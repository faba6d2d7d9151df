import StrataLog
import StrataModel
import StrataReplication
import StrataSystem
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

@Suite("A new copy that folds commits while others come", .timeLimit(.minutes(2)))
struct EarlyFoldTests {
    private static let path = "/Notes.strata"
    private let sequence = MemorySequencer.Sequence()

    /// Gives the last entries only once the copy's views exist, which are made when the fold begins.
    private final class FoldFirst: Sequencer {
        private let inner: MemorySequencer
        private let disk: SimulatedDisk
        private let rest: UInt64

        init(_ sequence: MemorySequencer.Sequence, _ disk: SimulatedDisk, rest: UInt64) {
            inner = MemorySequencer(sequence)
            (self.disk, self.rest) = (disk, rest)
        }

        var maximumEntryBytes: Int { inner.maximumEntryBytes }
        func append(_ entry: [UInt8], id: Identifier, expecting: UInt64) -> SequencerAnswer {
            inner.append(entry, id: id, expecting: expecting)
        }
        func entries(after number: UInt64, waitingMilliseconds milliseconds: Int) throws -> [[UInt8]] {
            let (entries, first) = try (
                inner.entries(after: number, waitingMilliseconds: milliseconds), inner.last() - rest
            )
            if number < first { return Array(entries.prefix(Int(first - number))) }
            return try disk.exists(EarlyFoldTests.path + "/views") ? entries : []
        }
        func last() throws -> UInt64 { try inner.last() }
        func trim(through number: UInt64) throws -> UInt64 { 0 }
        func close() { inner.close() }
    }

    /// Lets another process commit just before this one's first entry, once the fold has begun.
    private final class Overtaken: Sequencer {
        private let inner: MemorySequencer
        private let disk: SimulatedDisk
        private let before: Lock<(@Sendable () throws -> Void)?>

        init(
            _ sequence: MemorySequencer.Sequence, _ disk: SimulatedDisk,
            _ before: @escaping @Sendable () throws -> Void
        ) {
            inner = MemorySequencer(sequence)
            self.disk = disk
            self.before = Lock(before)
        }

        var maximumEntryBytes: Int { inner.maximumEntryBytes }
        func append(_ entry: [UInt8], id: Identifier, expecting: UInt64) -> SequencerAnswer {
            let first = before.withLock { body in
                defer { body = nil }
                return body
            }
            if let first {
                _ = eventually { (try? disk.exists(EarlyFoldTests.path + "/views")) == true }
                try? first()
            }
            return inner.append(entry, id: id, expecting: expecting)
        }
        func entries(after number: UInt64, waitingMilliseconds milliseconds: Int) throws -> [[UInt8]] {
            try inner.entries(after: number, waitingMilliseconds: milliseconds)
        }
        func last() throws -> UInt64 { try inner.last() }
        func trim(through number: UInt64) throws -> UInt64 { 0 }
        func close() { inner.close() }
    }

    private func open(_ sequencer: any Sequencer, _ disk: SimulatedDisk) throws -> Client {
        var options = StoreOptions.service
        options.place = LogPlace(address: "memory") { _ in sequencer }
        let store = try Store.open(at: Self.path, options: options, platform: Platform(files: disk))
        return Client(of: store).with { $0.zone = "Notes" }
    }

    /// Opens a store and saves a hundred records in it.
    private func writer() throws -> Client {
        let client = try open(MemorySequencer(sequence), SimulatedDisk())
        #expect(client.zones(save: ["Notes"]) == [nil])
        for number in 0..<100 as Range<Int64> { try client.save("note\(number)", ["number": .int64(number)]) }
        return client
    }

    /// Makes a copy without commits: an opening that ends before it has read one.
    private func beginCopy(on disk: SimulatedDisk) {
        #expect(throws: StrataError.self) {
            _ = try ReplicatedLog.open(
                at: Self.path, sequencer: GatedSequencer(sequence, through: 1),
                options: .init(outcomeMilliseconds: 50), platform: Platform(files: disk))
        }
    }

    @Test("It has everything when it opens, and its state is that of a copy that read everything first")
    func folding() throws {
        let writer = try writer()
        #expect(writer.modify(deletes: ["note7"]).codes == [nil])
        let disk = SimulatedDisk()
        let copy = try open(FoldFirst(sequence, disk, rest: 20), disk)
        #expect(copy.store.offset == writer.store.offset)
        #expect(try copy.fields("note99") == ["number": .int64(99)])
        #expect(try copy.store.snapshot().digests() == writer.store.snapshot().digests())
        // It writes, and follows, as any other.
        let version = try copy.save("another")
        try writer.save("another", ["number": .int64(1)], base: version)
        _ = try copy.store.confirm()
        #expect(try copy.fields("another") == ["number": .int64(1)])
        try copy.store.close()
        try writer.store.close()
    }

    // The moment at which the fold meets the end is not the test's to choose, so it takes place many times.
    @Test("A commit of another process that comes while the copy fences is folded before it opens")
    func fencing() throws {
        let writer = try writer()
        for round in 0..<40 {
            let disk = SimulatedDisk()
            beginCopy(on: disk)
            let copy = try open(Overtaken(sequence, disk) { try writer.save("late\(round)") }, disk)
            #expect(copy.exists("late\(round)") && copy.store.offset == writer.store.offset)
            #expect(try copy.store.snapshot().digests() == writer.store.snapshot().digests())
            let end = copy.store.offset
            #expect(try copy.save("mine\(round)").offset == end + 1)
            _ = try writer.store.confirm()
            try copy.store.close()
        }
        try writer.store.close()
    }

    @Test("One with a state first gets the commits that it lost, and keeps the state")
    func lostLog() throws {
        let writer = try writer()
        let disk = SimulatedDisk()
        try open(MemorySequencer(sequence), disk).store.close()
        let (other, log) = (SimulatedDisk(), Self.path + "/log")
        beginCopy(on: other)
        for name in try disk.list(log) { try disk.remove("\(log)/\(name)") }
        for name in try other.list(log) {
            try disk.replace("\(log)/\(name)", in: log, with: other.readAll("\(log)/\(name)", atMost: 64 << 20))
        }
        let copy = try open(MemorySequencer(sequence), disk)
        #expect(copy.store.opening?.views == .whole && copy.store.offset == writer.store.offset)
        try copy.store.close()
        try writer.store.close()
    }
}
