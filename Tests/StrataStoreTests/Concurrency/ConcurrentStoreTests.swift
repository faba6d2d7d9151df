import Glibc
import ModelComparison
import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

@Suite("Concurrent writers and readers of one store")
struct ConcurrentStoreTests {
    enum Ground: String, CaseIterable, Sendable {
        case segmented, memory, hostile
    }

    private func open(_ ground: Ground) throws -> Store {
        var options = StoreOptions.service
        options.segmentBytes = 64 << 10
        options.trees.generationBytes = 128 << 10
        switch ground {
        case .segmented:
            return try Store.open(at: "/Busy.strata", options: options, platform: Platform(files: SimulatedDisk()))
        case .memory: return try Store(on: MemoryLog(), options: options)
        case .hostile:
            let log = HostileLog(.init(gaps: 100, partialAcceptance: 200, conflicts: 50, refusals: 50), seed: 4)
            return try Store(on: log, options: options)
        }
    }

    @Test("Each client's order holds, and what was acknowledged is seen", arguments: Ground.allCases)
    func sixteenWriters(ground: Ground) async throws {
        let store = try open(ground)
        let failures = Lock<[String]>([])
        @Sendable func watched(_ body: () throws -> Void) {
            do { try body() } catch { failures.withLock { $0.append("\(error)") } }
        }
        let threads = try (0..<8).map { number in
            try WorkerThread(name: "writer") { watched { try StoreClient(store, number).live() } }
        }
        let indexer = try WorkerThread(name: "indexer") {
            watched {
                for field in ["number", "text"] {
                    // There is nothing to be indexed before the first record.
                    _ = eventually { (try? store.declareIndex(type: "Note", field: field)) != nil }
                    try store.declareIndex(type: "Note", field: field)
                }
                for _ in 0..<50 { _ = try store.snapshot().digests() }
            }
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 8..<16 {
                group.addTask {
                    do { try await StoreClient(store, number).liveAsync() } catch {
                        failures.withLock { $0.append("\(error)") }
                    }
                }
            }
        }
        for thread in threads { thread.join() }
        indexer.join()
        #expect(failures.withLock { $0 } == [])
        for number in 0..<16 { try StoreClient(store, number).checkEnd() }
        let digests = try store.snapshot().digests()
        #expect(try Views.inMemory(store.log).trees.snapshot().digests() == digests)
        try store.close()
    }

    @Test("Closing while others write: each request is done or refused as a whole, and nobody hangs")
    func closing() throws {
        let disk = SimulatedDisk()
        let store = try Store.open(at: "/Busy.strata", platform: Platform(files: disk))
        let acknowledged = Lock<[Int: Int]>([:])
        let threads = try (0..<16).map { number in
            try WorkerThread(name: "writer") {
                do {
                    let client = StoreClient(store, number)
                    _ = try store.modify(NoteRequest.makingZones(), as: client.actor)
                    for round in 0..<10_000 {
                        try client.save(round)
                        acknowledged.withLock { $0[number] = round }
                    }
                } catch { #expect((error as? StrataError)?.code == .closed) }
            }
        }
        _ = eventually { acknowledged.withLock { $0.count } >= 4 }
        try store.close()
        for thread in threads { thread.join() }
        let again = try Store.open(at: "/Busy.strata", platform: Platform(files: disk))
        for (number, round) in acknowledged.withLock({ $0 }) {
            // One more may have been done, and its answer have come after the end.
            let newest = try StoreClient(again, number).newest() ?? -1
            #expect((Int64(round)...Int64(round) + 1).contains(newest))
        }
        try again.close()
    }
}

/// One user with one device, who saves, deletes and reads.
private struct StoreClient: Sendable {
    static let rounds = 24
    let store: Store
    let actor: Actor

    init(_ store: Store, _ number: Int) {
        self.store = store
        actor = Actor(user: "user-\(number)", device: "phone")
    }

    /// What is saved in a round: the newest number, and a record of the round.
    private func saving(_ round: Int) -> Request {
        NoteRequest.saving(
            ["newest", "round-\(round)"],
            [("number", .int64(Int64(round))), ("text", .string(String(repeating: "x", count: round * 9)))])
    }

    func save(_ round: Int) throws {
        try checkVisible(try retrying { try store.modify(saving(round), as: actor) }, round)
    }

    func live() throws {
        _ = try retrying { try store.modify(NoteRequest.makingZones(), as: actor) }
        var last: UInt64 = 0
        for round in 0..<Self.rounds {
            let answer = try retrying { try store.modify(saving(round), as: actor) }
            try check((answer.offset ?? 0) > last, "a later request came earlier")
            last = answer.offset ?? 0
            try checkVisible(answer, round)
            if round % 3 == 2 {
                _ = try retrying { try store.modify(NoteRequest.deleting(["round-\(round - 1)"]), as: actor) }
            }
        }
    }

    func liveAsync() async throws {
        _ = try await retryingAsync { try await store.modify(NoteRequest.makingZones(), as: actor) }
        var last: UInt64 = 0
        for round in 0..<Self.rounds {
            let answer = try await retryingAsync { try await store.modify(saving(round), as: actor) }
            try check((answer.offset ?? 0) > last, "a later request came earlier")
            last = answer.offset ?? 0
            try checkVisible(answer, round)
            if round % 3 == 2 {
                _ = try await retryingAsync {
                    try await store.modify(NoteRequest.deleting(["round-\(round - 1)"]), as: actor)
                }
            }
        }
    }

    /// In the answer's state, and in the newest one.
    private func checkVisible(_ answer: Answer, _ round: Int) throws {
        for snapshot in [answer.snapshot, store.snapshot()] {
            let id = NoteRequest.id("newest")
            let number = try snapshot.record(id, in: NoteRequest.database, as: actor)["number"]
            try check(number == .int64(Int64(round)), "\(actor.user) saved \(round) and reads \(number as Any)")
        }
    }

    func newest() throws -> Int64? {
        let record = try store.snapshot().record(NoteRequest.id("newest"), in: NoteRequest.database, as: actor)
        guard case .int64(let number)? = try record["number"] else { return nil }
        return number
    }

    func checkEnd() throws {
        #expect(try newest() == Int64(Self.rounds - 1))
        let ids = (0..<Self.rounds).map { NoteRequest.id("round-\($0)") }
        let found = try store.snapshot().records(ids, in: NoteRequest.database, as: actor)
        for (round, result) in found.enumerated() { #expect(((try? result.get()) == nil) == (round % 3 == 1)) }
    }

    private func check(_ isTrue: Bool, _ message: String) throws {
        if !isTrue { throw Divergence(description: message) }
    }

    /// A hostile log may refuse, which is no error of the store.
    private func retrying(_ body: () throws -> Answer) throws -> Answer {
        for _ in 0..<100 {
            do { return try body() } catch let refusal as Refusal where refusal.code == .serviceUnavailable {}
        }
        return try body()
    }

    private func retryingAsync(_ body: () async throws -> Answer) async throws -> Answer {
        for _ in 0..<100 {
            do { return try await body() } catch let refusal as Refusal where refusal.code == .serviceUnavailable {}
        }
        return try await body()
    }
}
