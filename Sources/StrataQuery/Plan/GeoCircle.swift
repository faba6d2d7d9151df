import Foundation
import StrataModel
import StrataViews

/// The places that are no farther from a point than a radius.
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

    /// The point as the grid of cells has it; nil for what is no place of the earth, from which distances are numbers
    /// that no cell tells anything about.
    private var centre: (latitude: Double, longitude: Double)? {
        // Beyond, turns of the earth cost more digits than the cells' margins allow for.
        guard (-90...90).contains(latitude), abs(longitude) <= 720 else { return nil }
        return (latitude, longitude.remainder(dividingBy: 360))
    }

    /// No place of the cell is nearer.
    func leastMetres(_ cell: GeoCell) -> Double {
        // The last cell has also what is no place of the earth.
        guard cell.highest != .max, let centre else { return 0 }
        return Self.leastMetres(from: centre, cell)
    }

    private static func leastMetres(from centre: (latitude: Double, longitude: Double), _ cell: GeoCell) -> Double {
        max(0, nearest(to: centre, cell) * (1 - 1e-9) - 0.001)
    }

    /// No place of the cell is farther.
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

    /// Along a part of a meridian the nearest place is an end of it, or where the distance neither falls nor rises.
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

    /// Ranges of cells that hold all its places, and some others.
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
    /// The key and the circle that its place is to be in; nil for any other comparison.
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
