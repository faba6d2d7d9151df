import Foundation

/// Distances on a globe, of places in degrees.
public enum GreatCircle {
    public static let earthRadiusMetres = 6_371_008.8

    /// Metres along the great circle; no number for what is no place, or may be none for what is no place of the earth.
    public static func distanceMetres(
        fromLatitude: Double, longitude fromLongitude: Double, toLatitude: Double, longitude toLongitude: Double
    ) -> Double {
        let radians = Double.pi / 180
        let (north, east) = ((toLatitude - fromLatitude) * radians, (toLongitude - fromLongitude) * radians)
        let chord =
            sin(north / 2) * sin(north / 2) + cos(fromLatitude * radians) * cos(toLatitude * radians) * sin(east / 2)
            * sin(east / 2)
        // Rounding may push the chord of antipodes past 1; what is no number stays none.
        return 2 * earthRadiusMetres * asin(chord > 1 ? 1 : chord.squareRoot())
    }
}
