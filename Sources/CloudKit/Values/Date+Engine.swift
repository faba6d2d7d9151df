import Foundation
import StrataModel

extension Date {
    /// - Parameter microseconds: a time of the engine, since 1970.
    init(microseconds: Int64) { self.init(timeIntervalSinceReferenceDate: EngineDate.seconds(microseconds)) }

    /// Since 1970, whole; nil for a date that the engine has no number for.
    var microseconds: Int64? { Int64(exactly: (timeIntervalSince1970 * 1_000_000).rounded()) }
}
