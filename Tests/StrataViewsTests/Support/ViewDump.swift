import StrataModel
import StrataTree

@testable import StrataViews

/// All entries of all trees, in order.
struct ViewDump: Equatable {
    struct Entry: Equatable {
        var key: [UInt8]
        var row: [UInt8]
    }

    private(set) var trees: [UInt16: [Entry]] = [:]

    init(_ snapshot: Snapshot) throws {
        for id in ViewTree.folded {
            var entries: [Entry] = []
            try snapshot.scan(id) { key, row in
                entries.append(Entry(key: [UInt8](key), row: [UInt8](row)))
                return true
            }
            trees[id.rawValue] = entries
        }
    }

    /// What differs from the trees of a plain store, in words; empty if nothing does.
    func differences(from expected: [UInt16: PlainStore.Tree]) -> [String] {
        var found: [String] = []
        for id in trees.keys.sorted() {
            let (entries, wanted) = (trees[id] ?? [], expected[id] ?? [:])
            for (entry, next) in zip(entries, entries.dropFirst()) where !entry.key.lexicographicallyPrecedes(next.key)
            {
                found.append("tree \(id): \(next.key) is out of order")
            }
            for entry in entries where wanted[entry.key] != entry.row {
                let row = wanted[entry.key].map { "\($0)" } ?? "nothing"
                found.append("tree \(id): \(entry.key) has \(entry.row), expected \(row)")
            }
            let keys = Set(entries.map(\.key))
            for key in wanted.keys where !keys.contains(key) { found.append("tree \(id): \(key) is missing") }
        }
        return found
    }
}

extension Fold {
    func apply(_ commit: SampleCommit) throws {
        try commit.payload.withUnsafeBytes { try apply($0, offset: commit.offset, time: commit.time) }
    }
}

extension TreeStore {
    /// Folds commits and publishes them as one step.
    func fold(_ commits: some Sequence<SampleCommit>) throws {
        let fold = Fold(try fork())
        for commit in commits { try fold.apply(commit) }
        try fold.publish(to: self)
    }
}
