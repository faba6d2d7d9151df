import StrataModel
import StrataTree
import TestSupport
import Testing

@testable import StrataViews

/// Changes of index rows that are collected while commits are folded, in forks of which some are dropped.
@Suite("Rows that the fold collects")
struct IndexRowTests {
    /// Folds commits as the pipeline does: in forks on forks, which are published later or dropped.
    private struct Line {
        let pages: PageStore
        let commits: [SampleCommit]
        var random: SeededGenerator
        private var fold: Fold
        /// The number of commits in the fold.
        private var folded = 0
        /// The number of commits that are published.
        private(set) var published = 0
        private var catchUp: IndexCatchUp
        private var lineKeeper: IndexCatchUp
        private var rows = IndexRowLog()
        private var waiting: [(fork: Fork, rows: IndexRowPart?, count: Int, catchUp: IndexCatchUp)] = []
        /// The catch-ups that began with collected changes, and those that compared states.
        private(set) var begun = (collected: 0, compared: 0)
        private(set) var dropped = 0

        init(_ commits: [SampleCommit], seed: UInt64) throws {
            self.commits = commits
            random = SeededGenerator(seed: seed &+ 9)
            pages = try PageStore.inMemory()
            let fork = pages.fork()
            for index in Self.indexes { try IndexCatalog.put(index, .ready, in: fork) }
            catchUp = IndexCatchUp(try pages.publish(fork))
            lineKeeper = catchUp
            fold = Fold(pages.fork())
            fold.collectsRows = true
        }

        private static let indexes = (UInt64(1)...3).flatMap { type in
            [.membership, .created, .modified, .createdBy, .modifiedBy, .parent].map { IndexID(type: type, $0) }
                + (UInt32(1)...5).flatMap { field in
                    IndexID.Form.allCases.map { IndexID(type: type, .field(field), $0) }
                }
        }

        var isDone: Bool { published == commits.count }

        mutating func step() throws {
            switch random.next(below: 20) {
            case 0..<10: try apply()
            case 10..<14: try stack()
            case 14..<17: try publish()
            case 17: try advanceInLine()
            case 18: try advance(limit: 1 + random.next(below: 40))
            default: drop()
            }
        }

        private mutating func apply() throws {
            guard folded < commits.count else { return try publish() }
            let commit = commits[folded]
            try commit.payload.withUnsafeBytes { try fold.apply($0, offset: commit.offset, time: commit.time) }
            folded += 1
        }

        private mutating func stack() throws {
            let (fork, part) = try fold.stack()
            waiting.append((fork, part, folded, lineKeeper))
        }

        private mutating func publish() throws {
            try stack()
            for next in waiting {
                rows.append(next.rows)
                try pages.publish(next.fork)
                published = next.count
                take(next.catchUp)
            }
            waiting = []
        }

        private mutating func take(_ next: IndexCatchUp) {
            catchUp = next
            if let state = next.begun { rows.forget(through: state) }
        }

        /// What is not published is lost, with the changes that were collected for it.
        private mutating func drop() {
            if folded > published { dropped += 1 }
            waiting = []
            (folded, lineKeeper) = (published, catchUp)
            fold = Fold(pages.fork())
            fold.collectsRows = true
        }

        private mutating func note(_ catchUp: IndexCatchUp, _ target: Snapshot) throws {
            let ready = try IndexCatalog(target).ready
            if catchUp.isUnderWay || ready.isEmpty { return }
            let start = try catchUp.base.identity(of: ViewTree.records)
            let end = try target.identity(of: ViewTree.records)
            if start == end { return }
            if rows.changes(from: start, to: end, of: ready) != nil {
                begun.collected += 1
            } else {
                begun.compared += 1
            }
        }

        /// A slice in the fork of the commits that are decided next.
        private mutating func advanceInLine() throws {
            let target = pages.snapshot()
            try note(lineKeeper, target)
            _ = try lineKeeper.advance(try fold.whole(), to: target, limit: 1 + random.next(below: 40), rows)
        }

        /// A slice in a fork of its own.
        private mutating func advance(limit: Int) throws {
            drop()
            let (fork, target) = (pages.fork(), pages.snapshot())
            try note(catchUp, target)
            var next = catchUp
            _ = try next.advance(fork, to: target, limit: limit, rows)
            try pages.publish(fork)
            take(next)
            lineKeeper = next
            fold = Fold(pages.fork())
            fold.collectsRows = true
        }

