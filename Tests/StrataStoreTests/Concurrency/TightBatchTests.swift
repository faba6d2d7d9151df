import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews
import Synchronization
import Testing

@testable import StrataStore

/// Requests that wait together while there is little room for what they come to.
@Suite("A batch without room")
struct TightBatchTests {
    /// Whoever asks for the time first waits, and with it all that is judged.
    private final class HeldTime: TimeSource {
        let gate = Gate()
        private let isHeld = Atomic(false)
        private let microseconds = Atomic<Int64>(1_795_240_000_000_000)

        func hold() { isHeld.store(true, ordering: .sequentiallyConsistent) }

        func nowMicroseconds() -> Int64 {
            let isFirst = isHeld.exchange(false, ordering: .sequentiallyConsistent)
            if isFirst { gate.wait() }
            return microseconds.wrappingAdd(1_000, ordering: .sequentiallyConsistent).newValue
        }
    }

    private struct Outcome {
        var offsets: [UInt64] = []
        var failures: [any Error] = []
        var hasMixedBatch: Bool { offsets.count > 1 && !failures.isEmpty }
    }

    private static let anna = Actor(user: "anna", device: "phone")
    private static let requestCount = 48
    private static let noteCount = 120

    private static func note(_ number: Int) -> String { "note-\(number)" }

    private static func saving(_ numbers: [Int], _ word: Character) -> Request {
        NoteRequest.saving(numbers.map(note), [("title", .string(String(repeating: word, count: 300)))])
    }

    /// Two saves of each of many notes, one of three giving it a parent, or deleting another one, which looks for
    /// children.
    private static func request(_ number: Int) -> Request {
        if number % 6 == 4 { return NoteRequest.deleting([note(number * 7 % noteCount)]) }
        var request = saving([number / 2 * 11 % noteCount], "b")
        guard number % 6 == 2, case .modifyRecords(var body) = request.content else { return request }
        body.saves[0].parent = .set(RecordKey(zone: body.saves[0].record.zone, name: note(1)))
        request.content = .modifyRecords(body)
        return request
    }

    @Test("Each request is done once or not at all, and the state is what the log says")
    func oneAfterTheOther() async throws {
        let least = try #require(try (24..<1_000).first(where: hasRoom))
        // Which requests go together is chance, and so is for how many there is room.
        var (mixedCount, roundCount) = (0, 0)
        while mixedCount < 4, roundCount < 10 {
            roundCount += 1
            for pages in least..<least + 40 where try await outcome(arenaPages: pages).hasMixedBatch { mixedCount += 1 }
        }
        #expect(mixedCount >= 4, "some had room and some had none, \(mixedCount) times")
    }

    @Test("A large request without room is not in the log, and the store goes on")
    func largeRequest() throws {
        let store = try store(arenaPages: 400, HeldTime())
        _ = try store.modify(NoteRequest.makingZones(), as: Self.anna)
        var failure: (any Error)?
        for round in 0..<1_000 where failure == nil {
            let end = store.log.end.offset
            let request = Self.saving(Array(round * 100..<round * 100 + 100), "a")
            do { _ = try store.modify(request, as: Self.anna) } catch {
                failure = error
                #expect(store.log.end.offset == end)
            }
        }
        #expect((failure as? StrataError)?.code == .noSpace, "\(String(describing: failure))")
        #expect(store.pipeline.acceptsWrites)
        #expect(try store.snapshot().digests() == Views.inMemory(store.log).trees.snapshot().digests())
        try store.close()
    }

    private func hasRoom(arenaPages: Int) throws -> Bool {
        let store = try store(arenaPages: arenaPages, HeldTime())
        defer { try? store.close() }
        return try prepare(store)
    }

    private func store(arenaPages: Int, _ time: HeldTime) throws -> Store {
        var options = StoreOptions.service
        options.trees.reservedBytes = arenaPages * 4_096
        return try Store.inMemory(options: options, platform: Platform(time: time))
    }

    /// False if there is not even room for what is there before.
    private func prepare(_ store: Store) throws -> Bool {
        do {
            _ = try store.modify(NoteRequest.makingZones(), as: Self.anna)
            for start in stride(from: 0, to: Self.noteCount, by: 40) {
                _ = try store.modify(Self.saving(Array(start..<start + 40), "a"), as: Self.anna)
            }
            return true
        } catch let error as StrataError where error.code == .noSpace {
            return false
        } catch is Refusal { return false }
    }

    private func outcome(arenaPages: Int) async throws -> Outcome {
        let time = HeldTime()
        let store = try store(arenaPages: arenaPages, time)
        defer { try? store.close() }
        guard try prepare(store) else { return Outcome() }
        let before = store.log.end.offset
        let outcome = await outcomeOfBatch(store, time)
        try check(outcome, store, before)
        return outcome
    }

    private func outcomeOfBatch(_ store: Store, _ time: HeldTime) async -> Outcome {
        time.hold()
        return await withTaskGroup(of: Result<UInt64, any Error>.self) { group in
            for number in 0..<Self.requestCount {
                group.addTask {
                    let request = Self.request(number)
                    do {
                        return .success(try #require(try await store.modify(request, as: Self.anna).offset))
                    } catch { return .failure(error) }
                }
            }
            // Those that come while the first waits for the time go together.
            for _ in 0..<1_000 where store.pipeline.state.withLock({ $0.queue.count }) < Self.requestCount - 4 {
                try? await Task.sleep(for: .milliseconds(1))
            }
            time.gate.open()
            var outcome = Outcome()
            for await result in group {
                switch result {
                case .success(let offset): outcome.offsets.append(offset)
                case .failure(let error): outcome.failures.append(error)
                }
            }
            return outcome
        }
    }

    private func check(_ outcome: Outcome, _ store: Store, _ before: UInt64) throws {
        let commitCount = Int(store.log.end.offset - before)
        try #require(Set(outcome.offsets).count == outcome.offsets.count)
        try #require(outcome.offsets.allSatisfy { $0 > before && $0 <= store.log.end.offset })
        try #require(outcome.failures.allSatisfy { ($0 as? StrataError)?.code == .noSpace || $0 is Refusal })
        // Once a state could not follow the log, nothing more is written, and what is in the log is not answered.
        if outcome.failures.contains(where: { $0 is Refusal }) { return }
        try #require(commitCount == outcome.offsets.count)
        try #require(try store.snapshot().digests() == Views.inMemory(store.log).trees.snapshot().digests())
    }
}
