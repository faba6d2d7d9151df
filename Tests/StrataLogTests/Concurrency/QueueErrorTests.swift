import StrataModel
import TestSupport
import Testing

@testable import StrataLog

@Suite("Errors of the commit queue")
struct QueueErrorTests {
    private static let noEnvelope: [UInt8] = [9, 9, 9]

    @Test(
        "A payload that is none fails alike, whether its caller waited in the queue or not", arguments: [true, false])
    func strangePayload(isInMemory: Bool) async throws {
        let log: any EventLog = isInMemory ? MemoryLog() : try TinyStore().open()
        let queue = try CommitQueue(log)
        defer { queue.close() }
        #expect(appendOutcome { _ = try commitNow(queue) } == "not written")
        var outcome: AppendFailure?
        do { _ = try await queue.commit(Self.noEnvelope[...]) } catch { outcome = error as? AppendFailure }
        #expect(outcome.map { "\($0)" }?.hasPrefix("nothing was written") == true)
    }

    private func commitNow(_ queue: CommitQueue) throws -> Position { try queue.commit(Self.noEnvelope[...]) }

    @Test("A payload that is none is refused before it waits, so that nobody fails with it")
    func preparing() throws {
        var commit = NewCommit(id: .zero, time: 1, payload: Self.noEnvelope[...])
        #expect(thrownCode { try MemoryLog().prepare(&commit) } == .newerFormat)
        #expect(thrownCode { _ = try TinyStore().open().prepare(&commit) } == .newerFormat)
    }
}
