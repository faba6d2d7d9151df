import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import TestSupport
import Testing

@testable import StrataViews

@Suite("Replaying logs into trees")
struct ReplayTests {
    @Test("The trees are those of a plain fold of the same commits, byte for byte")
    func plain() throws {
        try withSeeds(8) { seed in
            let commits = try SampleCommit.all(120, seed: seed, hasGaps: seed % 2 == 0)
            var store = try PlainStore()
            let pages = try Views.emptyTrees()
            for start in stride(from: 0, to: commits.count, by: 40) {
                let part = commits[start..<start + 40]
                try pages.fold(part)
                for commit in part { try store.apply(commit) }
                try check(pages, store)
            }
        }
    }

    private func check(_ pages: TreeStore, _ store: PlainStore) throws {
        let snapshot = pages.snapshot()
        let differences = try ViewDump(snapshot).differences(from: try store.trees())
        try #require(differences.isEmpty, "\(differences.prefix(3).joined(separator: "\n"))")
        let digests = try snapshot.digests()
        let expected = try store.digests()
        try #require(digests.state == expected.state && digests.content == expected.content)
    }

    @Test("Histories have something of everything")
    func coverage() throws {
        var found: (trees: Set<UInt16>, statuses: Set<UInt8>, kinds: Set<FieldKind>) = ([], [], [])
        var since = 0
        for seed in 1...6 as ClosedRange<UInt64> {
            let store = try PlainStore(SampleCommit.all(100, seed: seed))
            found.trees.formUnion(try store.trees().filter { !$0.value.isEmpty }.keys)
            found.statuses.formUnion(store.zones.values.map(\.status))
            found.kinds.formUnion(store.records.values.flatMap { $0.fields.map(\.value.kind) })
            since = store.records.values.map(\.header.eventsSinceFull).reduce(since, max)
        }
        #expect(found.trees == Set(ViewTree.folded.map(\.rawValue)))
        #expect(found.statuses == [1, 2, 3, 4])
        #expect(since >= 10)
        let kinds = (1...8).map { FieldKind(rawValue: $0) } + [.sealed, .emptyList, .reference.list]
        #expect(found.kinds.isSuperset(of: kinds))
    }

    @Test("Commits folded at once, one by one, and in forks of which some are dropped, give the same trees")
    func partitions() throws {
        try withSeeds(8) { seed in
            let commits = try SampleCommit.all(90, seed: seed, hasGaps: true)
            let whole = try Views.emptyTrees()
            try whole.fold(commits)
            let single = try Views.emptyTrees()
            for commit in commits { try single.fold([commit]) }
            var generator = SeededGenerator(seed: seed)
            let parts = try Views.emptyTrees()
            var next = 0
            while next < commits.count {
                let end = min(next + 1 + generator.next(below: 12), commits.count)
                if generator.next(below: 2) == 0 { try drop(commits[next..<end], on: parts, &generator) }
                try parts.fold(commits[next..<end])
                next = end
            }
            let expected = try ViewDump(whole.snapshot())
            let digests = try whole.snapshot().digests()
            for pages in [single, parts] {
                let snapshot = pages.snapshot()
                try #require(try ViewDump(snapshot) == expected)
                try #require(try snapshot.digests() == digests)
                for id in ViewTree.folded {
                    try #require(snapshot.foldedOffset(id) == commits.last?.offset, "tree \(id.rawValue)")
                }
            }
        }
    }

    /// Folds and forgets, with and without flushing, and with a fork on the fork.
    private func drop(
        _ commits: ArraySlice<SampleCommit>, on pages: TreeStore, _ generator: inout SeededGenerator
    ) throws {
        let before = try ViewDump(pages.snapshot())
        let fold = Fold(try pages.fork())
        for commit in commits { try fold.apply(commit) }
        if generator.next(below: 2) == 0 {
            try fold.flush()
            let upper = Fold(try Fork(on: fold.fork))
            try upper.apply(
                SampleCommit(
                    offset: upper.offset + 1, time: 1, payload: Envelope(events: [Event(.fetched, body: [])]).encoded())
            )
            try upper.flush()
        }
        try #require(try ViewDump(pages.snapshot()) == before)
    }

    @Test("Flushing in front of any commit changes nothing")
    func flushes() throws {
        try withSeeds(6) { seed in
            let commits = try SampleCommit.all(60, seed: seed)
            let (once, often) = (try Views.emptyTrees(), try Views.emptyTrees())
            try once.fold(commits)
            let fold = Fold(try often.fork())
            for commit in commits {
                try fold.apply(commit)
                try fold.flush()
            }
            try often.publish(fold.fork)
            try #require(try ViewDump(once.snapshot()) == ViewDump(often.snapshot()))
        }
    }

    @Test("Names that got their ordinals in another order give the same digests")
    func ordinals() throws {
        try withSeeds(6) { seed in
            var found: Set<Digests> = []
            var dumps: [ViewDump] = []
            for order in 1...3 {
                let pages = try Views.emptyTrees()
                try pages.fold(
                    SampleCommit.all(60, seed: seed, interning: .ahead(seed: seed * 10 + UInt64(order))))
                found.insert(try pages.snapshot().digests())
                dumps.append(try ViewDump(pages.snapshot()))
            }
            try #require(dumps[0] != dumps[1])
            try #require(found.count == 1)
        }
    }

    @Test("Other offsets change the state's digest, not the content's")
    func offsets() throws {
        try withSeeds(4) { seed in
            let (dense, sparse) = (try Views.emptyTrees(), try Views.emptyTrees())
            try dense.fold(SampleCommit.all(60, seed: seed))
            try sparse.fold(SampleCommit.all(60, seed: seed, hasGaps: true))
            let (left, right) = (try dense.snapshot().digests(), try sparse.snapshot().digests())
            try #require(left.content == right.content && left.state != right.state)
        }
    }
}
