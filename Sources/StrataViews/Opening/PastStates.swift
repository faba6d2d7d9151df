import StrataLog
import StrataModel
import StrataSystem
import StrataTree

/// Past states of a log, folded once and kept at intervals, so that any other state is folded from a near one. All
/// readers of the past share them; the store's files hold none of them.
///
/// ```swift
/// let pasts = PastStates(store: id, in: path)
/// if try !pasts.isCurrent(log) { log = try pasts.begin { try LogReader.open(at: path) } }
/// let opened = try pasts.views(at: past, of: log)
/// ```
package final class PastStates: Sendable {
    package struct Limits: Sendable {
        /// The payload bytes between two kept states.
        package var intervalBytes = 4 << 20
        /// Above this number of bytes in files that the first states do not have, states are kept farther apart.
        package var maximumBytes = 1 << 30
        /// States this near to a kept one are folded on request and not kept.
        package var nearCommits: UInt64 = 2_000
        /// Kept states are released after this time without a request.
        package var idleMilliseconds = 30_000

        package init() {}
    }

    fileprivate struct Mark {
        /// The store of the state.
        let trees: TreeStore
        /// Everything is in runs, so that keeping it takes no memory (``TreeStore/settle()``).
        let state: Snapshot
        var offset: UInt64 { state.foldedOffset(ViewTree.records) }
    }

    /// The states folded from one state on disk, or from the beginning.
    fileprivate struct Line {
        let trees: TreeStore
        /// In ascending order, never empty; the last mark is the newest state of the trees.
        var marks: [Mark]
        var end: UInt64 { newest.offset }
        /// The bytes of the files that the first state does not have, such as that of a large store on disk.
        var byteCount: Int { TreeStore.byteCount(of: marks.map(\.state), without: marks[0].state) }
    }

    private struct State {
        var lines: [Line] = []
        /// The log that the states are folded from. Another reader of the same log may hold files from before an
        /// erasure.
        var log: (any EventLog)?
        /// The floor of the log when the states were folded, and the end up to which it has been checked for erasures.
        var floor: Position?
        var seen: Position?
        var useCount = 0
        var forgottenCount = 0
        /// True if a task is running that releases the states when they are idle.
        var isWatched = false

        var byteCount: Int { lines.reduce(0) { $0 + $1.byteCount } }

        mutating func forget() {
            (lines, log, floor, seen) = ([], nil, nil, nil)
            forgottenCount += 1
        }
    }

    private static let maximumLines = 8

    private let store: Identifier
    private let directory: String
    private let platform: Platform
    private let options: TreeStoreOptions
    private let limits: Limits
    private let state = Lock(State())

    package init(
        store: Identifier, in directory: String, platform: Platform = Platform(),
        options: TreeStoreOptions = TreeStoreOptions(), limits: Limits = Limits()
    ) {
        self.store = store
        self.directory = directory
        self.platform = platform
        self.options = options
        self.limits = limits
    }

    /// Opens a log whose states are kept from then on, and releases the states that are kept.
    package func begin<Log: EventLog>(_ open: () throws -> Log) throws -> Log {
        let count = state.withLock { state in
            state.forget()
            return state.forgottenCount
        }
        let wasErasing = try isErasing()
        let log = try open()
        // Data that is being erased must be in no kept state, even if its files were opened shortly before.
        let isKept = try !wasErasing && !isErasing()
        state.withLock { state in
            if isKept, state.forgottenCount == count {
                (state.log, state.floor, state.seen) = (log, log.floor, log.end)
            }
        }
        return log
    }

    /// Releases all kept states, for example after an erasure, because they may hold erased data.
    package func forget() { state.withLock { $0.forget() } }

    /// The offsets of the kept states, ascending.
    package var keptOffsets: [UInt64] { state.withLock { $0.lines.flatMap(\.marks).map(\.offset).sorted() } }

    /// Returns true if a log that was read before has only grown, and nothing in it was erased since. Otherwise all
    /// kept states are released.
    package func isCurrent(_ log: any EventLog) throws -> Bool {
        try state.withLock { state in
            let floor = try LogReader.floorOffset(in: directory, files: platform.files)
            // Data that is being erased must be in no kept state.
            if try floor == log.floor.offset && !isErasing() && isSame(log, &state) { return true }
            state.forget()
            return false
        }
    }

    /// Opens the state at the end of a log.
    ///
    /// - Parameters:
    ///   - past: the log up to that state.
    ///   - log: the whole log, as its files are now. If it is not the one that ``begin(_:)`` opened last, no state is
    ///     kept.
    package func views(
        at past: any EventLog, of log: any EventLog, progress: (Replay.Progress) -> Void = { _ in }
    ) throws -> OpenedViews {
        do {
            defer { watch() }
            for nearCommits in [limits.nearCommits, 0] {
                let mark = try state.withLock { state -> Mark? in
                    guard state.log === log, state.floor == log.floor else { return nil }
                    state.useCount += 1
                    return try nearest(to: past, nearCommits, &state, progress)
                }
                guard let mark else { break }
                let branch = try mark.trees.branch(on: mark.state)
                var replay = Replay(log: past, trees: branch)
                // A few commits may be large: beyond an interval they are folded into kept states.
                replay.intervalBytes = nearCommits > 0 ? limits.intervalBytes : nil
                try replay.run(progress: progress)
                guard nearCommits == 0 || branch.snapshot().foldedOffset(ViewTree.records) == past.end.offset else {
                    continue
                }
                if try isErasing() { forget() }
                return OpenedViews(
                    views: Views(trees: branch, log: past), finding: .whole, reasons: [],
                    beginning: mark.offset)
            }
        } catch is StrataError {
            // A run may be damaged that several kept states share. Opening without them reports anything else.
            forget()
        }
        return try Views.openForReading(
            past, store: store, in: directory, platform: platform, options: options, progress: progress)
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

    /// Returns true if the states have been used since the last call; otherwise releases them.
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

    /// Returns the nearest state at or before the end of a log, after folding further states up to there if that is
    /// far.
    private func nearest(
        to past: any EventLog, _ nearCommits: UInt64, _ state: inout State, _ progress: (Replay.Progress) -> Void
    ) throws -> Mark {
        let offset = past.end.offset
        let known = state.lines.flatMap(\.marks).filter { $0.offset <= offset }.max { $0.offset < $1.offset }
        if let known, offset - known.offset <= nearCommits { return known }
        // Within a line, no other state is nearer.
        let isInside = state.lines.contains { ($0.marks[0].offset...$0.end).contains(offset) }
        if let known, isInside { return known }
        try addLine(after: known.map { $0.offset + nearCommits }, past, &state)
        let index = state.lines.indices.filter { state.lines[$0].end <= offset }
            .max { state.lines[$0].end < state.lines[$1].end }
        guard let index else { preconditionFailure("a line must begin before every offset") }
        if offset - state.lines[index].end > nearCommits {
            do { try extend(index, past, &state, progress) } catch {
                // The trees may be ahead of the states.
                state.lines.remove(at: index)
                throw error
            }
        }
        return state.lines[index].newest
    }

    /// Begins another line if no state is known, or if a state on disk is nearer than the known ones.
    private func addLine(after known: UInt64?, _ past: any EventLog, _ state: inout State) throws {
        let trees = try Views.openNearest(past, store: store, in: directory, platform: platform, options: options)
        var mark = Mark(trees: trees, state: trees.snapshot())
        if let known, mark.offset <= known { return }
        if mark.offset == 0, past.floor.offset > 0 {
            // No state exists before a base, and each reader that begins there would load all of it.
            try Replay(log: past, trees: trees).run(upTo: past.floor.offset)
            mark = try newMark(trees)
        }
        if state.lines.count == Self.maximumLines { state.lines.removeFirst() }
        state.lines.append(Line(trees: trees, marks: [mark]))
    }

    private func newMark(_ trees: TreeStore) throws -> Mark {
        try trees.settle()
        return Mark(trees: trees, state: trees.snapshot())
    }

    private func extend(
        _ index: Int, _ past: any EventLog, _ state: inout State, _ progress: (Replay.Progress) -> Void
    ) throws {
        let trees = state.lines[index].trees
        var replay = Replay(log: past, trees: trees)
        replay.intervalBytes = limits.intervalBytes
        while state.lines[index].end < past.end.offset {
            try replay.run(progress: progress)
            let mark = try newMark(trees)
            // A log that ends before the offset that it reports would cause an endless loop.
            guard mark.offset > state.lines[index].end else { return }
            state.lines[index].marks.append(mark)
            while state.byteCount > limits.maximumBytes, state.lines[index].marks.count > 2 {
                state.lines[index].thin()
            }
        }
    }
}

extension PastStates.Line {
    fileprivate var newest: PastStates.Mark { marks[marks.count - 1] }

    /// Releases the state whose neighbors are nearest to each other.
    fileprivate mutating func thin() {
        let index = (1..<marks.count - 1).min {
            marks[$0 + 1].offset - marks[$0 - 1].offset < marks[$1 + 1].offset - marks[$1 - 1].offset
        }
        if let index { marks.remove(at: index) }
    }
}
