import StrataLog
import StrataModel
import StrataStore
import StrataTree
import StrataViews
import TestSupport
import Testing

/// What is read between commits, record by record, must neither be stale nor change what they come to.
@Suite("A fold is read between commits")
struct FoldedReadsTests {
    private func commits(_ seed: UInt64) throws -> [Commit] {
        let fixture = try RerunFixture()
        var history = RandomHistory(fixture, seed: seed)
        try history.run(150)
        var cursor = try fixture.store.log.read(from: 1)
        var commits: [Commit] = []
        while let commit = try cursor.next() { commits.append(commit) }
        return commits
    }

    private func apply(_ commit: Commit, to fold: Fold) throws {
        try commit.payload.withUnsafeBytes { try fold.apply($0, offset: commit.offset, time: commit.time) }
    }

    /// Records that the commits so far may have, by zone.
    private static let keys = (1...4 as ClosedRange<UInt64>).flatMap { zone in
        (0..<8).map { RecordKey(zone: zone, name: "r\($0)") }
    }

    @Test("Each record is what it is once all is folded, and so is the state at the end")
    func recordsBetweenCommits() throws {
        try withSeeds(6) { seed in
            var generator = SeededGenerator(seed: seed)
            let (read, whole) = (Fold(try Views.emptyTrees().fork()), Fold(try Views.emptyTrees().fork()))
            var foundCount = 0
            for commit in try commits(seed) {
                try apply(commit, to: read)
                try apply(commit, to: whole)
                guard generator.next(below: 3) > 0 else { continue }
                try whole.flush()
                for _ in 0..<generator.next(below: 5) {
                    let key = Self.keys[generator.next(below: Self.keys.count)]
                    let found = try read.withRecord(key) { [UInt8]($0) }
                    let truth = try whole.fork.withRecord(key) { [UInt8]($0) }
                    try #require(found == truth, "\(key) behind \(commit.offset)")
                    foundCount += found == nil ? 0 : 1
                }
            }
            try #require(foundCount > 20)
            try read.flush()
            try whole.flush()
            try #require(try read.fork.digests() == whole.fork.digests())
        }
    }

    @Test("Where a record cannot be folded that is asked for, the fold can only be dropped")
    func noSpace() throws {
        let commits = try commits(1)
        var failedCount = 0
        for pageCount in 4...48 {
            var options = TreeStoreOptions()
            options.reservedBytes = pageCount * 4_096
            let fold = Fold(try Views.emptyTrees(options: options).fork())
            guard let failure = try failureOfReading(fold, commits) else { continue }
            failedCount += 1
            #expect(failure.code == .noSpace && fold.isPartial)
            let flush = #expect(throws: StrataError.self) { try fold.flush() }
            let stack = #expect(throws: StrataError.self) { _ = try fold.stack() }
            #expect(flush?.code == .closed && stack?.code == .closed)
        }
        #expect(failedCount > 0)
    }

    /// Nil if there is room for all that is read, or none for what is applied.
    private func failureOfReading(_ fold: Fold, _ commits: [Commit]) throws -> StrataError? {
        for commit in commits {
            do { try apply(commit, to: fold) } catch let error as StrataError where error.code == .noSpace {
                return nil
            }
            for key in Self.keys {
                do { _ = try fold.withRecord(key) { _ in true } } catch let error as StrataError { return error }
            }
        }
        return nil
    }

    @Test("Nothing refers to a record of which that is said")
    func references() throws {
        var answers: Set<[Bool]> = []
        try withSeeds(6) { seed in
            var generator = SeededGenerator(seed: seed)
            let (read, whole) = (Fold(try Views.emptyTrees().fork()), Fold(try Views.emptyTrees().fork()))
            for commit in try commits(seed) {
                try apply(commit, to: read)
                try apply(commit, to: whole)
                try whole.flush()
                let key = Self.keys[generator.next(below: Self.keys.count)]
                var isReferred = false
                try whole.fork.forEachSource(of: key, .parent, through: .deleting) { _, _ in
                    isReferred = true
                    return false
                }
                let mayBe = try read.mayBeReferred(to: key)
                answers.insert([mayBe, isReferred])
                try #require(mayBe || !isReferred, "\(key) behind \(commit.offset)")
                if generator.next(below: 4) == 0 { try read.flush() }
            }
        }
        #expect(answers.count == 3, "each case has come: \(answers)")
    }
}
