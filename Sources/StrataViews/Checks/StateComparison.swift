import StrataModel
import StrataTree

/// Compares the trees of a state, entry by entry, with those that the log yields.
final class StateComparison {
    /// The number of entries between two calls of `pulse`.
    private static let pulsedEntries = 4_096

    private let found: Snapshot
    private let truth: Snapshot
    private let pulse: () throws -> Void
    /// The offset up to which rows of assets may be missing in one of the states, which was folded from a base or
    /// pruned to it.
    private let prunedOffset: UInt64
    private var report = ScrubReport()

    init(of found: Snapshot, with truth: Snapshot, _ pulse: @escaping () throws -> Void = {}) {
        self.found = found
        self.truth = truth
        self.pulse = pulse
        let pruned = (found.foldedOffset(ViewTree.prunedAssets), truth.foldedOffset(ViewTree.prunedAssets))
        prunedOffset = pruned.0 == pruned.1 ? 0 : max(pruned.0, pruned.1)
    }

    func run(comparesIndexes: Bool, spill: RunSorter.Spill?) throws -> ScrubReport {
        for id in ViewTree.folded {
            try compare(id, with: TruthCursor(truth.cursor(id))) { _ in true }
        }
        let catalog = try IndexCatalog(found)
        for id in Set(catalog.declared).symmetricDifference(try IndexCatalog(truth).declared).sorted() {
            let kind: ScrubReport.Difference.Kind = catalog[id] == nil ? .missing : .surplus
            id.key.withUnsafeBytes {
                add(kind, in: ViewTree.indexCatalog, key: $0, row: UnsafeRawBufferPointer(start: nil, count: 0))
            }
        }
        report.comparedIndexes = comparesIndexes
        if comparesIndexes { try compareIndexes(Set(catalog.ready), spill) }
        return report
    }

    /// Compares the rows of every ready index with those that the records yield. Rows of other indexes are ignored.
    private func compareIndexes(_ ready: Set<IndexID>, _ spill: RunSorter.Spill?) throws {
        guard !ready.isEmpty else { return }
        let sorter = RunSorter(spill: spill)
        _ = try IndexBuild(ready.sorted(), from: truth, sorter).read { false }
        try compare(ViewTree.index, with: SortedRows(sorter)) { key in
            ready.contains(try IndexID.start(ofRow: key).id)
        }
    }

    /// - Parameter counts: returns true if a found entry must be compared.
    private func compare(
        _ id: TreeID, with truth: some ExpectedEntries, where counts: (UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        var truth = truth
        try found.scan(id) { key, row in
            report.entryCount += 1
            if report.entryCount % Self.pulsedEntries == 0 { try pulse() }
            guard try counts(key) else { return true }
            // The order of the expected entry relative to this one; if there is none, it counts as later.
            var order = 1
            while let next = try truth.withEntry({ expectedKey, expected in
                let order = Self.order(expectedKey, key)
                if order < 0 { add(.missing, in: id, key: expectedKey, row: expected) }
                if order == 0, !expected.elementsEqual(row), !isPruned(id, row) {
                    add(.changed, in: id, key: key, row: expected)
                }
                return order
            }) {
                order = next
                if order > 0 { break }
                try truth.advance()
                if order == 0 { break }
            }
            if order != 0 { add(.surplus, in: id, key: key, row: row) }
            return !report.isFull
        }
        while !report.isFull, try truth.withEntry({ add(.missing, in: id, key: $0, row: $1) }) != nil {
            try truth.advance()
        }
    }

    private static func order(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
        a.elementsEqual(b) ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
    }

    private func isPruned(_ id: TreeID, _ row: UnsafeRawBufferPointer) -> Bool {
        guard id == ViewTree.assets, prunedOffset > 0, let asset = try? AssetRow(decoding: row) else { return false }
        return asset.version.offset <= prunedOffset
    }

    /// - Parameter row: the expected row, or the found row of a surplus entry.
    private func add(
        _ kind: ScrubReport.Difference.Kind, in id: TreeID, key: UnsafeRawBufferPointer, row: UnsafeRawBufferPointer
    ) {
        guard !report.isFull, !isPruned(id, row) else { return }
        let (maintainer, entry) = (ViewTree.maintainer(of: id), ViewEntry(key: key, row: row))
        // A malformed row has no origin.
        let origin = try? maintainer?.origin(of: entry, in: kind == .surplus ? found : truth)
        let offset = origin.flatMap { $0 }
        report.differences.append(
            ScrubReport.Difference(
                tree: id, key: [UInt8](key), kind: kind,
                offset: offset.flatMap { $0 <= truth.foldedOffset(ViewTree.records) ? $0 : nil },
                name: (try? maintainer?.name(at: entry)).flatMap { $0 }))
    }
}

/// Entries as the log yields them, in the order of their keys.
private protocol ExpectedEntries {
    /// Calls `body` with the current entry; returns nil after the last.
    func withEntry<Result>(
        _ body: (_ key: UnsafeRawBufferPointer, _ row: UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result?
    mutating func advance() throws
}

/// The expected entries of a tree.
private struct TruthCursor: ExpectedEntries {
    let cursor: Cursor
    private var isThere: Bool

    init(_ cursor: Cursor) throws {
        self.cursor = cursor
        isThere = try cursor.seekFirst()
    }

    func withEntry<Result>(
        _ body: (_ key: UnsafeRawBufferPointer, _ row: UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result? {
        isThere ? try cursor.withEntry(body) : nil
    }

    mutating func advance() throws { isThere = try cursor.next() }
}

/// The expected rows of indexes, which have only keys.
private struct SortedRows: ExpectedEntries {
    let sorter: RunSorter

    init(_ sorter: RunSorter) { self.sorter = sorter }

    func withEntry<Result>(
        _ body: (_ key: UnsafeRawBufferPointer, _ row: UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result? {
        try sorter.current.map { try body($0.key, UnsafeRawBufferPointer(start: nil, count: 0)) }
    }

    /// Skips duplicates, because a record may yield the same row twice.
    func advance() throws {
        guard let key = sorter.current.map({ [UInt8]($0.key) }) else { return }
        repeat { try sorter.advance() } while sorter.current.map { $0.key.elementsEqual(key) } ?? false
    }
}
