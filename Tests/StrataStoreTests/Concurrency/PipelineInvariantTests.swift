import StrataLog
import StrataModel
import StrataRules
import TestSupport
import Testing

@testable import StrataStore

/// The invariants of `Pipeline.swift`, which debug builds check.
@Suite("What no thread may do to a pipeline ends a debug build")
struct PipelineInvariantTests {
    private static let anna = Actor(user: "anna")

    private static func pipeline() throws -> Pipeline {
        let store = try Store(on: MemoryLog())
        _ = try store.modify(NoteRequest.makingZones(), as: anna)
        return store.pipeline
    }

    /// Returns a batch with a save, decided by this thread, which then has both turns.
    private static func batch(of pipeline: Pipeline) -> Batch {
        _ = pipeline.claimTurns()
        var batch = Batch()
        let submission = Submission(
            NoteRequest.saving(["a"]), as: anna, OperationInfo(), reply: .function { _ in })
        pipeline.decide([submission], &batch)
        pipeline.complete(&batch)
        return batch
    }

    @Test("Turns that are taken and given up in their order are no mistake, and a save is answered")
    func order() throws {
        let pipeline = try Self.pipeline()
        var batch = Self.batch(of: pipeline)
        pipeline.releaseDeciding()
        let answers = pipeline.append(&batch)
        pipeline.releaseAppending()
        #expect(try answers.map { try $0.1.get().offset } == [2])
        #expect(pipeline.holdsNoTurn)
    }

    @Test("A turn has one thread, and is given up once (1)")
    func turns() async {
        await #expect(processExitsWith: .failure) {
            var turns = Turns()
            turns.takeDeciding()
            turns.takeDeciding()
        }
        await #expect(processExitsWith: .failure) {
            var turns = Turns()
            turns.takeAppending()
            turns.takeBoth()
        }
        await #expect(processExitsWith: .failure) {
            var turns = Turns()
            turns.releaseAppending()
        }
    }

    @Test("Nobody waits for turns with a turn (2)")
    func waiting() async {
        await #expect(processExitsWith: .failure) {
            let pipeline = try PipelineInvariantTests.pipeline()
            pipeline.state.withLock { $0.turns.takeAppending() }
            _ = pipeline.claimTurns()
        }
    }

    @Test("The line belongs to the thread that decides (3)")
    func line() async {
        await #expect(processExitsWith: .failure) {
            _ = try PipelineInvariantTests.pipeline().currentLine()
        }
    }

    @Test("Without the turn to append nothing is written or published, and batches keep their order (4)")
    func appending() async {
        await #expect(processExitsWith: .failure) {
            let pipeline = try PipelineInvariantTests.pipeline()
            var batch = PipelineInvariantTests.batch(of: pipeline)
            pipeline.returnTurns()
            _ = pipeline.append(&batch)
        }
        await #expect(processExitsWith: .failure) {
            let pipeline = try PipelineInvariantTests.pipeline()
            let views = pipeline.views
            _ = try pipeline.publish(
                views.pages.fork(), of: views, over: views.pages.snapshot(), changesIndexes: false
            ) { _, _ in }
        }
        await #expect(processExitsWith: .failure) {
            let pipeline = try PipelineInvariantTests.pipeline()
            var batch = PipelineInvariantTests.batch(of: pipeline)
            batch.firstOffset += 1
            _ = pipeline.append(&batch)
        }
    }

    @Test("A state shows nothing that is not in the log (5)")
    func publishing() async {
        await #expect(processExitsWith: .failure) {
            let pipeline = try PipelineInvariantTests.pipeline()
            let batch = PipelineInvariantTests.batch(of: pipeline)
            if let fork = batch.fork { _ = try pipeline.publish(batch, fork) }
        }
    }

    @Test("One state is published at a time, so that readers of indexes wait for the right one (6)")
    func indexes() async {
        await #expect(processExitsWith: .failure) {
            let pipeline = try PipelineInvariantTests.pipeline()
            _ = pipeline.claimTurns()
            pipeline.state.withLock { $0.indexes.isPublishing = true }
            _ = try pipeline.publishSlice(of: pipeline.views) { _, _ in }
        }
    }

    @Test("Nothing is written after a refusal (7)")
    func refusal() async {
        await #expect(processExitsWith: .failure) {
            let pipeline = try PipelineInvariantTests.pipeline()
            var batch = PipelineInvariantTests.batch(of: pipeline)
            pipeline.refuse(StrataError(.refusingWrites, "The test says so."))
            _ = pipeline.append(&batch)
        }
    }

    @Test("A request that was judged on a lost line is judged again, whatever became of it there (3)")
    func lostLine() throws {
        for isPoisoned in [false, true] {
            let pipeline = try Self.pipeline()
            var first = Self.batch(of: pipeline)
            pipeline.releaseDeciding()
            pipeline.state.withLock { $0.turns.takeDeciding() }
            var second = Batch()
            let request = NoteRequest.saving(["a"], policy: .ifServerRecordUnchanged)
            pipeline.decide(
                [Submission(request, as: Self.anna, OperationInfo(), reply: .function { _ in })], &second)
            guard case .nothing? = second.entries.first?.outcome else {
                Issue.record("a note was saved over the one of the line")
                return
            }
            if isPoisoned {
                second.entries[0].outcome = .poisoned(StrataError(.malformed, "The test says so."))
                second.isBroken = true
            }
            // Another writer comes first, so that no state ever has the note.
            let other = Envelope(events: [try ConsoleActedEvent(ConsoleNote("x")).event()])
            _ = try pipeline.log.commit([other.encoded()[...]])
            #expect(pipeline.append(&first).isEmpty)
            pipeline.complete(&second)
            let answers = pipeline.append(&second)
            pipeline.returnTurns()
            #expect(try answers.map { try $0.1.get().offset } == [3])
        }
    }

    @Test("A batch that depended on a lost one is decided again, and refused with it (7)")
    func dependent() throws {
        let pipeline = try Self.pipeline()
        var batch = Self.batch(of: pipeline)
        #expect(batch.commits.count == 1)
        pipeline.refuse(StrataError(.refusingWrites, "The test says so."))
        pipeline.complete(&batch)
        #expect(batch.commits.isEmpty)
        let answers = pipeline.append(&batch)
        pipeline.returnTurns()
        #expect(throws: Refusal.self) { try answers.first?.1.get() }
        #expect(pipeline.log.end.offset == 1)
    }
}
