import Glibc
import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

@Suite("Concurrent requests and readers while pages go wrong")
struct ConcurrentDamageTests {
    private static let rounds = 30

    @Test(
        "Each request is done once, and each reader that tries again sees what was acknowledged")
    func everybody() async throws {
        let worn = try DamagedStore(indexing: true)
        let count = try worn.commitCount
        let failures = Lock<[String]>([])
        let acknowledged = Lock<[Int: Int]>([:])
        @Sendable func watched(_ body: () throws -> Void) {
            do { try body() } catch { failures.withLock { $0.append("\(error)") } }
        }
        try worn.damage()
        let writers = try (0..<4).map { writer in
            try WorkerThread(name: "writer") {
                for round in 0..<Self.rounds {
                    watched {
                        let answer = try worn.save([writer * 50 + 10 + round, writer], "\(round)")
                        acknowledged.withLock { $0[writer] = round }
                        guard try worn.word(writer, in: answer.snapshot) == "\(round)" else {
                            throw StrataError(.malformed, "The answer's state lacks the request.")
                        }
                    }
                }
            }
        }
        let readers = try (0..<4).map { reader in
            try WorkerThread(name: "reader") {
                for _ in 0..<Self.rounds {
                    watched {
                        let before = acknowledged.withLock { $0[reader] } ?? -1
                        let found = try worn.retrying { Int(try worn.word(reader, in: worn.store.snapshot())) ?? -1 }
                        let other = try worn.retrying { try worn.word(200 + reader, in: worn.store.snapshot()) }
                        guard found >= before, other == "old" else {
                            throw StrataError(.malformed, "A reader sees what was not.")
                        }
                    }
                }
            }
        }
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    let request = NoteRequest.saving([DamagedStore.name(380 + task)], DamagedStore.title("task"))
                    do { _ = try await worn.store.modify(request, as: worn.anna) } catch {
                        failures.withLock { $0.append("\(error)") }
                    }
                }
            }
        }
        for thread in writers + readers { thread.join() }
        #expect(failures.withLock { $0 } == [])
        #expect(try worn.commitCount == count + 4 * Self.rounds + 8)
        #expect(worn.store.rebuilds.count == 1)
        worn.store.awaitIndexes()
        #expect(try worn.store.views.trees.snapshot().entryCount(ViewTree.index) == UInt64(DamagedStore.noteCount))
        try worn.checkAndClose()
    }

    /// Four requests are decided on whole frames and written together; the log takes some of them and fails to begin
    /// its next segment, and when the state is to follow the log its frames have gone wrong.
    @Test("What is in the log when a frame turns out wrong is answered, and not done again")
    func afterAppending() async throws {
        let worn = try DamagedStore(segmentBytes: 64 << 10)
        let (disk, count) = (worn.disk, try worn.commitCount)
        let gate = Gate()
        let (isFirst, isDamaging) = (Lock(true), Lock(true))
        let begun = Lock(0)
        disk.beforeCall = { kind, path in
            guard path.contains("/log/") else { return }
            if kind == .write, isFirst.isTaken() { gate.wait() }
            // The frames that are needed were checked when the requests were decided.
            if kind == .create, isDamaging.isTaken() {
                worn.store.pipeline.live.note(DamagedStore.error, in: worn.store.views)
            }
        }
        disk.fail(.create, from: 1, with: .errno(ENOSPC), on: "/log/")
        var generator = SeededGenerator(seed: 1)
        let noise = (0..<40).map { _ in
            FieldValue.data((0..<8_000).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
        }
        let answers = await withTaskGroup(of: (Int, Result<Answer, any Error>).self) { group in
            for (number, noise) in noise.enumerated() {
                group.addTask {
                    let request = NoteRequest.saving(
                        [DamagedStore.name(number * 9)], DamagedStore.title("new") + [("noise", noise)])
                    begun.withLock { $0 += 1 }
                    do { return (number, .success(try await worn.store.modify(request, as: worn.anna))) } catch {
                        return (number, .failure(error))
                    }
                }
            }
            // Those that come while the first is being written go together.
            _ = try? await awaited { begun.withLock { $0 } == noise.count }
            try? await Task.sleep(for: .milliseconds(100))
            gate.open()
            var answers: [(Int, Result<Answer, any Error>)] = []
            for await answer in group { answers.append(answer) }
            return answers
        }
        disk.beforeCall = nil
        disk.heal()
        let done = answers.filter { (try? $0.1.get()) != nil }.map(\.0)
        let refused = answers.compactMap { $0.1.failure as? Refusal }
        #expect(done.count > 1 && done.count < 40, "some are in, and some are not")
        #expect(refused.count == 40 - done.count && refused.allSatisfy { $0.code == .serviceUnavailable })
        #expect(try worn.commitCount == count + done.count)
        #expect(worn.store.rebuilds.count == 1)
        for number in 0..<40 {
            #expect(try worn.word(number * 9, in: worn.store.snapshot()) == (done.contains(number) ? "new" : "old"))
        }
        // Nothing is refused any more.
        _ = try worn.save([399], "last")
        try worn.checkAndClose()
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { return error }
        return nil
    }
}
