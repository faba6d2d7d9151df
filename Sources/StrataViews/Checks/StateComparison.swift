import StrataModel
import StrataTree

extension Views {
    /// Compares every entry of a state with that of another, folded from the log. Rows of indexes are compared with the
    /// records.
    package static func compare(_ found: Snapshot, with truth: Snapshot) throws -> ScrubReport {
        try StateComparison(of: found, with: truth).run()
    }
}

/// Compares the trees of a state, entry by entry, with those that the log yields.
private final class StateComparison {
    private let found: Snapshot
    private let truth: Snapshot
    /// The offset up to which rows of assets may be missing in one of the states, which was folded from a base or
    /// pruned to it.
    private let prunedOffset: UInt64
    private var report = ScrubReport()

    init(of found: Snapshot, with truth: Snapshot) {
        self.found = found
        self.truth = truth
        let pruned = (found.foldedOffset(ViewTree.prunedAssets), truth.foldedOffset(ViewTree.prunedAssets))
        prunedOffset = pruned.0 == pruned.1 ? 0 : max(pruned.0, pruned.1)
    }

    func run() throws -> ScrubReport {
        for id in ViewTree.folded { try compare(id) }
        let catalog = try IndexCatalog(found)
        for id in Set(catalog.declared).symmetricDifference(try IndexCatalog(truth).declared).sorted() {
            let kind: ScrubReport.Difference.Kind = catalog[id] == nil ? .missing : .surplus
            id.key.withUnsafeBytes {
                add(kind, in: ViewTree.indexCatalog, key: $0, row: UnsafeRawBufferPointer(start: nil, count: 0))
            }
        }
        try compareIndexes(catalog)
        return report
    }

    private func compare(_ id: TreeID) throws {
        let truth = truth.cursor(id)
        var isThere = try truth.seekFirst()
        try found.scan(id) { key, row in
            report.entryCount += 1
            // The order of the expected entry relative to this one; if there is none, it counts as later.
            var order = 1
            while isThere {
                order =
                    try truth.withEntry { expectedKey, expected in
                        let order = Self.order(expectedKey, key)
                        if order < 0 { add(.missing, in: id, key: expectedKey, row: expected) }
                        if order == 0, !expected.elementsEqual(row), !isPruned(id, row) {
                            add(.changed, in: id, key: key, row: expected)
                        }
                        return order
                    } ?? 1
                if order > 0 { break }
                isThere = try truth.next()
                if order == 0 { break }
            }
            if order != 0 { add(.surplus, in: id, key: key, row: row) }
            return !report.isFull
        }
        while !report.isFull, isThere {
            try truth.withEntry { add(.missing, in: id, key: $0, row: $1) }
            isThere = try truth.next()
        }
    }

    // MARK: Indexes

    /// Looks up the rows that the records yield, and searches for surplus rows if there are more. Rows of indexes that
    /// are being removed are ignored.
    private func compareIndexes(_ catalog: IndexCatalog) throws {
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        var presentCount = 0
        let rows = try TrueRows(catalog, truth)
        try truth.scan(ViewTree.records) { record, state in
            try rows.forEachRow(of: record, state) { row in
                if try found.get(ViewTree.index, row, { _ in }) != nil {
                    presentCount += 1
                } else {
                    add(.missing, in: ViewTree.index, key: row, row: none)
                }
            }
            return !report.isFull
        }
        var foundCount = 0
        let outdated = Set(catalog.outdated)
        try found.scan(ViewTree.index) { row, _ in
            report.entryCount += 1
            if try !outdated.contains(IndexID.start(ofRow: row).id) { foundCount += 1 }
            return true
        }
        if report.isFull || foundCount == presentCount { return }
        try found.scan(ViewTree.index) { row, _ in
            let (id, byteCount) = try IndexID.start(ofRow: row)
            if outdated.contains(id) { return true }
            let isTrue = try IndexRow(row, after: byteCount).recordKey.withUnsafeBytes { record in
                try truth.get(ViewTree.records, record) { state in
                    var isTrue = false
                    try rows.forEachRow(of: record, state) { if $0.elementsEqual(row) { isTrue = true } }
                    return isTrue
                } ?? false
            }
            if !isTrue { add(.surplus, in: ViewTree.index, key: row, row: none) }
            return !report.isFull
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

/// The rows that records have in the indexes of a catalog.
private final class TrueRows {
    private let maker: IndexRowMaker
    private var rows = IndexRowList()
    private var names = NameCache()
    private let trees: Fork

    init(_ catalog: IndexCatalog, _ truth: Snapshot) throws {
        maker = IndexRowMaker(catalog)
        trees = try Fork(on: truth)
    }

    func forEachRow(
        of record: UnsafeRawBufferPointer, _ state: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        if maker.isEmpty { return }
        var reader = KeyReader(record)
        let database = try names.database(ofZone: try reader.readNumber(), in: trees)
        rows.removeAll()
        try maker.append(try IndexedState(state), of: record, in: database, to: &rows)
        rows.sort()
        try rows.forEachRow(body)
    }
}
