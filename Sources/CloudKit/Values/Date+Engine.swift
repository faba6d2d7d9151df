import Foundation
import StrataModel

extension Date {
    /// - Parameter microseconds: A time of the engine, since 1970.
    init(microseconds: Int64) { self.init(timeIntervalSinceReferenceDate: EngineDate.seconds(microseconds)) }

    /// The whole microseconds since 1970; nil if the engine cannot represent the date.
    var microseconds: Int64? { Int64(exactly: (timeIntervalSince1970 * 1_000_000).rounded()) }
}
