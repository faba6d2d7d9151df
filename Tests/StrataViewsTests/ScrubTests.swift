import StrataLog
import StrataModel
import StrataTree
import TestSupport
import Testing

@testable import StrataViews

@Suite("Views recomputed from the log")
struct ScrubTests {
    private let log = MemoryLog()

    private func views(_ count: Int) throws -> Views {
        var history = NoteHistory(seed: 3)
        try history.append(count, to: log)
        try history.declareTitle(.sortable, to: log)
        let views = try Views.inMemory(log)
        try IndexBuild.finish(in: views.trees)
        return views
    }

    private func scrub(_ views: Views) throws -> ScrubReport {
        try views.scrub(views.trees.snapshot())
    }

    @Test("Whole views are found whole, and every entry is looked at")
    func whole() throws {
        let views = try views(60)
        let report = try scrub(views)
        #expect(report.isWhole)
        let snapshot = views.trees.snapshot()
        let entries = try (ViewTree.folded + [ViewTree.index]).reduce(0) { $0 + (try snapshot.entryCount($1)) }
        #expect(report.entryCount == Int(entries) && entries > 100)
    }

    @Test(
        "An entry that is missing, too many or other is named",
        arguments: [ViewTree.records, ViewTree.index, ViewTree.zones])
    func differences(tree: TreeID) throws {
        let views = try views(40)
        var key: [UInt8] = []
        try views.trees.snapshot().scan(tree) { found, _ in
            key = [UInt8](found)
            return false
        }
        let value = try key.withUnsafeBytes { try views.trees.snapshot().get(tree, $0) { [UInt8]($0) } } ?? []
        for change in 0..<3 {
            let extra = key + [0x41]
            try alter(views, tree) { fork in
                switch change {
                case 0: try key.withUnsafeBytes { _ = try fork.delete(tree, $0) }
                case 1: try extra.withUnsafeBytes { key in try value.withUnsafeBytes { try fork.put(tree, key, $0) } }
                default:
                    guard tree != ViewTree.index else { return }
                    try key.withUnsafeBytes { key in
                        try (value.dropLast() + [0x77]).withUnsafeBytes { try fork.put(tree, key, $0) }
                    }
                }
            }
            let report = try scrub(views)
            let named = report.differences.filter { $0.tree == tree }.map(\.key)
            if change < 2 || tree != ViewTree.index {
                #expect(named == [change == 1 ? extra : key], "change \(change)")
                let kinds: [ScrubReport.Difference.Kind] = [.missing, .surplus, .changed]
                #expect(report.differences.first { $0.tree == tree }?.kind == kinds[change])
            }
            try alter(views, tree) { fork in
                try extra.withUnsafeBytes { _ = try fork.delete(tree, $0) }
                try key.withUnsafeBytes { key in try value.withUnsafeBytes { try fork.put(tree, key, $0) } }
            }
        }
    }

    @Test("Rows of an index that is being built count up to its key, and those of one that is removed never")
    func unfinished() throws {
        let views = try views(60)
        let id = try #require(try IndexCatalog(views.trees.snapshot()).ready.first)
        var keys: [[UInt8]] = []
        try views.trees.snapshot().scan(ViewTree.records) { key, _ in
            keys.append([UInt8](key))
            return true
        }
        let behind = UInt64(keys.count - 20)
        for (progress, surplus) in [(.building(upTo: keys[19]), behind), (.leaving, 0)] as [(IndexProgress, UInt64)] {
            try alter(views, ViewTree.indexCatalog) { try IndexCatalog.put(id, progress, in: $0) }
            let report = try scrub(views)
            // Without its declaration the other one is missing.
            let rows = report.differences.filter { $0.tree == ViewTree.index }
            let limit = UInt64(ScrubReport.maximumDifferences)
            #expect(rows.count == min(surplus, limit) && rows.allSatisfy { $0.kind == .surplus })
        }
    }

    private func alter(_ views: Views, _ tree: TreeID, _ body: (Fork) throws -> Void) throws {
        let fork = try views.trees.fork()
        try body(fork)
        try views.trees.publish(fork)
    }

    @Test("An index that nobody declared is named")
    func strangeIndex() throws {
        let views = try views(10)
        let strange = IndexID(type: 1, .created)
        try alter(views, ViewTree.indexCatalog) { try IndexCatalog.put(strange, .ready, in: $0) }
        #expect(
            try scrub(views).differences.contains {
                $0.tree == ViewTree.indexCatalog && $0.key == strange.key && $0.kind == .surplus
            })
    }

    @Test("A damaged history gives a bounded report")
    func bounded() throws {
        let views = try views(60)
        try alter(views, ViewTree.records) { try $0.deleteRange(ViewTree.records, from: nil, to: nil) }
        let report = try scrub(views)
        #expect(report.differences.count == ScrubReport.maximumDifferences)
    }
}
