import Glibc
import StrataLog
import StrataModel
import StrataRules
import TestSupport
import Testing

@testable import StrataStore

/// Requests of one client that wait together (B269).
@Suite struct RequestOrderTests {
    private static let count = 60

    private let anna = Actor(user: "anna")

    /// What the request of a place in the row does: every tenth deletes the record that the others save.
    private static func request(_ number: Int) -> Request {
        if number % 10 == 9 { return NoteRequest.deleting(["a"]) }
        let fields: [(String, FieldValue)] = [("last", .int64(Int64(number))), ("n\(number)", .int64(1))]
        return NoteRequest.saving(["a"], fields, policy: .changedKeys)
    }

    @Test func `B269 requests that are in flight together are applied in the order of their coming`() async throws {
        let store = try Store(on: MemoryLog())
        _ = try await store.modify(NoteRequest.makingZones(), as: anna)
        let pipeline = store.pipeline
        // Nobody judges anything until all of them wait.
        pipeline.state.withLock { $0.turns.takeBoth() }
        var tasks: [Task<Answer, any Error>] = []
        for number in 0..<Self.count {
            tasks.append(Task { try await store.modify(Self.request(number), as: anna) })
            try #require(try await awaited { pipeline.state.withLock { $0.queue.count } > number })
        }
        #expect(pipeline.state.withLock { $0.queue.count } == Self.count)
        pipeline.releaseDeciding()
        pipeline.releaseAppending()
        var offset: UInt64 = 1
        for (number, task) in tasks.enumerated() {
            let answer = try await task.value
            offset += 1
            #expect(answer.offset == offset, "request \(number)")
            let isSaved = answer.result.saves.allSatisfy { (try? $0.get()) != nil }
            #expect(isSaved && answer.result.deletes.allSatisfy { $0 == nil }, "request \(number)")
        }
        // The last one deletes; one commit before, the record has what the nine before it saved and no more.
        let id = NoteRequest.id("a")
        #expect(throws: Refusal.self) { try store.snapshot().record(id, in: NoteRequest.database, as: anna) }
        let version = try #require(try await tasks[Self.count - 2].value.result.saves.first).get()
        let last = try #require(
            try store.snapshot().record(id, at: version, in: NoteRequest.database, as: anna)
        ).fields
        #expect(last["last"] == .int64(Int64(Self.count - 2)))
        let saved = (Self.count - 10..<Self.count - 1).map { "n\($0)" }
        #expect(Set(last.keys) == Set(saved + ["last"]))
        try store.close()
    }
}
