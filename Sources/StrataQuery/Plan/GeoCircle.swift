import Foundation
import StrataModel
import StrataViews

/// All locations within a radius of a point.
struct GeoCircle: Hashable, Sendable {
    let latitude: Double
    let longitude: Double
    var radiusMetres: Double

    func distanceMetres(toLatitude: Double, longitude other: Double) -> Double {
        GreatCircle.distanceMetres(
            fromLatitude: toLatitude, longitude: other, toLatitude: latitude, longitude: longitude)
    }

    private static let radians = Double.pi / 180
    private static let farthestMetres = Double.pi * GreatCircle.earthRadiusMetres

    /// The point in the coordinates of the cell grid; nil for a point that is not on the earth, from which cells imply
    /// nothing about distances.
    private var centre: (latitude: Double, longitude: Double)? {
        // Greater longitudes lose more precision than the cells' margins allow for.
        guard (-90...90).contains(latitude), abs(longitude) <= 720 else { return nil }
        return (latitude, longitude.remainder(dividingBy: 360))
    }

    /// A lower bound of the distance to any location in the cell.
    func leastMetres(_ cell: GeoCell) -> Double {
        // The last cell also contains locations that are not on the earth.
        guard cell.highest != .max, let centre else { return 0 }
        return Self.leastMetres(from: centre, cell)
    }

    private static func leastMetres(from centre: (latitude: Double, longitude: Double), _ cell: GeoCell) -> Double {
        max(0, nearest(to: centre, cell) * (1 - 1e-9) - 0.001)
    }

    /// An upper bound of the distance to any location in the cell.
    func greatestMetres(_ cell: GeoCell) -> Double {
        guard cell.highest != .max, let centre else { return .infinity }
        let antipode = (-centre.latitude, centre.longitude > 0 ? centre.longitude - 180 : centre.longitude + 180)
        return Self.farthestMetres - Self.leastMetres(from: antipode, cell) + 0.001
    }

    private static func nearest(to centre: (latitude: Double, longitude: Double), _ cell: GeoCell) -> Double {
        let (north, east) = (cell.latitudes, cell.longitudes)
        if east.contains(centre.longitude) {
            let inside = min(max(centre.latitude, north.lowerBound), north.upperBound)
            return abs(centre.latitude - inside) * radians * GreatCircle.earthRadiusMetres
        }
        return min(
            nearest(to: centre, onMeridian: east.lowerBound, north),
            nearest(to: centre, onMeridian: east.upperBound, north))
    }

    /// On a part of a meridian, the nearest location is one of its ends or a stationary point of the distance.
    private static func nearest(
        to centre: (latitude: Double, longitude: Double), onMeridian other: Double, _ latitudes: ClosedRange<Double>
    ) -> Double {
        let turn = cos((other - centre.longitude) * radians)
        let level = atan2(tan(centre.latitude * radians), turn) / radians
        let candidates = [
            latitudes.lowerBound, latitudes.upperBound, min(max(level, latitudes.lowerBound), latitudes.upperBound),
        ]
        return candidates.map {
            GreatCircle.distanceMetres(
                fromLatitude: $0, longitude: other, toLatitude: centre.latitude, longitude: centre.longitude)
        }.min() ?? 0
    }

    /// Ranges of cells that cover the circle, and some other locations.
    func ranges(atMost count: Int) -> [ClosedRange<UInt64>] {
        var cells = [GeoCell.earth]
        while true {
            let parts = cells.flatMap { cell -> [GeoCell] in
                let isWhole = cell.level == GeoCell.maximumLevel || greatestMetres(cell) <= radiusMetres
                return isWhole ? [cell] : cell.parts.filter { leastMetres($0) <= radiusMetres }
            }
            if parts.count > count || parts == cells { break }
            cells = parts
        }
        return cells.map { $0.lowest...$0.highest }
    }
}

extension PredicateComparison {
    /// The key and the circle in which its location must be; nil for any other comparison.
    var circle: (key: String, circle: GeoCircle)? {
        guard let (operands, relation, limit) = distance, operands.count == 2, quantifier == nil,
            relation == .less || relation == .lessOrEqual, let radius = limit.constant?.number, !radius.isNaN
        else { return nil }
        switch (operands[0], operands[1]) {
        case (.keyPath(let key), .value(.location(let latitude, let longitude))),
            (.value(.location(let latitude, let longitude)), .keyPath(let key)):
            return (key, GeoCircle(latitude: latitude, longitude: longitude, radiusMetres: radius))
        default: return nil
        }
    }
}
