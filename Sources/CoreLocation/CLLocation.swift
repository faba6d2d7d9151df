// Apple's CoreLocation also exports Foundation.
@_exported import Foundation
import StrataModel

/// Degrees; north and east are positive.
public typealias CLLocationDegrees = Double
/// Metres.
public typealias CLLocationDistance = Double
/// Metres; negative for an invalid value.
public typealias CLLocationAccuracy = Double
/// Metres per second; negative for an invalid value.
public typealias CLLocationSpeed = Double
/// Degrees from true north, clockwise; negative for an invalid value.
public typealias CLLocationDirection = Double

/// A place on the earth, WGS 84.
public struct CLLocationCoordinate2D: Sendable, BitwiseCopyable {
    /// North of the equator.
    public var latitude: CLLocationDegrees
    /// East of Greenwich.
    public var longitude: CLLocationDegrees

    /// Where the equator meets the meridian of Greenwich.
    public init() { self.init(latitude: 0, longitude: 0) }

    /// A place by its degrees.
    public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// A place that is none.
public let kCLLocationCoordinate2DInvalid = CLLocationCoordinate2D(latitude: -180, longitude: -180)

/// A place by its degrees.
// swift-format-ignore: AlwaysUseLowerCamelCase
public func CLLocationCoordinate2DMake(
    _ latitude: CLLocationDegrees, _ longitude: CLLocationDegrees
) -> CLLocationCoordinate2D {
    CLLocationCoordinate2D(latitude: latitude, longitude: longitude)
}

/// Whether there is such a place.
// swift-format-ignore: AlwaysUseLowerCamelCase
public func CLLocationCoordinate2DIsValid(_ coordinate: CLLocationCoordinate2D) -> Bool {
    abs(coordinate.latitude) <= 90 && abs(coordinate.longitude) <= 180
}

/// Where something was, and when.
///
/// ```swift
/// let office = CLLocation(latitude: 37.3317, longitude: -122.0301)
/// record["office"] = office
/// let metres = office.distance(from: home)
/// ```
// @unchecked: every property is a constant.
public final class CLLocation: NSObject, NSSecureCoding, NSCopying, CVarArg, @unchecked Sendable {
    /// Where.
    public let coordinate: CLLocationCoordinate2D
    /// How high above the sea.
    public let altitude: CLLocationDistance
    /// How far off ``coordinate`` may be.
    public let horizontalAccuracy: CLLocationAccuracy
    /// How far off ``altitude`` may be.
    public let verticalAccuracy: CLLocationAccuracy
    /// Where to.
    public let course: CLLocationDirection
    /// How fast.
    public let speed: CLLocationSpeed
    /// When.
    public let timestamp: Date

    /// A place, now.
    public convenience init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
        self.init(
            coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: longitude), altitude: 0,
            horizontalAccuracy: 0, verticalAccuracy: -1, timestamp: Date())
    }

    /// A place at a time.
    public convenience init(
        coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance, horizontalAccuracy: CLLocationAccuracy,
        verticalAccuracy: CLLocationAccuracy, timestamp: Date
    ) {
        self.init(
            coordinate: coordinate, altitude: altitude, horizontalAccuracy: horizontalAccuracy,
            verticalAccuracy: verticalAccuracy, course: -1, speed: -1, timestamp: timestamp)
    }

    /// A place at a time, and where something moved to.
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

    /// Metres along the great circle.
    public func distance(from location: CLLocation) -> CLLocationDistance {
        let (from, to) = (location.coordinate, coordinate)
        return GreatCircle.distanceMetres(
            fromLatitude: from.latitude, longitude: from.longitude, toLatitude: to.latitude, longitude: to.longitude)
    }

    public override var description: String {
        // Foundation cannot describe what is no date.
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
