import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews

/// The state that the pipeline shares with the thread that builds indexes.
struct IndexBuilding {
    var isStopping = false
    var hasStarted = false
    /// True if the catalog may require work.
    var hasWork = false
    /// The progress of the indexes that are being built.
    var progress: [IndexID: IndexBuild.Progress] = [:]
}

/// Builds declared indexes alongside requests, and removes indexes that are no longer declared (docs/decisions/0004).
extension Pipeline {
    /// The maximum time that a slice keeps requests waiting.
    private static let sliceMicroseconds: Int64 = 2_000
    /// The maximum number of rows that a slice removes.
    private static let clearedRows = 5_000

    private enum Interruption: Error {
        case stopped
        /// The views have been replaced.
        case outdated
    }

    /// Wakes the builder, since there may be indexes to build or to remove.
    func wakeBuilder() {
        let starts = building.withLock { building in
            building.hasWork = true
            defer { building.hasStarted = true }
            return !building.hasStarted && !building.isStopping
        }
        building.notifyAll()
        guard starts else { return }
        do { try builder.start(name: "strata-indexes") { [self] in runBuilder() } } catch { giveUpBuilding(error) }
    }

    private func giveUpBuilding(_ error: any Error) {
        state.withLock { $0.indexes.buildFailure = error }
        state.notifyAll()
    }

    private func runBuilder() {
        while true {
            let goesOn = building.wait { building -> Bool? in
                if building.isStopping { return false }
                defer { building.hasWork = false }
                return building.hasWork ? true : nil
            }
            guard goesOn else { return }
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
        state.withLock { state in
            guard !state.isClosed, state.refusal == nil, state.indexes.hasBuilds else { return nil }
            let indexes = state.indexes
            return Task(
                views: views, base: indexes.mark.keeper.base, leaving: indexes.catalog.leaving,
                wanted: indexes.catalog.building)
        }
    }

    /// Folds the views again after a damaged page, so that the indexes are built from the new ones.
    private func recover(from error: any Error, _ task: Task) {
        guard let error = error as? StrataError, Views.isDamage(error) else { return giveUpBuilding(error) }
        do { _ = try viewsWithout(task.base, because: error) } catch { giveUpBuilding(error) }
    }

    private func run(_ task: Task) throws {
        defer {
            building.withLock { $0.progress = [:] }
            state.withLock { $0.indexes.isBuildEnding = false }
            state.notifyAll()
        }
        for id in task.leaving + task.wanted { try clear(id, task) }
        for id in task.leaving { _ = try slice(task) { fork, _, _ in try IndexBuild.forget(id, in: fork) } }
        guard !task.wanted.isEmpty else { return }
        let sorter = RunSorter(memoryBytes: buildMemoryBytes, spill: rebuilder?.spill)
        let build = IndexBuild(task.wanted, from: task.base, sorter)
        note(build.progress, of: task)
        let isRead = try build.read { [building] in
            building.withLock { state in
                for id in task.wanted { state.progress[id] = build.progress }
                return state.isStopping
            }
        }
        guard isRead else { throw Interruption.stopped }
        while try slice(task, { fork, _, isOver in try build.load(into: fork, isOver) }) {
            note(build.progress, of: task)
        }
        state.withLock { $0.indexes.isBuildEnding = true }
        while true {
            var isAhead = false
            let hasMore = try slice(task) { fork, keeper, isOver in
                let hasMore = try build.follow(keeper, in: fork, isOver)
                // Only a catch-up of the other indexes is left, which is completed first.
                isAhead = hasMore && keeper.isUnderWay && !isOver()
                return hasMore
            }
            note(build.progress, of: task)
            if !hasMore { break }
            if isAhead { try endCatchUp(task) }
        }
        FreedMemory.giveBack()
    }

    private func note(_ progress: IndexBuild.Progress, of task: Task) {
        building.withLock { state in for id in task.wanted { state.progress[id] = progress } }
    }

    private func clear(_ id: IndexID, _ task: Task) throws {
        var database: UInt64 = 0
        note(IndexBuild.Progress(.clearing), of: task)
        while try slice(
            task, { fork, _, _ in try IndexBuild.clear(id, from: &database, in: fork, limit: Self.clearedRows) })
        {}
    }

    // MARK: Slices

    /// Does some work in a fork that becomes the newest state, while no thread decides or appends.
    private func slice<Result>(
        _ task: Task, _ body: (Fork, IndexCatchUp, () -> Bool) throws -> Result
    ) throws -> Result {
        awaitRoom()
        let began = try takeTurns()
        defer { releaseTurns(since: began) }
        return try publishSlice(task) { fork, keeper in
            try body(fork, keeper) { [time = platform.time] in
                time.nowMicroseconds() - began >= Self.sliceMicroseconds
            }
        }
    }

    private func publishSlice<Result>(_ task: Task, _ body: (Fork, IndexCatchUp) throws -> Result) throws -> Result {
        guard views === task.views else { throw Interruption.outdated }
        return try publishSlice(of: task.views, body)
    }

    /// Completes a running catch-up, in slices.
    private func endCatchUp(_ task: Task) throws {
        while true {
            let began = try takeTurns()
            defer { releaseTurns(since: began) }
            guard views === task.views else { throw Interruption.outdated }
            guard state.withLock({ $0.indexes.mark.isUnderWay }) else { return }
            _ = advancePublished(limit: IndexState.idleSliceRecords)
        }
    }

    /// Takes both turns; returns the time at which they were taken.
    private func takeTurns() throws -> Int64 {
        try rest()
        guard claimTurns() else { throw Interruption.stopped }
        return platform.time.nowMicroseconds()
    }

    private func releaseTurns(since began: Int64) {
        let microseconds = max(0, platform.time.nowMicroseconds() - began)
        lastSlice = (state.withLock { $0.indexes.publishedEvents }, microseconds)
        returnTurns()
    }

    /// Waits as long as the last slice took if other threads are at work, so that they keep at least half of the time.
    private func rest() throws {
        let (events, microseconds) = lastSlice
        let isAlone = state.withLock { state in
            let isIdle = !state.isDeciding && !state.isAppending && state.queue.isEmpty
            return isIdle && state.indexes.publishedEvents == events
        }
        let milliseconds = isAlone ? 0 : Int(min(microseconds, 100_000) + 999) / 1_000
        let isStopping = building.wait(milliseconds: milliseconds) { $0.isStopping ? true : nil } ?? false
        if isStopping { throw Interruption.stopped }
    }
}
