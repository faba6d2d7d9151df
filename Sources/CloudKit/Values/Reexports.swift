// Apple's CloudKit re-exports both: programs import nothing else.
@_exported import CoreLocation
@_exported import Foundation
