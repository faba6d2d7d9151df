import StrataLog
import StrataModel
import StrataReplication
import StrataSystem
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

@Suite("A process of an earlier release beside one of a later one", .timeLimit(.minutes(2)))
struct LaterReleaseTests {
    private let sequence = MemorySequencer.Sequence()

    private func open(_ disk: SimulatedDisk) throws -> Client {
        var options = StoreOptions.service
        options.place = LogPlace(address: "memory") { [sequence] _ in MemorySequencer(sequence) }
        let store = try Store.open(at: "/Notes.strata", options: options, platform: Platform(files: disk))
        return Client(of: store).with { $0.zone = "Notes" }
    }

    /// The process of the later release: it appends to the log what this one cannot read.
    private func later() throws -> ReplicatedLog {
        try ReplicatedLog.open(
            at: "/Later.strata", sequencer: MemorySequencer(sequence), platform: Platform(files: SimulatedDisk()))
    }

    /// A commit with an event that no release has.
    private func unknown() throws -> NewCommit {
        var commit = CommitBuilder()
        try commit.append(Event(EventKind(rawValue: 99), body: [1, 2, 3]))
        return NewCommit(
            id: Identifier(high: 9, low: 9), time: 4_000_000_000_000_000,
            payload: commit.payload(EnvelopeHeader(user: 1))[...])
    }

    private func isExplained(_ text: String, at offset: UInt64? = nil) -> Bool {
        text.contains("A later release wrote") && text.contains("update the program")
            && (offset.map { text.contains("offset \($0)") } ?? true)
    }

    @Test("An unknown event: it reads on at the state before it, writes nothing more, and says why")
    func events() throws {
        let disk = SimulatedDisk()
        let client = try open(disk)
        #expect(client.zones(save: ["Notes"]) == [nil])
        try client.save("note", ["number": .int64(1)])
        let newer = try later()
        // One that can be read comes in the same batch before it.
        let known = try #require(try newer.commit(at: newer.end.offset))
        let filler = NewCommit(id: Identifier(high: 8, low: 8), time: known.time, payload: try audit())
        _ = try newer.append([filler, unknown()], expecting: try newer.confirmEnd())
        let offset = newer.end.offset
        #expect(eventually { client.store.replication?.failure != nil })
        let failure = try #require(client.store.replication?.failure)
        #expect(failure.code == .newerFormat && isExplained("\(failure)", at: offset), "\(failure)")
        #expect(eventually { client.store.offset == offset - 1 })
        let last = sequence.last
        for _ in 0..<3 {
            guard case .failure(let refusal) = client.modify([.init("more")]) else {
                Issue.record("it was written")
                return
            }
            #expect(refusal.code == .serviceUnavailable && isExplained(refusal.message, at: offset), "\(refusal)")
        }
        #expect(try client.fields("note") == ["number": .int64(1)] && !client.exists("more"))
        #expect(thrownCode { try client.store.confirm() } == .newerFormat)
        // What the later release writes counts, and nothing of this one comes after it.
        let after = NewCommit(id: Identifier(high: 7, low: 7), time: 4_000_000_000_000_000, payload: try audit())
        _ = try newer.append([after], expecting: newer.end)
        #expect(client.codes([.init("more")]) == [.serviceUnavailable])
        try client.store.close()
        #expect(sequence.last == last + 1 && newer.end.offset == offset + 1)
        // It cannot be opened for writing, and changes nothing then either; the state before can be read.
        for _ in 0..<2 { #expect(thrownCode { _ = try open(disk) } == .newerFormat) }
        #expect(try newer.confirmEnd().offset == offset + 1)
        let past = try Store.open(at: "/Notes.strata", through: offset - 1, platform: Platform(files: disk))
        let note = try past.snapshot().record(client.id("note"), in: client.database, as: client.actor)
        #expect(try note["number"] == .int64(1))
        try past.close()
        try newer.close()
    }

    /// The payload of a note that every release knows.
    private func audit() throws -> ArraySlice<UInt8> {
        var commit = CommitBuilder()
        try commit.append(ConsoleActedEvent(ConsoleNote("noted")).event())
        return commit.payload(EnvelopeHeader(user: 1))[...]
    }

    @Test("An entry of a later version: the same")
    func entries() throws {
        let client = try open(SimulatedDisk())
        #expect(client.zones(save: ["Notes"]) == [nil])
        try client.save("note", ["number": .int64(1)])
        let offset = client.store.offset
        let last = try #require(
            try MemorySequencer(sequence).entries(after: sequence.last - 1, waitingMilliseconds: 0).first)
        var entry = Array(last.dropLast(4))
        entry[4] = 2
        let checksum = entry.withUnsafeBytes { CRC32C.checksum($0) }
        let number = sequence.force(entry + withUnsafeBytes(of: checksum.littleEndian) { Array($0) })
        #expect(eventually { client.store.replication?.failure?.code == .newerFormat })
        let failure = try #require(client.store.replication?.failure)
        #expect(isExplained("\(failure)") && "\(failure)".contains("entry \(number)"), "\(failure)")
        guard case .failure(let refusal) = client.modify([.init("more")]) else {
            Issue.record("it was written")
            return
        }
        #expect(refusal.code == .serviceUnavailable && isExplained(refusal.message), "\(refusal)")
        #expect(try client.fields("note") == ["number": .int64(1)] && client.store.offset == offset)
        try client.store.close()
        #expect(sequence.last == number)
    }

    @Test("A batch that an earlier release had decided is void once the later one's entry is there")
    func overtaken() throws {
        let muted = MutedSequencer(sequence)
        let platform = Platform(files: SimulatedDisk())
        let log = try ReplicatedLog.open(
            at: "/Notes.strata", sequencer: muted, options: .init(outcomeMilliseconds: 50), platform: platform)
        let client = Client(of: try Store(on: log, platform: platform)).with { $0.zone = "Notes" }
        #expect(client.zones(save: ["Notes"]) == [nil])
        let newer = try later()
        muted.isMuted.withLock { $0 = true }
        _ = try newer.append([unknown()], expecting: try newer.confirmEnd())
        let offset = newer.end.offset
        #expect(client.codes([.init("lost")]).allSatisfy { $0 == .serverResponseLost || $0 == .serviceUnavailable })
        muted.isMuted.withLock { $0 = false }
        #expect(eventually { client.store.replication?.failure?.code == .newerFormat })
        #expect(client.codes([.init("more")]) == [.serviceUnavailable])
        #expect(try newer.confirmEnd().offset == offset)
        try client.store.close()
        #expect(try newer.confirmEnd().offset == offset)
        try newer.close()
    }
}
