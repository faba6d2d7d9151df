import StrataLog
import StrataModel
import StrataSystem
import StrataTree

/// States of a log's past that were folded once and are kept at intervals, so that any other one is folded from near
/// by. Those who look at the past share them; the store's files have nothing of it.
///
/// ```swift
/// let pasts = PastStates(store: id, in: path)
/// if try !pasts.isCurrent(log) { log = try pasts.begin { try LogReader.open(at: path) } }
/// let opened = try pasts.views(at: past, of: log)
/// ```
public final class PastStates: Sendable {
    public struct Limits: Sendable {
        /// A state is kept behind so many bytes of payloads.
        public var intervalBytes = 4 << 20
        /// Beyond this states lie farther apart: one gigabyte, most of it in a file without a name.
        public var maximumPages = 1 << 18
        /// What is so near is folded for whoever asks, and not kept.
        public var nearCommits: UInt64 = 2_000
        /// Of the pages that are in memory, and not in the file.
        public var maximumMemoryPages = 1 << 12
        /// They are let go when nobody has asked for so long.
        public var idleMilliseconds = 30_000

        public init() {}
    }

    fileprivate struct Mark {
        let keeper: IndexKeeper
        let offset: UInt64
        var state: Snapshot { keeper.base }
    }

    /// What was folded from a checkpoint on, or from the beginning.
    fileprivate struct Line {
        let pages: PageStore
        /// Ascending, never empty; the last of them is the newest state of the pages.
        var marks: [Mark]
        var end: UInt64 { newest.offset }
    }

    private struct State {
        var lines: [Line] = []
        /// What they are folded from: another reader of the same log may have files of before an erasure.
        var log: (any EventLog)?
        /// The log as it was when they were folded: floor, and the end that had been looked through.
        var floor: Position?
        var seen: Position?
        var useCount = 0
        var forgottenCount = 0
        /// Whether somebody lets go of them when they are idle.
        var isWatched = false

        var pageCount: Int { lines.reduce(0) { $0 + $1.pages.info.arenaPages } }

        mutating func forget() {
            (lines, log, floor, seen) = ([], nil, nil, nil)
            forgottenCount += 1
        }
    }

    private static let maximumLines = 8

    private let store: Identifier
    private let directory: String
    private let platform: Platform
    private let options: PageStoreOptions
    private let limits: Limits
    private let state = Lock(State())

    public init(
        store: Identifier, in directory: String, platform: Platform = Platform(),
        options: PageStoreOptions = PageStoreOptions(), limits: Limits = Limits()
    ) {
        self.store = store
        self.directory = directory
        self.platform = platform
        var inMemory = options
        inMemory.maximumMemoryPages = min(options.maximumMemoryPages, limits.maximumMemoryPages)
        self.options = inMemory
        var limits = limits
        // Half of what there may be at all is for those who go on from them.
        limits.maximumPages = min(limits.maximumPages, options.maximumArenaPages / 2)
        self.limits = limits
    }

    /// Opens a log of which states are kept from then on, and lets go of those that there are.
    public func begin<Log: EventLog>(_ open: () throws -> Log) throws -> Log {
        let count = state.withLock { state in
            state.forget()
            return state.forgottenCount
        }
        let wasErasing = try isErasing()
        let log = try open()
        // What is just being erased is in no state that is kept, also if its files were opened a moment before.
        let isKept = try !wasErasing && !isErasing()
        state.withLock { state in
            if isKept, state.forgottenCount == count {
                (state.log, state.floor, state.seen) = (log, log.floor, log.end)
            }
        }
        return log
    }

    /// Lets go of all of them, as after an erasure: what was erased may be in them.
    public func forget() { state.withLock { $0.forget() } }

    /// Of states that are kept, ascending.
    public var keptOffsets: [UInt64] { state.withLock { $0.lines.flatMap(\.marks).map(\.offset).sorted() } }

    /// Whether a log that was read before only went on, and nothing of it was erased meanwhile. If so, states may be
    /// kept of it; those that are are let go otherwise.
    public func isCurrent(_ log: any EventLog) throws -> Bool {
        try state.withLock { state in
            let floor = try LogReader.floorOffset(in: directory, files: platform.files)
            // What is just being erased is in no state that is kept.
            if try floor == log.floor.offset && !isErasing() && isSame(log, &state) { return true }
            state.forget()
            return false
        }
    }

    /// The state that a log ends with.
    ///
    /// - Parameters:
    ///   - past: the log up to there.
    ///   - log: all of it, as its files are now. If it is not what ``begin(_:)`` opened last, no state is kept.
    public func views(at past: any EventLog, of log: any EventLog) throws -> OpenedViews {
        do {
            defer { watch() }
            for nearCommits in [limits.nearCommits, 0] {
                let mark = try state.withLock { state -> Mark? in
                    guard state.log === log, state.floor == log.floor else { return nil }
                    state.useCount += 1
                    return try nearest(to: past, nearCommits, &state)
                }
                guard let mark else { break }
                let branch = PageStore.branch(on: mark.state)
                var replay = Replay(log: past, pages: branch)
                // Few commits may be large: beyond an interval they are folded into states that are kept.
                replay.intervalBytes = nearCommits > 0 ? limits.intervalBytes : nil
                try replay.run()
                guard nearCommits == 0 || branch.snapshot().foldedOffset(ViewTree.records) == past.end.offset else {
                    continue
                }
                branch.letGoOfFiles()
                if try isErasing() { forget() }
                return OpenedViews(
                    views: Views(pages: branch, log: past), finding: .whole, reasons: [],
                    checkpointOffset: mark.offset, keeper: mark.keeper)
            }
            return try Views.openForReading(past, store: store, in: directory, platform: platform, options: options)
        } catch let error as StrataError where Views.isDamage(error) {
            forget()
            return try Views.openForReading(
                past, store: store, in: directory, from: .log, platform: platform, options: options)
        }
    }

