import StrataTree
import StrataViews

/// Builds declared indexes alongside requests, and removes indexes that are no longer declared. Belongs to the thread
/// of ``IndexBuilds``.
final class IndexBuilder {
    /// The maximum time that a slice keeps requests waiting.
    private static let sliceMicroseconds: Int64 = 2_000

    private enum Interruption: Error {
        case stopped
        /// The views have been replaced.
        case outdated
    }

    private let pipeline: Pipeline
    /// The end of the log after the last slice, and the duration of the slice.
    private var lastSlice: (end: UInt64, microseconds: Int64) = (0, 0)

    fileprivate init(_ pipeline: Pipeline) { self.pipeline = pipeline }

    fileprivate func run() {
        while pipeline.builds.awaitWork() {
            while let views = viewsToBuild() {
                do {
                    var build = IndexBuild()
                    while try advance(&build, of: views) {}
                } catch Interruption.stopped { return } catch Interruption.outdated { continue } catch {
                    recover(from: error, reading: views.trees.snapshot())
                }
            }
            pipeline.state.notifyAll()
        }
    }

    private func viewsToBuild() -> Views? {
        pipeline.state.withLock { state in
            !state.isClosed && state.refusal == nil && state.hasBuilds ? pipeline.views : nil
        }
    }

    /// Waits for new views after a damaged frame, so that the indexes are built from these.
    private func recover(from error: any Error, reading trees: Snapshot) {
        do { _ = try pipeline.live.sound(after: error, reading: trees) } catch { pipeline.giveUpBuilding(error) }
    }

    /// Does a slice in a fork that becomes the newest state, while no thread decides or appends; returns true if there
    /// is more to do.
    private func advance(_ build: inout IndexBuild, of views: Views) throws -> Bool {
        pipeline.awaitRoom()
        try rest()
        guard pipeline.claimTurns() else {
            // A refusal of writes may be lifted, and then wakes this thread.
            throw pipeline.state.withLock { $0.isClosed } ? Interruption.stopped : Interruption.outdated
        }
        let time = pipeline.platform.time
        let began = time.nowMicroseconds()
        defer {
            let microseconds = max(0, time.nowMicroseconds() - began)
            lastSlice = (pipeline.state.withLock { $0.end.offset }, microseconds)
            pipeline.returnTurns()
        }
        guard pipeline.views === views else { throw Interruption.outdated }
        return try pipeline.publishSlice(of: views) { fork, state in
            try build.advance(fork, from: state) { time.nowMicroseconds() - began >= Self.sliceMicroseconds }
        }
    }

    /// Waits as long as the last slice took if other threads are at work, so that they keep at least half of the time,
    /// and while too many changes are in memory.
    private func rest() throws {
        let (end, microseconds) = lastSlice
        let isAlone = pipeline.state.withLock { state in
            state.turns.areFree && state.queue.isEmpty && state.end.offset == end
        }
        var milliseconds = isAlone ? 0 : Int(min(microseconds, 100_000) + 999) / 1_000
        repeat {
            if pipeline.builds.rest(milliseconds: milliseconds) { throw Interruption.stopped }
            milliseconds = 1_000
        } while pipeline.fullness != nil
    }
}

extension Pipeline {
    /// Wakes the thread that builds indexes, since there may be indexes to build or to remove.
    func wakeBuilder() {
        do { try builds.wake { [self] in IndexBuilder(self).run() } } catch { giveUpBuilding(error) }
    }

    fileprivate func giveUpBuilding(_ error: any Error) {
        state.withLock { $0.buildFailure = error }
        state.notifyAll()
    }
}
