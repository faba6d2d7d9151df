import Glibc
import StrataLog
import StrataModel
import StrataReplication
import StrataRules
import StrataSystem
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

@Suite("Requests that go to the home writer", .timeLimit(.minutes(2)))
struct HomeWriterTests {
    private let sequence = MemorySequencer.Sequence()

    private func client(
        _ sequencer: (any Sequencer)? = nil, writes: LogPlace.Writes = .home,
        _ options: ReplicatedLog.Options = ReplicatedLog.Options()
    ) throws -> (client: Client, log: ReplicatedLog) {
        let log = try ReplicatedLog.open(
            at: "/Notes.strata", sequencer: sequencer ?? MemorySequencer(sequence), options: options,
            platform: Platform(files: SimulatedDisk()))
        var options = StoreOptions.service
        options.place = LogPlace(address: "memory") { _ in MemorySequencer() }.writing(writes)
        return (Client(of: try Store(on: log, options: options)).with { $0.zone = "Notes" }, log)
    }

    private func appended(_ client: Client) -> UInt64 { client.store.replication?.appendedBatches ?? .max }

    @Test("The process that wrote last writes for all, and everybody gets the answers of their own requests")
    func oneWriter() throws {
        let home = try client().client
        #expect(home.zones(save: ["Notes"]) == [nil])
        let others = try (0..<2).map { _ in try client().client }
        // They know who wrote last once they have read it.
        for other in others { try other.store.confirm() }
        let mistakes = Lock<[String]>([])
        let threads = try (0..<6).map { thread in
            try WorkerThread(name: "client") {
                let client = others[thread % 2]
                var base: Version?
                for round in 1...20 as ClosedRange<Int64> {
                    do {
                        base = try client.save("note\(thread)", ["number": .int64(round)], base: base)
                        let value = try client.fields("note\(thread)")["number"]
                        if value != .int64(round) { mistakes.withLock { $0.append("\(String(describing: value))") } }
                    } catch { mistakes.withLock { $0.append("\(error)") } }
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(mistakes.withLock { $0 } == [])
        #expect(others.map(appended) == [0, 0])
        #expect(others.allSatisfy { $0.store.replication?.lostBatches == 0 })
        let digests = try home.store.snapshot().digests()
        for other in others {
            try other.store.confirm()
            #expect(try other.store.snapshot().digests() == digests)
        }
    }

    @Test("A refusal is the caller's own, with the record that is in the way")
    func refusals() throws {
        let (home, other) = (try client().client, try client().client)
        #expect(home.zones(save: ["Notes"]) == [nil])
        let version = try home.save("note", ["number": .int64(1)])
        try other.store.confirm()
        guard case .failure(let refusal)? = try other.modify([.init("note")]).get().saves.first else {
            Issue.record("a record was saved over another")
            return
        }
        #expect(refusal.code == .serverRecordChanged && refusal.serverVersion == version)
        #expect(other.codes([.init("note", in: "Nowhere")]) == [.zoneNotFound])
        #expect(appended(other) == 0)
    }

    @Test("When the home writer has gone, another process writes, and the rest send theirs there")
    func takeover() throws {
        let (home, heir, third) = (try client().client, try client().client, try client().client)
        #expect(home.zones(save: ["Notes"]) == [nil])
        for client in [heir, third] { try client.store.confirm() }
        try heir.save("before")
        #expect(appended(heir) == 0)
        try home.store.close()
        try heir.save("after")
        #expect(appended(heir) == 1)
        try third.store.confirm()
        try third.save("last")
        #expect(appended(third) == 0 && heir.exists("last"))
    }

    @Test("An answer that makes no sense is none, and the next request is judged here")
    func wrongAnswer() throws {
        let ((home, log), other) = (try client(), try client().client)
        #expect(home.zones(save: ["Notes"]) == [nil])
        try other.store.confirm()
        MemorySequencer(sequence).serve(log.writer) { _, answer in answer([9, 9]) }
        guard case .failure(let refusal) = other.modify([.init("lost")]) else {
            Issue.record("something was saved")
            return
        }
        #expect(refusal.code == .serverResponseLost && refusal.retryAfterSeconds != nil)
        try other.save("next")
        #expect(appended(other) == 1)
        // A process that cannot read the message has judged nothing.
        try home.store.confirm()
        let third = try client().client
        try third.store.confirm()
        for writer in [log.writer, try #require(third.store.engine.router.forwarding?.log.home)] {
            MemorySequencer(sequence).serve(writer) { _, answer in answer([]) }
        }
        try third.save("own")
        #expect(appended(third) == 1)
    }

    @Test("The commit of another request is no answer, and the request may still be applied")
    func otherCommit() throws {
        let ((home, log), other) = (try client(), try client().client)
        #expect(home.zones(save: ["Notes"]) == [nil])
        try other.store.confirm()
        MemorySequencer(sequence).serve(log.writer) { _, answer in
            answer(ForwardedOutcomes([.committed(1)]).encoded())
        }
        guard case .failure(let refusal) = other.modify([.init("misled")]) else {
            Issue.record("a commit that made a zone saved a record")
            return
        }
        #expect(refusal.code == .serverResponseLost && refusal.retryAfterSeconds != nil && !other.exists("misled"))
    }

    /// Lets another store write before each entry, and gives neither answers nor entries while it is muted.
    private final class OvertakenSequencer: RequestCarrier {
        let inner: MemorySequencer
        let overtake = Lock<(@Sendable () -> Void)?>(nil)
        /// Called when the home writer has answered for the first time.
        let answered = Lock<(@Sendable () -> Void)?>(nil)
        let isMuted = Lock(false)

        init(_ inner: MemorySequencer) { self.inner = inner }

        var maximumEntryBytes: Int { inner.maximumEntryBytes }
        var maximumMessageBytes: Int { inner.maximumMessageBytes }

        func append(_ entry: [UInt8], id: Identifier, expecting: UInt64) -> SequencerAnswer {
            overtake.withLock { $0 }?()
            let answer = inner.append(entry, id: id, expecting: expecting)
            return isMuted.withLock { $0 } ? .unknown(StrataError(.outcomeUnknown, "No answer came.")) : answer
        }

        func entries(after number: UInt64, waitingMilliseconds milliseconds: Int) throws -> [[UInt8]] {
            let entries = try inner.entries(after: number, waitingMilliseconds: min(milliseconds, 5))
            return isMuted.withLock { $0 } ? [] : entries
        }

        func last() throws -> UInt64 { try inner.last() }
        func trim(through number: UInt64) throws -> UInt64 { try inner.trim(through: number) }
        func close() { inner.close() }
        func serve(_ process: Identifier, _ body: @escaping MemorySequencer.Serving) { inner.serve(process, body) }

        func ask(_ process: Identifier, _ message: [UInt8], milliseconds: Int) -> CarriedAnswer {
            let answer = inner.ask(process, message, milliseconds: milliseconds)
            let body = answered.withLock { body in
                defer { body = nil }
                return body
            }
            body?()
            return answer
        }
    }

    /// A process whose own append has no outcome when the home writer answers it.
    private func unsettled(
        by home: Client, answerMilliseconds: Int
    ) throws -> (client: Client, sequencer: OvertakenSequencer) {
        #expect(home.zones(save: ["Notes"]) == [nil])
        let sequencer = OvertakenSequencer(MemorySequencer(sequence))
        let other = try client(
            sequencer, .init(outcomeMilliseconds: 50, answerMilliseconds: answerMilliseconds)
        ).client
        try other.store.confirm()
        let own = Submission(
            NoteRequest.makingZones([ZoneID("Own")]), as: other.actor, OperationInfo(), reply: .function { _ in })
        sequencer.answered.withLock { answered in
            answered = { [pipeline = other.store.pipeline] in
                sequencer.isMuted.withLock { $0 = true }
                pipeline.enqueue(own)
                #expect(eventually { !pipeline.acceptsWrites })
            }
        }
        return (other, sequencer)
    }

    @Test("An answer waits for the outcome of an append of this process, but not forever", .timeLimit(.minutes(1)))
    func unsettledAppend() throws {
        let home = try client().client
        let (other, sequencer) = try unsettled(by: home, answerMilliseconds: 200)
        let start = ContinuousClock.now
        guard case .failure(let refusal) = other.modify([.init("lost")]) else {
            Issue.record("a commit was shown after one that nobody knows")
            return
        }
        #expect(refusal.code == .serverResponseLost && refusal.message.contains("outcome is still unknown here"))
        #expect(start.duration(to: .now) >= .milliseconds(200))
        sequencer.isMuted.withLock { $0 = false }
        #expect(eventually { other.codes([.init("later")]) == [nil] })
        #expect(other.exists("lost") && home.exists("lost"))
    }

    @Test("An answer is given once the outcome of an append of this process is known")
    func settledAppend() throws {
        let home = try client().client
        let (other, sequencer) = try unsettled(by: home, answerMilliseconds: 60_000)
        let settling = try WorkerThread(name: "settling") {
            #expect(eventually { !other.store.pipeline.acceptsWrites })
            usleep(100_000)
            sequencer.isMuted.withLock { $0 = false }
        }
        try other.save("waited")
        settling.join()
        // The home writer has judged it.
        #expect(appended(home) == 2 && other.exists("waited"))
    }

    @Test("A request that always comes second is sent to the process that comes first")
    func starvation() throws {
        let sequencer = OvertakenSequencer(MemorySequencer(sequence))
        let fast = try client(writes: .anywhere).client
        let slow = try client(sequencer, writes: .anywhere).client
        #expect(fast.zones(save: ["Notes"]) == [nil])
        let count = Lock(0)
        sequencer.overtake.withLock { overtake in
            overtake = {
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                _ = try? fast.save("fast\(number)")
            }
        }
        try slow.save("slow")
        #expect(appended(slow) == 0 && fast.exists("slow"))
        #expect(count.withLock { $0 } >= Contention.limit)
    }

    @Test("Of a lost batch, a process sends its own requests to the home writer, and judges those of others")
    func takingBack() throws {
        let home = try client().client
        #expect(home.zones(save: ["Notes"]) == [nil])
        let other = try client().client
        try other.store.confirm()
        let (own, request) = (Ticket<Answer>(), other.request([.init("own")]))
        let left = other.store.engine.router.takeBack([
            Submission(forwarded: request, as: other.actor, OperationInfo(), reply: .function { _ in }),
            Submission(request, as: other.actor, OperationInfo(), reply: .ticket(own)),
        ])
        #expect(left.map(\.isForwarded) == [true])
        #expect(try own.wait().offset != nil)
        #expect(appended(other) == 0 && other.exists("own"))
    }

    @Test("A router that is closed takes no requests for the home writer, and the store still closes")
    func closedRouter() throws {
        let home = try client().client
        #expect(home.zones(save: ["Notes"]) == [nil])
        let other = try client().client
        try other.store.confirm()
        try other.save("before")
        other.store.engine.router.close()
        #expect(thrownCode { try other.store.modify(other.request([.init("after")]), as: other.actor) } == .closed)
        #expect(!home.exists("after"))
        try other.store.close()
    }

    @Test("A sequencer that cannot carry requests is refused where all must go to the home writer")
    func noCarrier() throws {
        var code: StrataError.Code?
        do { _ = try client(MutedSequencer(sequence)) } catch { code = (error as? StrataError)?.code }
        #expect(code == .unsuitable)
        #expect(throws: Never.self) { _ = try client(MutedSequencer(sequence), writes: .anywhere) }
    }

    @Test("Messages are read back as they were written, and no other bytes are")
    func messages() throws {
        let client = try client().client
        let operation = OperationInfo(id: "op", qualityOfService: .init(rawValue: 3), groupID: "g", groupName: "Group")
        let requests = [client.request([.init("a", ["x": .int64(1)])]), client.request([], deletes: ["b"])]
        let encoded = try requests.map { request in
            try ForwardedRequests.encoded(
                Submission(request, as: client.actor, operation, reply: .ticket(Ticket())))
        }
        let message = ForwardedRequests.message(encoded)
        let items = try ForwardedRequests(decoding: message).items
        #expect(items.map(\.request) == requests)
        #expect(items.allSatisfy { $0.actor == client.actor && $0.operation == operation })
        for count in 0..<message.count {
            #expect(throws: StrataError.self) { try ForwardedRequests(decoding: Array(message[..<count])) }
        }
        let outcomes: [ForwardedOutcomes.Outcome] = [.committed(1), .nothing, .unknown, .committed(1 << 40)]
        let answer = ForwardedOutcomes(outcomes).encoded()
        #expect(try ForwardedOutcomes(decoding: answer, count: 4).outcomes == outcomes)
        for wrong in [3, 5] {
            #expect(throws: StrataError.self) { try ForwardedOutcomes(decoding: answer, count: wrong) }
        }
    }
}
