import StrataModel
import StrataTree
import StrataViews

/// The rows of an index in several zones, merged into one order: of values, then names, then zones.
///
/// ```swift
/// let rows = try MergedRows(source, id, in: zones, from: place, to: upper)
/// while let goesOn = try rows.withRow({ row in … }), goesOn { try rows.step() }
/// ```
final class MergedRows {
    /// The rows of one zone, with the current one.
    private struct Part {
        let zone: UInt64
        let cursor: Cursor
        /// The number of bytes before the kind in each key.
        let prefixByteCount: Int
        /// The key at which the part ends.
        let bound: [UInt8]
        /// Kind, value and name of the current row.
        var tail: [UInt8] = []
    }

    private let source: KeySource
    /// The number of bytes in the index's prefix.
    private let start: Int
    private let isReversed: Bool
    /// The parts that have a row; the next one in order is first.
    private var parts: Heap<Part>

    /// Begins with the first row after a place, and ends before `upper`.
    convenience init(
        _ source: KeySource, _ id: IndexID, in zones: [UInt64], from place: RowPlace, to upper: [UInt8]
    ) throws {
        self.init(source, id, isReversed: false)
        for zone in zones { try add(zone, id, from: place.bytes(in: zone), to: upper) }
    }

    /// Begins with the last row before `upper`, and goes back to `lower`.
    convenience init(
        _ source: KeySource, _ id: IndexID, in zones: [UInt64], before upper: [UInt8], downTo lower: [UInt8]
    ) throws {
        self.init(source, id, isReversed: true)
        for zone in zones { try add(zone, id, from: upper, to: lower) }
    }

    private init(_ source: KeySource, _ id: IndexID, isReversed: Bool) {
        self.source = source
        self.isReversed = isReversed
        start = IndexKey.start(source.scene.database, id).bytes.count
        parts = Heap { left, right in
            let (first, second) = isReversed ? (right, left) : (left, right)
            return first.tail == second.tail
                ? first.zone < second.zone : first.tail.lexicographicallyPrecedes(second.tail)
        }
    }

    /// Adds the rows of a zone between two places, each a kind and a value or more.
    private func add(_ zone: UInt64, _ id: IndexID, from first: [UInt8], to end: [UInt8]) throws {
        let prefix = IndexKey.start(source.scene.database, id, zone: zone).bytes
        let cursor = source.scene.trees.cursor(ViewTree.index)
        try source.countStep()
        let isThere = try (prefix + first).withUnsafeBytes {
            isReversed ? try cursor.seekBefore($0) : try cursor.seek($0)
        }
        let part = Part(zone: zone, cursor: cursor, prefixByteCount: prefix.count, bound: prefix + end)
        if isThere, let part = try read(part) { parts.push(part) }
    }

    /// The zone of all rows that are left; nil if there are none, or several zones have some.
    var onlyZone: UInt64? { parts.elements.count == 1 ? parts.first?.zone : nil }

    /// Calls `body` with the current row; returns nil if there are no more.
    func withRow<Result>(_ body: (IndexRow) throws -> Result) throws -> Result? {
        guard let part = parts.first else { return nil }
        return try part.cursor.withEntry { key, _ in try body(IndexRow(key, after: start)) }
    }

    /// Moves to the next row.
    func step() throws {
        guard let part = parts.first else { return }
        try replaceFirst(part, isThere: isReversed ? part.cursor.previous() : part.cursor.next())
    }

    /// The zones whose current rows have a value, in no particular order.
    func zones(withValue value: [UInt8]) -> [UInt64] {
        parts.elements.filter { $0.tail.starts(with: value) }.map(\.zone)
    }

    /// Moves back, before all rows of a value.
    func stepBack(beforeValue value: [UInt8]) throws {
        while let part = parts.first, part.tail.starts(with: value) {
            let key = try part.cursor.withEntry { key, _ in [UInt8](key.prefix(part.prefixByteCount)) + value }
            try source.countStep()
            try replaceFirst(part, isThere: key?.withUnsafeBytes { try part.cursor.seekBefore($0) } ?? false)
        }
    }

    private func replaceFirst(_ part: Part, isThere: Bool) throws {
        if isThere, let part = try read(part) { parts.replaceFirst(by: part) } else { _ = parts.pop() }
    }

    /// Returns a part with the row of its cursor; nil after its last row.
    private func read(_ part: Part) throws -> Part? {
        var part = part
        let tail: [UInt8]? =
            try part.cursor.withEntry { key, _ in
                let isBeforeBound = part.bound.withUnsafeBytes { key.lexicographicallyPrecedes($0) }
                return isBeforeBound == isReversed ? nil : [UInt8](key.dropFirst(part.prefixByteCount))
            } ?? nil
        guard let tail else { return nil }
        try source.countRow()
        part.tail = tail
        return part
    }
}
