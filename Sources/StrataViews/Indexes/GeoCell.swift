/// A square of a grid of the earth, in the order of a curve on which neighbors are mostly near each other.
///
/// Latitude and longitude are numbers of 32 bits, whose bits alternate, the latitude's first. A cell of level n
/// consists of their first 2 n bits, so it covers a range of numbers and divides into four cells of the next level.
package struct GeoCell: Sendable, Hashable {
    package static let maximumLevel = 32

    package let level: Int
    /// The first bits; the remaining bits are 0.
    package let lowest: UInt64

    /// The whole earth.
    package static let earth = GeoCell(level: 0, lowest: 0)

    package init(level: Int, lowest: UInt64) {
        precondition((0...Self.maximumLevel).contains(level), "a cell's level")
        self.level = level
        self.lowest = lowest
    }

    /// Returns the number of a place; nil if the coordinates are not on the earth.
    package static func number(latitude: Double, longitude: Double) -> UInt64? {
        guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
        return spread(fraction((latitude + 90) / 180)) << 1 | spread(fraction((longitude + 180) / 360))
    }

    private static func fraction(_ part: Double) -> UInt32 { UInt32(min(part * 0x1p32, 0x1p32 - 1)) }

    /// The last number in the cell.
    package var highest: UInt64 { lowest | UInt64.max >> UInt64(2 * level) }

    package var parts: [GeoCell] {
        guard level < Self.maximumLevel else { return [] }
        let shift = UInt64(62 - 2 * level)
        return (0..<4).map { GeoCell(level: level + 1, lowest: lowest | UInt64($0) << shift) }
    }

    /// The degrees of its edges.
    package var latitudes: ClosedRange<Double> { Self.degrees(Self.gather(lowest >> 1), level, 180) }
    package var longitudes: ClosedRange<Double> { Self.degrees(Self.gather(lowest), level, 360) }

    private static func degrees(_ start: UInt32, _ level: Int, _ whole: Double) -> ClosedRange<Double> {
        let lower = Double(start) / 0x1p32 * whole - whole / 2
        return lower...min(whole / 2, lower + whole / Double(UInt64(1) << UInt64(level)))
    }

    /// Inserts a zero before each bit.
    private static func spread(_ number: UInt32) -> UInt64 {
        var bits = UInt64(number)
        bits = (bits | bits << 16) & 0x0000_FFFF_0000_FFFF
        bits = (bits | bits << 8) & 0x00FF_00FF_00FF_00FF
        bits = (bits | bits << 4) & 0x0F0F_0F0F_0F0F_0F0F
        bits = (bits | bits << 2) & 0x3333_3333_3333_3333
        return (bits | bits << 1) & 0x5555_5555_5555_5555
    }

    /// Extracts every second bit, beginning with the lowest.
    private static func gather(_ number: UInt64) -> UInt32 {
        var bits = number & 0x5555_5555_5555_5555
        bits = (bits | bits >> 1) & 0x3333_3333_3333_3333
        bits = (bits | bits >> 2) & 0x0F0F_0F0F_0F0F_0F0F
        bits = (bits | bits >> 4) & 0x00FF_00FF_00FF_00FF
        bits = (bits | bits >> 8) & 0x0000_FFFF_0000_FFFF
        return UInt32(truncatingIfNeeded: bits | bits >> 16)
    }
}
