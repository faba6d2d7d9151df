import StrataModel
import StrataTree

/// Scans a state once and returns the payloads of its base, which replaces all commits up to that state when they are
/// compacted (docs/compaction.md).
///
/// Holds one payload at a time, of about 64 KiB, or with one large record. The same state gives the same bytes.
///
/// ```swift
/// var scan = try BaseScan(snapshot, chain: log.chain(at: snapshot.foldedOffset(ViewTree.records)))
/// while let payload = try scan.next() { try file.append(payload) }
/// ```
package struct BaseScan {
    struct Limits {
        /// The bytes of events at which a payload ends.
        var payloadBytes = 64 << 10
        /// The maximum bytes of values in a record's event. The largest value fits, and every event fits in a commit.
        var valueBytes = 32 << 20
    }

    /// The last commit that the base replaces.
    package let horizon: Position
    private let snapshot: Snapshot
    private let limits: Limits
    private var commit = CommitBuilder(notesTouches: false)
    /// The trees that are not complete yet.
    private var rest = ViewTree.stated[...]
    /// The key at which the first of these trees continues.
    private var key: [UInt8] = []
    /// The field with which the next event of a large record begins; 0 if no record is incomplete.
    private var nextField = 0
    private var count: UInt64 = 0
    private var hash: UInt128 = 0
    private var isOver = false

    /// - Parameters:
    ///   - snapshot: the state after the last commit that the base replaces.
    ///   - chain: the log's chain value at that commit.
    /// - Throws: ``StrataError`` for the state before the first commit.
    package init(_ snapshot: Snapshot, chain: UInt32) throws { try self.init(snapshot, chain: chain, limits: Limits()) }

    init(_ snapshot: Snapshot, chain: UInt32, limits: Limits) throws {
        let offset = snapshot.foldedOffset(ViewTree.records)
        guard offset > 0, ViewTree.folded.allSatisfy({ snapshot.foldedOffset($0) == offset }) else {
            throw StrataError(
                .invalidArgument, "A base must be made from the state after a commit.",
                .init(found: "offset \(offset)"))
        }
        self.snapshot = snapshot
        self.limits = limits
        horizon = Position(offset: offset, chain: chain)
    }

    /// Returns the next payload; nil after the last, which holds the marker.
    ///
    /// - Throws: ``StrataError`` if a frame or a row is damaged, or holds data that only a later release knows.
    package mutating func next() throws -> [UInt8]? {
        if isOver { return nil }
        commit.removeAll()
        while let tree = rest.first, commit.byteCount < limits.payloadBytes {
            // Records begin a new payload.
            if tree == ViewTree.records, commit.count > 0, key.isEmpty { break }
            guard try scan(tree) else { break }
            rest.removeFirst()
            key.removeAll()
        }
        if commit.count == 0 { try appendMarker() }
        let payload = commit.payload(EnvelopeHeader())
        hash = payload.withUnsafeBytes { DigestHash.hash(hash, $0) }
        count += 1
        return payload
    }

    private mutating func appendMarker() throws {
        let digests = try snapshot.digests()
        try commit.append(
            BaseMarkerEvent(
                horizon: horizon, stateDigest: digests.state, contentDigest: digests.content, payloadCount: count,
                payloadHash: hash))
        isOver = true
    }

    /// Returns false if the payload is full.
    private mutating func scan(_ tree: TreeID) throws -> Bool {
        var isDone = true
        let start = key
        try start.withUnsafeBytes { lower in
            try snapshot.scan(tree, from: lower.isEmpty ? nil : lower) { key, row in
                let entry = ViewEntry(key: key, row: row)
                if tree == ViewTree.records {
                    isDone = try append(record: entry)
                } else {
                    try ViewTree.maintainer(of: tree)?.state(entry, in: &commit)
                    isDone = commit.byteCount < limits.payloadBytes
                }
                // Continue after the entry, or at it if its record is incomplete.
                if !isDone { self.key = [UInt8](key) + (nextField == 0 ? [0] : []) }
                return isDone
            }
        }
        return isDone
    }

    /// Returns false if the payload is full.
    private mutating func append(record entry: ViewEntry) throws -> Bool {
        nextField = try RecordsMaintainer.state(entry, from: nextField, atMost: limits.valueBytes, in: &commit)
        return nextField == 0 && commit.byteCount < limits.payloadBytes
    }
}
