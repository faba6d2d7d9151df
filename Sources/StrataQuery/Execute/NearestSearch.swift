import StrataModel
import StrataTree
import StrataViews

/// Iterates over the rows of a location index, the nearest to a point first.
///
/// A heap holds the candidates: cells by the minimum distance of anything in them, and rows by their own distance. The
/// first cell is divided, or its rows are read if they are few; the first row is the next result.
struct NearestSearch {
    /// The number of rows up to which a cell is read rather than divided.
    static let fewRows = 96

    private enum Content {
        case cell(GeoCell, zone: UInt64)
        case row(record: [UInt8])
    }

    private struct Node {
        var metres: Double
        /// Empty for cells, which therefore come before rows of the same distance.
        var tie: [UInt8]
        var content: Content
    }

    private let scene: QueryContext
    private let circle: GeoCircle
    private let id: IndexID
    /// The distance of the place after which the search continues: nearer cells are skipped.
    private var metresBefore = -Double.infinity
    private var heap = Heap<Node>(isBefore)
    /// Records without a location, which come before all others; nil until they are read.
    private var placeless: [[UInt8]]?

    init(
        _ scene: QueryContext, in zones: [UInt64], _ id: IndexID, _ circle: GeoCircle, after: SortPlace?
    ) throws {
        self.scene = scene
        self.circle = circle
        self.id = id
        if let value = after?.values.first, value.first == IndexKey.Kind.double.rawValue {
            metresBefore = try value.withUnsafeBytes { value in
                var reader = KeyReader(value)
                try reader.skip(1)
                return try reader.readDouble()
            }
        }
        for zone in zones {
            heap.push(Node(metres: 0, tie: [], content: .cell(.earth, zone: zone)))
        }
    }

    /// The next record according to its rows.
    mutating func next(_ source: KeySource) throws -> [UInt8]? {
        if let record = try nextPlaceless(source) { return record }
        while let node = heap.pop() {
            switch node.content {
            case .row(let record): return record
            case .cell(let cell, let zone): try open(cell, in: zone, source)
            }
        }
        return nil
    }

    /// Without a radius, records without a location match too.
    private mutating func nextPlaceless(_ source: KeySource) throws -> [UInt8]? {
        guard circle.radiusMetres == .infinity, metresBefore == -.infinity else { return nil }
        if placeless == nil {
            var records: [[UInt8]] = []
            let range = IndexRange(beginningWith: [IndexKey.Kind.none.rawValue])
            _ = try source.forEachRow(of: id, in: source.zones, from: RowPlace(value: range.lower), to: range.upper) {
                row in
                records.append(row.recordKey)
                return true
            }
            placeless = records.reversed()
        }
        return placeless?.popLast()
    }

    private mutating func open(_ cell: GeoCell, in zone: UInt64, _ source: KeySource) throws {
        let (lower, upper) = (Self.bytes(cell.lowest), IndexRange.successor(Self.bytes(cell.highest)))
        let start = IndexKey.start(scene.database, id, zone: zone).bytes
        let count = try (start + lower).withUnsafeBytes { lower in
            try (start + upper).withUnsafeBytes { try scene.trees.estimatedCount(ViewTree.index, from: lower, to: $0) }
        }
        if count == 0 { return }
        if count > Double(Self.fewRows), cell.level < GeoCell.maximumLevel {
            for part in cell.parts where circle.leastMetres(part) <= circle.radiusMetres {
                if circle.greatestMetres(part) < metresBefore { continue }
                heap.push(Node(metres: circle.leastMetres(part), tie: [], content: .cell(part, zone: zone)))
            }
            return
        }
        _ = try source.forEachRow(of: id, in: zone, from: lower, to: upper) { row in
            let (latitude, longitude) = try row.place
            let metres = circle.distanceMetres(toLatitude: latitude, longitude: longitude)
            // A distance that is not a number is within no radius, and sorts last.
            if metres < metresBefore || metres > circle.radiusMetres { return true }
            if metres.isNaN, circle.radiusMetres < .infinity { return true }
            let record = row.recordKey
            let tie = try record.withUnsafeBytes { try SortEncoder.tie($0, .byName) }
            heap.push(Node(metres: metres, tie: tie, content: .row(record: record)))
            return true
        }
    }

    private static func bytes(_ cell: UInt64) -> [UInt8] {
        var key = KeyWriter()
        key.append(kind: .place)
        key.append(cell: cell)
        return key.bytes
    }

    private static func isBefore(_ a: Node, _ b: Node) -> Bool {
        if a.metres.isNaN != b.metres.isNaN { return b.metres.isNaN }
        if a.metres != b.metres, !a.metres.isNaN { return a.metres < b.metres }
        return a.tie.lexicographicallyPrecedes(b.tie)
    }
}
