// Apple's CoreLocation also exports Foundation.
@_exported import Foundation
import StrataModel

/// An angle in degrees; north and east are positive.
public typealias CLLocationDegrees = Double
/// A distance in meters.
public typealias CLLocationDistance = Double
/// An accuracy in meters; negative if invalid.
public typealias CLLocationAccuracy = Double
/// A speed in meters per second; negative if invalid.
public typealias CLLocationSpeed = Double
/// A direction in degrees clockwise from true north; negative if invalid.
public typealias CLLocationDirection = Double

/// A coordinate on the earth in WGS 84.
public struct CLLocationCoordinate2D: Sendable, BitwiseCopyable {
    /// The latitude, north of the equator.
    public var latitude: CLLocationDegrees
    /// The longitude, east of Greenwich.
    public var longitude: CLLocationDegrees

    /// Creates the coordinate where the equator meets the prime meridian.
    public init() { self.init(latitude: 0, longitude: 0) }

    /// Creates a coordinate from degrees.
    public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// An invalid coordinate.
public let kCLLocationCoordinate2DInvalid = CLLocationCoordinate2D(latitude: -180, longitude: -180)

/// Returns a coordinate from degrees.
// swift-format-ignore: AlwaysUseLowerCamelCase
public func CLLocationCoordinate2DMake(
    _ latitude: CLLocationDegrees, _ longitude: CLLocationDegrees
) -> CLLocationCoordinate2D {
    CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
}

/// Returns true if the coordinate is valid.
// swift-format-ignore: AlwaysUseLowerCamelCase
public func CLLocationCoordinate2DIsValid(_ coordinate: CLLocationCoordinate2D) -> Bool {
    abs(coordinate.latitude) <= 90 && abs(coordinate.longitude) <= 180
}

/// A location at a time.
///
/// ```swift
/// let office = CLLocation(latitude: 37.3317, longitude: -122.0301)
/// record["office"] = office
/// let meters = office.distance(from: home)
/// ```
// @unchecked: every property is a constant.
public final class CLLocation: NSObject, NSSecureCoding, NSCopying, CVarArg, @unchecked Sendable {
    /// The coordinate of the location.
    public let coordinate: CLLocationCoordinate2D
    /// The altitude above sea level.
    public let altitude: CLLocationDistance
    /// The possible error of ``coordinate``.
    public let horizontalAccuracy: CLLocationAccuracy
    /// The possible error of ``altitude``.
    public let verticalAccuracy: CLLocationAccuracy
    /// The direction of movement.
    public let course: CLLocationDirection
    /// The speed of movement.
    public let speed: CLLocationSpeed
    /// The time at which the location was determined.
    public let timestamp: Date

    /// Creates a location at the current time.
    public convenience init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
        self.init(
            coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: longitude), altitude: 0,
            horizontalAccuracy: 0, verticalAccuracy: -1, timestamp: Date())
    }

    /// Creates a location at a time.
    public convenience init(
        coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance, horizontalAccuracy: CLLocationAccuracy,
        verticalAccuracy: CLLocationAccuracy, timestamp: Date
    ) {
        self.init(
            coordinate: coordinate, altitude: altitude, horizontalAccuracy: horizontalAccuracy,
            verticalAccuracy: verticalAccuracy, course: -1, speed: -1, timestamp: timestamp)
    }

    /// Creates a location at a time, with a movement.
    public init(
        coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance, horizontalAccuracy: CLLocationAccuracy,
        verticalAccuracy: CLLocationAccuracy, course: CLLocationDirection, speed: CLLocationSpeed, timestamp: Date
    ) {
        self.coordinate = coordinate
        self.altitude = altitude
        self.horizontalAccuracy = horizontalAccuracy
        self.verticalAccuracy = verticalAccuracy
        self.course = course
        self.speed = speed
        self.timestamp = timestamp
        super.init()
    }

    /// Returns the distance in meters along the great circle.
    public func distance(from location: CLLocation) -> CLLocationDistance {
        let (from, to) = (location.coordinate, coordinate)
        return GreatCircle.distanceMetres(
            fromLatitude: from.latitude, longitude: from.longitude, toLatitude: to.latitude, longitude: to.longitude)
    }

    public override var description: String {
        // Foundation cannot describe a date that is not a number.
        let time = timestamp.timeIntervalSinceReferenceDate.isNaN ? "no date" : "\(timestamp)"
        return "<\(coordinate.latitude),\(coordinate.longitude)> +/- \(horizontalAccuracy)m @ \(time)"
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CLLocation else { return false }
        return numbers == other.numbers
    }

    public override var hash: Int { numbers.hashValue }

    private var numbers: [Double] {
        [
            coordinate.latitude, coordinate.longitude, altitude, horizontalAccuracy, verticalAccuracy, course, speed,
            timestamp.timeIntervalSinceReferenceDate,
        ]
    }

    // MARK: NSSecureCoding, NSCopying

    public static var supportsSecureCoding: Bool { true }

    public func copy(with zone: NSZone? = nil) -> Any { self }

    public func encode(with coder: NSCoder) {
        for (key, number) in zip(Self.codingKeys, numbers) { coder.encode(number, forKey: key) }
    }

    public init?(coder: NSCoder) {
        var numbers: [Double] = []
        for key in Self.codingKeys {
            guard coder.containsValue(forKey: key) else { return nil }
            numbers.append(coder.decodeDouble(forKey: key))
        }
        guard coder.error == nil else { return nil }
        coordinate = CLLocationCoordinate2D(latitude: numbers[0], longitude: numbers[1])
        altitude = numbers[2]
        horizontalAccuracy = numbers[3]
        verticalAccuracy = numbers[4]
        course = numbers[5]
        speed = numbers[6]
        timestamp = Date(timeIntervalSinceReferenceDate: numbers[7])
        super.init()
    }

    /// Creates a location from its archived fields; returns nil if one is missing.
    package convenience init?(archivedFields fields: [String: Any]) {
        let numbers = Self.codingKeys.compactMap { fields[$0] as? Double }
        guard numbers.count == Self.codingKeys.count else { return nil }
        self.init(
            coordinate: CLLocationCoordinate2D(latitude: numbers[0], longitude: numbers[1]), altitude: numbers[2],
            horizontalAccuracy: numbers[3], verticalAccuracy: numbers[4], course: numbers[5], speed: numbers[6],
            timestamp: Date(timeIntervalSinceReferenceDate: numbers[7]))
    }

    private static let codingKeys = [
        "kCLLocationCodingKeyCoordinateLatitude", "kCLLocationCodingKeyCoordinateLongitude",
        "kCLLocationCodingKeyAltitude", "kCLLocationCodingKeyHorizontalAccuracy",
        "kCLLocationCodingKeyVerticalAccuracy", "kCLLocationCodingKeyCourse", "kCLLocationCodingKeySpeed",
        "kCLLocationCodingKeyTimestamp",
    ]
}
