import CoreLocation

/// The surface of CoreLocation, which a client may import alone.
struct LocationSurface: Section {
    func check() throws {
        let degrees: CLLocationDegrees = 1
        let distance: CLLocationDistance = 2
        let accuracy: CLLocationAccuracy = 3
        let direction: CLLocationDirection = 4
        let speed: CLLocationSpeed = 5
        var coordinate = CLLocationCoordinate2D()
        coordinate.latitude = degrees
        coordinate.longitude = degrees
        try expect(CLLocationCoordinate2DMake(degrees, degrees).latitude == coordinate.latitude)
        try expect(CLLocationCoordinate2D(latitude: degrees, longitude: degrees).longitude == coordinate.longitude)
        try expect(CLLocationCoordinate2DIsValid(coordinate))
        try expect(!CLLocationCoordinate2DIsValid(kCLLocationCoordinate2DInvalid))
        let place = CLLocation(
            coordinate: coordinate, altitude: distance, horizontalAccuracy: accuracy, verticalAccuracy: accuracy,
            timestamp: Date())
        let moving = CLLocation(
            coordinate: coordinate, altitude: distance, horizontalAccuracy: accuracy, verticalAccuracy: accuracy,
            course: direction, speed: speed, timestamp: place.timestamp)
        try expect(CLLocation(latitude: degrees, longitude: degrees).distance(from: place) == 0)
        gives(moving, \.coordinate, CLLocationCoordinate2D.self)
        gives(moving, \.altitude, CLLocationDistance.self)
        gives(moving, \.horizontalAccuracy, CLLocationAccuracy.self)
        gives(moving, \.verticalAccuracy, CLLocationAccuracy.self)
        gives(moving, \.course, CLLocationDirection.self)
        gives(moving, \.speed, CLLocationSpeed.self)
        gives(moving, \.timestamp, Date.self)
        gives(moving, \.description, String.self)
        gives(moving, \.hash, Int.self)
        let _: (NSCoder) -> Void = moving.encode(with:)
        let _: (NSCoder) -> CLLocation? = CLLocation.init(coder:)
        try expect(moving.isEqual(moving.copy(with: nil)) && CLLocation.supportsSecureCoding)
    }
}
