import StrataLog
import StrataModel
import StrataTree

/// What recomputing the views from the log found.
public struct ScrubReport: Sendable {
    /// An entry that the log does not give, or gives otherwise.
    public struct Difference: Sendable, Hashable {
        public var tree: TreeID
        public var key: [UInt8]
    }

    /// At most ``maximumDifferences`` of them.
    public internal(set) var differences: [Difference] = []
    public internal(set) var entryCount = 0

    public static let maximumDifferences = 100
    public var isWhole: Bool { differences.isEmpty }
}

extension Views {
    /// Folds the whole log again and compares every entry of a snapshot with what comes of it; rows of indexes are
    /// compared with the records.
    ///
    /// It reads everything and takes as long as rebuilding does; nothing is changed.
    ///
    /// - Parameters:
    ///   - scratch: an empty store for the second fold; in memory, or with a page file if it does not fit there.
    ///   - lag: what the snapshot's indexes show.
    /// - Throws: ``StrataError`` if the log or a page cannot be read.
    public func scrub(
        _ snapshot: Snapshot, lag: IndexLag, scratch: PageStore, progress: (Replay.Progress) -> Void = { _ in }
    ) throws -> ScrubReport {
        let offset = snapshot.foldedOffset(ViewTree.records)
        try Replay(log: log, pages: scratch).run(upTo: offset, progress: progress)
        let truth = scratch.snapshot()
        var report = ScrubReport()
        for id in ViewTree.folded { try Self.compare(id, snapshot, truth, &report) }
        let (found, declared) = (try IndexCatalog(snapshot).declared, try IndexCatalog(truth).declared)
        for id in Set(found).symmetricDifference(declared).sorted() {
            id.key.withUnsafeBytes { report.add(ViewTree.indexCatalog, $0) }
        }
        guard try lag.touched(in: snapshot, limit: 0) != nil else { return report }
        try compareIndexes(snapshot, &report)
        return report
    }

    private static func compare(
        _ id: TreeID, _ found: Snapshot, _ truth: Snapshot, _ report: inout ScrubReport
    ) throws {
        let cursor = truth.cursor(id)
        var isThere = try cursor.seekFirst()
        try found.scan(id) { key, value in
            report.entryCount += 1
            // What the truth has in front of this entry is missing here.
            while isThere {
                let order = try cursor.withEntry { other, _ in Self.order(other, key) } ?? 0
                guard order < 0 else { break }
                try cursor.withEntry { other, _ in report.add(id, other) }
                isThere = try cursor.next()
            }
            let isSame =
                isThere
                ? try cursor.withEntry { other, state in
                    Self.order(other, key) == 0 && state.elementsEqual(value)
                } ?? false : false
            if !isSame { report.add(id, key) }
            let isPassed = isThere ? try cursor.withEntry { other, _ in Self.order(other, key) == 0 } ?? false : false
            if isPassed { isThere = try cursor.next() }
            return !report.isFull
        }
        while isThere, !report.isFull {
            try cursor.withEntry { key, _ in report.add(id, key) }
            isThere = try cursor.next()
        }
    }

    private static func order(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
        a.lexicographicallyPrecedes(b) ? -1 : b.lexicographicallyPrecedes(a) ? 1 : 0
    }

    /// Every index that is ready against the records, in an index of its own.
    private func compareIndexes(_ snapshot: Snapshot, _ report: inout ScrubReport) throws {
        let catalog = try IndexCatalog(snapshot)
        guard !catalog.isEmpty, catalog.ready.count == catalog.progress.count else { return }
        let fork = try IndexKeeper.rebuilt(snapshot)
        try fork.forEachChange(of: ViewTree.index, since: snapshot) { key, change in
            // Rebuilt pages are other pages, with the same rows where all is well.
            switch change {
            case .added, .removed: report.add(ViewTree.index, key)
            case .replaced: break
            }
            return !report.isFull
        }
        report.entryCount += Int(clamping: snapshot.entryCount(ViewTree.index))
    }
}

extension ScrubReport {
    fileprivate var isFull: Bool { differences.count >= Self.maximumDifferences }

    fileprivate mutating func add(_ tree: TreeID, _ key: UnsafeRawBufferPointer) {
        if !isFull { differences.append(Difference(tree: tree, key: [UInt8](key))) }
    }
}