        /// The rows of ready indexes that differ from those of indexes that were built from the same records.
        mutating func differences() throws -> Int {
            // A catch-up that is under way has an older target.
            repeat { try advance(limit: .max) } while !catchUp.base.shares(ViewTree.records, with: pages.snapshot())
            let snapshot = pages.snapshot()
            let ready = Set(try IndexCatalog(snapshot).ready)
            var count = 0
            try IndexCatchUp.rebuilt(snapshot).forEachChange(of: ViewTree.index, since: snapshot) { row, change in
                if case .replaced = change { return true }
                if try ready.contains(IndexID.start(ofRow: row).id) { count += 1 }
                return true
            }
            return count
        }
    }

    @Test("Indexes that follow collected changes are those that are built from the records")
    func model() throws {
        var (collected, compared, dropped) = (0, 0, 0)
        try withSeeds(8) { seed in
            var line = try Line(try SampleCommit.all(160, seed: seed), seed: seed)
            while !line.isDone {
                for _ in 0..<40 where !line.isDone { try line.step() }
                try #require(try line.differences() == 0, "after \(line.published) commits")
            }
            collected += line.begun.collected
            compared += line.begun.compared
            dropped += line.dropped
        }
        // Zones that end, and lost lines, make gaps.
        #expect(collected > compared && compared > 0 && dropped > 0, "\(collected), \(compared), \(dropped)")
    }

    @Test("Successive changes of a row come to their last, or to nothing")
    func net() throws {
        var parts = [IndexRowChanges(), IndexRowChanges()]
        func change(_ part: Int, _ row: UInt8, _ isAddition: Bool) {
            parts[part].append(isAddition: isAddition) { $0.append(byte: row) }
        }
        // Added; removed; added and removed; removed and added; replaced twice; the same value twice in a list.
        change(0, 5, true)
        change(0, 4, false)
        change(0, 3, true)
        change(1, 3, false)
        change(0, 2, false)
        change(1, 2, true)
        for isAddition in [false, true, false, true, false] { change(1, 1, isAddition) }
        for _ in 0..<2 { change(0, 6, true) }
        for _ in 0..<2 { change(1, 6, false) }
        change(1, 6, true)
        var left: [String] = []
        IndexRowChanges.net(parts).forEachRow { left.append("\($0 ? "+" : "-")\($1[0])") }
        #expect(left == ["-1", "-4", "+5", "+6"])
    }

    @Test("A log of changes that has a gap, or other indexes, has no changes between its ends")
    func gaps() throws {
        let pages = try PageStore.inMemory()
        var states = [try pages.snapshot().identity(of: ViewTree.records)]
        for number in UInt8(1)...4 {
            let fork = pages.fork()
            try [number].withUnsafeBytes { try fork.put(ViewTree.records, $0, $0) }
            states.append(try pages.publish(fork).identity(of: ViewTree.records))
        }
        let index = IndexID(type: 1, .membership)
        func part(_ from: Int, _ to: Int, _ indexes: [IndexID]) -> IndexRowPart {
            IndexRowPart(changes: IndexRowChanges(), indexes: indexes, start: states[from], end: states[to])
        }
        var log = IndexRowLog()
        log.append(part(0, 1, [index]))
        log.append(part(1, 2, [index]))
        #expect(log.changes(from: states[0], to: states[2], of: [index])?.count == 2)
        #expect(log.changes(from: states[0], to: states[1], of: [index])?.count == 1)
        #expect(log.changes(from: states[0], to: states[2], of: []) == nil)
        #expect(log.changes(from: states[0], to: states[3], of: [index]) == nil)
        var gap = log
        gap.append(part(3, 4, [index]))
        #expect(gap.changes(from: states[0], to: states[4], of: [index]) == nil)
        #expect(gap.changes(from: states[3], to: states[4], of: [index])?.count == 1)
        log.forget(through: states[1])
        #expect(log.changes(from: states[0], to: states[2], of: [index]) == nil)
        #expect(log.changes(from: states[1], to: states[2], of: [index])?.count == 1)
        log.forget(through: states[1])
        #expect(!log.parts.isEmpty)
        // No change leads from the third state to a later one.
        log.forget(through: states[3])
        #expect(log.parts.isEmpty)
    }
}
