/// The zones that a query searches: those with records.
struct SearchedZones: Sendable {
    typealias Zone = (zone: UInt64, recordCount: UInt64)

    /// In the order of their ordinals.
    let all: [Zone]
    /// The number of records in all of them.
    let recordCount: Double
    /// The zones with the most records, which an estimate looks at; it assumes that the others are like them.
    private let largest: [Zone]

    private static let estimatedZones = 16
    /// The number of ranges of rows that one estimate counts, if there is more than one zone.
    private static let estimatedRanges = 64

    init(_ zones: [Zone] = []) {
        let all = zones.contains { $0.recordCount == 0 } ? zones.filter { $0.recordCount > 0 } : zones
        self.all = all
        recordCount = Double(all.reduce(0) { $0 + $1.recordCount })
        let isFew = all.count <= Self.estimatedZones
        largest = isFew ? all : Array(all.sorted { $0.recordCount > $1.recordCount }.prefix(Self.estimatedZones))
    }

    var ordinals: [UInt64] { all.map(\.zone) }

    /// Returns an estimate for all zones from the count of each of the largest.
    ///
    /// - Parameter rangeCount: the number of ranges that `count` has to look at.
    func estimate(rangeCount: Int, _ count: (UInt64) throws -> Double) rethrows -> Double {
        let counted = largest.prefix(max(1, Self.estimatedRanges / max(1, rangeCount)))
        let records = counted.reduce(0) { $0 + Double($1.recordCount) }
        let rows = try counted.reduce(0) { try $0 + count($1.zone) }
        return records > 0 ? rows * recordCount / records : rows
    }
}