    private func isErasing() throws -> Bool { try LogReader.isErasing(in: directory, files: platform.files) }

    private func watch() {
        let isWatched = state.withLock { state in
            defer { state.isWatched = true }
            return state.isWatched
        }
        if isWatched { return }
        Task.detached { [weak self, limits] in
            var count = -1
            while self?.isUsed(since: &count) == true {
                try? await Task.sleep(for: .milliseconds(limits.idleMilliseconds))
            }
        }
    }

    /// Lets go of the states if they have not been used.
    private func isUsed(since count: inout Int) -> Bool {
        let (before, now) = (count, state.withLock { $0.useCount })
        count = now
        if before != now { return true }
        state.withLock { state in
            state.forget()
            state.isWatched = false
        }
        return false
    }

    private func isSame(_ log: any EventLog, _ state: inout State) throws -> Bool {
        guard let floor = state.floor, let seen = state.seen else { return false }
        guard state.log === log, floor == log.floor, seen.offset <= log.end.offset, try log.has(seen) else {
            return false
        }
        var cursor = try log.read(from: seen.offset + 1)
        while let commit = try cursor.next() {
            let erases = try commit.payload.withUnsafeBytes { payload in
                var walker = try EventWalker(payload)
                while let event = try walker.next() {
                    if event.kind == .recordErased { return true }
                }
                return false
            }
            if erases { return false }
        }
        state.seen = log.end
        return true
    }

    // MARK: Lines

    /// The nearest state that is not behind the end of a log; others are folded up to there if that is far.
    private func nearest(to past: any EventLog, _ nearCommits: UInt64, _ state: inout State) throws -> Mark {
        let offset = past.end.offset
        let known = state.lines.flatMap(\.marks).filter { $0.offset <= offset }.max { $0.offset < $1.offset }
        if let known, offset - known.offset <= nearCommits { return known }
        // Between two of a line there is none that is nearer.
        let isInside = state.lines.contains { ($0.marks[0].offset...$0.end).contains(offset) }
        if let known, isInside { return known }
        try addLine(behind: known.map { $0.offset + nearCommits }, past, &state)
        let index = state.lines.indices.filter { state.lines[$0].end <= offset }
            .max { state.lines[$0].end < state.lines[$1].end }
        guard let index else { preconditionFailure("a line begins in front of every offset") }
        if offset - state.lines[index].end > nearCommits {
            do { try extend(index, past, &state) } catch {
                // Its pages may be ahead of its states.
                state.lines.remove(at: index)
                throw error
            }
        }
        return state.lines[index].newest
    }

    /// Begins another line where there is a checkpoint that is nearer than what is known, or nothing is known.
    private func addLine(behind known: UInt64?, _ past: any EventLog, _ state: inout State) throws {
        let checkpoint = try Views.openNearest(
            past, store: store, in: directory, platform: platform, options: options)
        let offset = checkpoint.keeper.base.foldedOffset(ViewTree.records)
        if let known, offset <= known { return }
        var mark = Mark(keeper: checkpoint.keeper, offset: offset)
        if offset == 0, past.floor.offset > 0 {
            // Nothing lies in front of a base, and whoever begins there would load all of it.
            try Replay(log: past, pages: checkpoint.pages).run(upTo: past.floor.offset)
            mark = try newMark(checkpoint.pages, mark.keeper)
        }
        if state.lines.count == Self.maximumLines { state.lines.removeFirst() }
        state.lines.append(Line(pages: checkpoint.pages, marks: [mark]))
    }

    /// The newest state of pages, with indexes that show it: from one far away they would take long to catch up.
    private func newMark(_ pages: PageStore, _ keeper: IndexKeeper) throws -> Mark {
        var keeper = keeper
        let fork = pages.fork()
        let target = pages.snapshot()
        while try keeper.advance(fork, to: target, limit: .max) {}
        let shown = try pages.publish(fork)
        pages.letGoOfFiles()
        return Mark(keeper: IndexKeeper(shown), offset: shown.foldedOffset(ViewTree.records))
    }

    private func extend(_ index: Int, _ past: any EventLog, _ state: inout State) throws {
        let pages = state.lines[index].pages
        var replay = Replay(log: past, pages: pages)
        replay.intervalBytes = limits.intervalBytes
        while state.lines[index].end < past.end.offset {
            try replay.run()
            let mark = try newMark(pages, state.lines[index].newest.keeper)
            // A log that has less than it says would never come to its end.
            guard mark.offset > state.lines[index].end else { return }
            state.lines[index].marks.append(mark)
            while state.pageCount > limits.maximumPages, state.lines[index].marks.count > 2 {
                state.lines[index].thin()
            }
        }
    }
}

extension PastStates.Line {
    fileprivate var newest: PastStates.Mark { marks[marks.count - 1] }

    /// Lets go of the state whose neighbours lie nearest to each other.
    fileprivate mutating func thin() {
        let index = (1..<marks.count - 1).min {
            marks[$0 + 1].offset - marks[$0 - 1].offset < marks[$1 + 1].offset - marks[$1 - 1].offset
        }
        if let index { marks.remove(at: index) }
    }
}
