// Apple's CloudKit brings both along: programs import nothing else.
@_exported import CoreLocation
@_exported import Foundation
