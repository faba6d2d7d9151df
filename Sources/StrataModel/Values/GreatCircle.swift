import Foundation

/// Computes distances on the globe between places in degrees.
package enum GreatCircle {
    package static let earthRadiusMetres = 6_371_008.8

    /// Returns the distance in meters along the great circle; NaN for a coordinate that is not finite, and possibly for
    /// one that is out of range.
    package static func distanceMetres(
        fromLatitude: Double, longitude fromLongitude: Double, toLatitude: Double, longitude toLongitude: Double
    ) -> Double {
        let radians = Double.pi / 180
        let (north, east) = ((toLatitude - fromLatitude) * radians, (toLongitude - fromLongitude) * radians)
        let chord =
            sin(north / 2) * sin(north / 2) + cos(fromLatitude * radians) * cos(toLatitude * radians) * sin(east / 2)
            * sin(east / 2)
        // Rounding may push the chord of antipodes past 1; NaN stays NaN.
        return 2 * earthRadiusMetres * asin(chord > 1 ? 1 : chord.squareRoot())
    }
}
