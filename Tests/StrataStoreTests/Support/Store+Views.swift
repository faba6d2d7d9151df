import StrataModel
import StrataViews

@testable import StrataStore

extension Store {
    /// Has all changes written as a state on disk, between two batches.
    func settleViews() throws {
        try betweenBatches {
            try views.settle()
            engine.reader.publish(views.trees.snapshot())
        }
    }

    /// Has the current generation of changes flushed.
    func freezeViews() throws {
        try betweenBatches { try views.trees.freeze() }
        pipeline.flusher?.didPublish()
    }

    private func betweenBatches(_ body: () throws -> Void) throws {
        guard pipeline.claimTurns() else { throw StoreGate.error }
        pipeline.line = nil
        defer { pipeline.returnTurns() }
        try body()
    }
}
