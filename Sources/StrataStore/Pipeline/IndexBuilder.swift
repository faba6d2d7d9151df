import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews

/// Builds declared indexes alongside requests, and removes indexes that are no longer declared (docs/decisions/0004).
/// Belongs to the thread of ``IndexBuilds``.
final class IndexBuilder {
    /// The maximum time that a slice keeps requests waiting.
    private static let sliceMicroseconds: Int64 = 2_000
    /// The maximum number of rows that a slice removes.
    private static let clearedRows = 5_000

    private enum Interruption: Error {
        case stopped
        /// The views have been replaced.
        case outdated
    }

    private let pipeline: Pipeline
    /// The number of events published by the end of the last slice, and the duration of the slice.
    private var lastSlice: (events: UInt64, microseconds: Int64) = (0, 0)

    fileprivate init(_ pipeline: Pipeline) { self.pipeline = pipeline }

    fileprivate func run() {
        while pipeline.builds.awaitWork() {
            while let task = nextTask() {
                do { try run(task) } catch Interruption.stopped { return } catch Interruption.outdated {
                    continue
                } catch { recover(from: error, task) }
            }
        }
    }

    private struct Task {
        let views: Views
        let base: Snapshot
        let leaving: [IndexID]
        let wanted: [IndexID]
    }

    private func nextTask() -> Task? {
        pipeline.state.withLock { state in
            guard !state.isClosed, state.refusal == nil, state.indexes.hasBuilds else { return nil }
            let indexes = state.indexes
            return Task(
                views: pipeline.views, base: indexes.mark.catchUp.base, leaving: indexes.catalog.leaving,
                wanted: indexes.catalog.building)
        }
    }

    /// Waits for new views after a damaged page, so that the indexes are built from these.
    private func recover(from error: any Error, _ task: Task) {
        do { _ = try pipeline.live.sound(after: error, reading: task.base) } catch { pipeline.giveUpBuilding(error) }
    }

    private func run(_ task: Task) throws {
        defer {
            pipeline.builds.forgetProgress()
            pipeline.state.withLock { $0.indexes.isBuildEnding = false }
            pipeline.state.notifyAll()
        }
        for id in task.leaving + task.wanted { try clear(id, task) }
        for id in task.leaving { _ = try slice(task) { fork, _, _ in try IndexBuild.forget(id, in: fork) } }
        guard !task.wanted.isEmpty else { return }
        let sorter = RunSorter(memoryBytes: pipeline.buildMemoryBytes, spill: pipeline.live.rebuilder?.spill)
        let build = IndexBuild(task.wanted, from: task.base, sorter)
        pipeline.builds.note(build.progress, of: task.wanted)
        let isRead = try build.read { [builds = pipeline.builds] in builds.note(build.progress, of: task.wanted) }
        guard isRead else { throw Interruption.stopped }
        while try slice(task, { fork, _, isOver in try build.load(into: fork, isOver) }) {
            pipeline.builds.note(build.progress, of: task.wanted)
        }
        pipeline.state.withLock { $0.indexes.isBuildEnding = true }
        while true {
            var isAhead = false
            let hasMore = try slice(task) { fork, catchUp, isOver in
                let hasMore = try build.follow(catchUp, in: fork, isOver)
                // Only a catch-up of the other indexes is left, which is completed first.
                isAhead = hasMore && catchUp.isUnderWay && !isOver()
                return hasMore
            }
            pipeline.builds.note(build.progress, of: task.wanted)
            if !hasMore { break }
            if isAhead { try endCatchUp(task) }
        }
        FreedMemory.giveBack()
    }

    private func clear(_ id: IndexID, _ task: Task) throws {
        var database: UInt64 = 0
        pipeline.builds.note(IndexBuild.Progress(.clearing), of: task.wanted)
        while try slice(
            task, { fork, _, _ in try IndexBuild.clear(id, from: &database, in: fork, limit: Self.clearedRows) })
        {}
    }

    // MARK: Slices

    /// Does some work in a fork that becomes the newest state, while no thread decides or appends.
    private func slice<Result>(
        _ task: Task, _ body: (Fork, IndexCatchUp, () -> Bool) throws -> Result
    ) throws -> Result {
        pipeline.awaitRoom()
        let began = try takeTurns()
        defer { releaseTurns(since: began) }
        guard pipeline.views === task.views else { throw Interruption.outdated }
        return try pipeline.publishSlice(of: task.views) { fork, catchUp in
            try body(fork, catchUp) { [time = pipeline.platform.time] in
                time.nowMicroseconds() - began >= Self.sliceMicroseconds
            }
        }
    }

    /// Completes a running catch-up, in slices.
    private func endCatchUp(_ task: Task) throws {
        while true {
            let began = try takeTurns()
            defer { releaseTurns(since: began) }
            guard pipeline.views === task.views else { throw Interruption.outdated }
            guard pipeline.state.withLock({ $0.indexes.mark.isUnderWay }) else { return }
            _ = pipeline.advancePublished(limit: IndexState.idleSliceRecords)
        }
    }

    /// Takes both turns; returns the time at which they were taken.
    private func takeTurns() throws -> Int64 {
        try rest()
        guard pipeline.claimTurns() else {
            // A refusal of writes may be lifted, and then wakes this thread.
            throw pipeline.state.withLock { $0.isClosed } ? Interruption.stopped : Interruption.outdated
        }
        return pipeline.platform.time.nowMicroseconds()
    }

    private func releaseTurns(since began: Int64) {
        let microseconds = max(0, pipeline.platform.time.nowMicroseconds() - began)
        lastSlice = (pipeline.state.withLock { $0.indexes.publishedEvents }, microseconds)
        pipeline.returnTurns()
    }

    /// Waits as long as the last slice took if other threads are at work, so that they keep at least half of the time.
    private func rest() throws {
        let (events, microseconds) = lastSlice
        let isAlone = pipeline.state.withLock { state in
            state.turns.areFree && state.queue.isEmpty && state.indexes.publishedEvents == events
        }
        let milliseconds = isAlone ? 0 : Int(min(microseconds, 100_000) + 999) / 1_000
        if pipeline.builds.rest(milliseconds: milliseconds) { throw Interruption.stopped }
    }
}

extension Pipeline {
    /// Wakes the thread that builds indexes, since there may be indexes to build or to remove.
    func wakeBuilder() {
        do { try builds.wake { [self] in IndexBuilder(self).run() } } catch { giveUpBuilding(error) }
    }

    fileprivate func giveUpBuilding(_ error: any Error) {
        state.withLock { $0.indexes.buildFailure = error }
        state.notifyAll()
    }
}
