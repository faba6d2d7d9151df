import Foundation

/// Degrees; north and east are positive.
public typealias CLLocationDegrees = Double
/// Metres.
public typealias CLLocationDistance = Double
