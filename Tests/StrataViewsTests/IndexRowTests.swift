import StrataModel
import StrataTree
import TestSupport
import Testing

@testable import StrataViews

/// Index rows that are written while commits are folded, in forks of which some are dropped, and while indexes are
/// built and removed.
@Suite("Rows that the fold writes")
struct IndexRowTests {
    /// Folds commits as the pipeline does: in forks on forks, which are published later or dropped.
    private struct Line {
        let pages: PageStore
        let commits: [SampleCommit]
        /// True if the rows of old states stay, as if the fold forgot them.
        var forgetsOldRows = false
        private var random: SeededGenerator
        private var fold: Fold
        private var build = IndexBuild()
        /// The number of commits in the fold.
        private var folded = 0
        /// The number of commits that are published.
        private(set) var published = 0
        private var waiting: [(fork: Fork, count: Int)] = []
        private(set) var dropped = 0
        /// The number of states in which an index was being built.
        private(set) var unfinished = 0
        private(set) var removedRows = 0

        init(_ commits: [SampleCommit], seed: UInt64) throws {
            self.commits = commits
            random = SeededGenerator(seed: seed &+ 9)
            pages = try PageStore.inMemory()
            let fork = pages.fork()
            for (place, index) in Self.indexes.enumerated() where place % 3 < 2 {
                try IndexCatalog.put(index, place % 3 == 0 ? .ready : .building(upTo: []), in: fork)
            }
            try pages.publish(fork)
            fold = Fold(pages.fork())
        }

        private static let indexes = (UInt64(1)...3).flatMap { type in
            [.membership, .created, .modified, .createdBy, .modifiedBy, .parent].map { IndexID(type: type, $0) }
                + (UInt32(1)...5).flatMap { field in
                    IndexID.Form.allCases.map { IndexID(type: type, .field(field), $0) }
                }
        }

        var isDone: Bool { published == commits.count }

        mutating func step() throws {
            switch random.next(below: 24) {
            case 0..<10: try apply()
            case 10..<14: try stack()
            case 14..<18: try publish()
            case 18..<21: try buildSlice()
            case 21: try declare()
            default: drop()
            }
        }

        private mutating func apply() throws {
            guard folded < commits.count else { return try publish() }
            try fold.apply(commits[folded])
            folded += 1
        }

        private mutating func stack() throws { waiting.append((try fold.stack(), folded)) }

        private mutating func publish() throws {
            try stack()
            let before = pages.snapshot()
            for next in waiting {
                try pages.publish(next.fork)
                published = next.count
            }
            waiting = []
            if forgetsOldRows { try putBackRows(of: before) }
        }

        private mutating func putBackRows(of before: Snapshot) throws {
            var rows: [[UInt8]] = []
            try pages.snapshot().forEachChange(of: ViewTree.index, since: before) { row, change in
                if case .removed = change { rows.append([UInt8](row)) }
                return true
            }
            let fork = pages.fork()
            for row in rows { try fork.put(ViewTree.index, key: row) }
            try pages.publish(fork)
            removedRows += rows.count
            drop()
        }

        /// What is not published is lost.
        private mutating func drop() {
            if folded > published { dropped += 1 }
            waiting = []
            folded = published
            fold = Fold(pages.fork())
        }

        /// A slice in a fork of its own.
        private mutating func buildSlice() throws {
            if try IndexCatalog(pages.snapshot()).isUnfinished { unfinished += 1 }
            let fork = pages.fork()
            var left = random.next(below: 3)
            build.recordsTogether = 1 + random.next(below: 20)
            _ = try build.advance(fork, from: pages.snapshot()) {
                left -= 1
                return left < 0
            }
            try pages.publish(fork)
            drop()
        }

        /// An index that is declared or no longer declared.
        private mutating func declare() throws {
            let id = Self.indexes[random.next(below: Self.indexes.count)]
            let fork = pages.fork()
            let progress: IndexProgress =
                switch try IndexCatalog(fork)[id] {
                case nil: .building(upTo: [])
                case .leaving?: .returning
                default: .leaving
                }
            try IndexCatalog.put(id, progress, in: fork)
            try pages.publish(fork)
            drop()
        }

        func differences() throws -> Int { try IndexBuild.differences(of: pages.snapshot()) }

        mutating func finish() throws {
            try IndexBuild.finish(in: pages)
            #expect(try !IndexCatalog(pages.snapshot()).isUnfinished)
        }
    }

    @Test("In every state, indexes are those that are built from the records")
    func model() throws {
        var (dropped, unfinished) = (0, 0)
        try withSeeds(8) { seed in
            var line = try Line(try SampleCommit.all(80, seed: seed), seed: seed)
            var checked = line.pages.snapshot()
            while !line.isDone {
                try line.step()
                if line.pages.snapshot() === checked { continue }
                checked = line.pages.snapshot()
                try #require(try line.differences() == 0, "after \(line.published) commits")
            }
            try line.finish()
            try #require(try line.differences() == 0)
            dropped += line.dropped
            unfinished += line.unfinished
        }
        #expect(dropped > 0 && unfinished > 100, "\(dropped), \(unfinished)")
    }

    @Test("A fold that leaves the rows of old states is noticed")
    func canary() throws {
        var line = try Line(try SampleCommit.all(160, seed: 1), seed: 1)
        line.forgetsOldRows = true
        while !line.isDone, try line.differences() == 0 { try line.step() }
        #expect(try line.differences() > 0 && line.removedRows > 0)
    }

    @Test("Rows of two states come to what only one of them has")
    func change() throws {
        var (old, new) = (IndexRowList(), IndexRowList())
        // The same value twice in a list is one row.
        for row in [5, 3, 3, 9, 1] as [UInt8] { old.append { $0.append(byte: row) } }
        for row in [4, 9, 3, 4, 12] as [UInt8] { new.append { $0.append(byte: row) } }
        old.sort()
        new.sort()
        func changes(_ old: IndexRowList, _ new: IndexRowList) -> [String] {
            var changes: [String] = []
            IndexRowList.forEachChange(from: old, to: new) { changes.append("\($0 ? "+" : "-")\($1[0])") }
            return changes
        }
        #expect(changes(old, new) == ["-1", "+4", "-5", "+12"])
        #expect(changes(old, IndexRowList()) == ["-1", "-3", "-5", "-9"])
        #expect(changes(IndexRowList(), new) == ["+3", "+4", "+9", "+12"])
        #expect(changes(new, new).isEmpty)
    }
}
