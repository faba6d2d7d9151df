import Foundation

/// A message as a handler gets it.
public struct LogEntry: Sendable, CustomStringConvertible {
    /// The time of the message.
    public let date: Date
    /// The level of the message.
    public let level: OSLogType
    /// The subsystem of the logger; empty if there is none.
    public let subsystem: String
    /// The category of the logger; empty if there is none.
    public let category: String
    /// The text, with placeholders for values that are not shown.
    public let composedMessage: String

    /// The entry as one line: the time, the level, the origin and the text.
    public var description: String {
        let time = date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        let origin = subsystem.isEmpty && category.isEmpty ? "" : " [\(subsystem):\(category)]"
        return "\(time) \(level)\(origin) \(composedMessage)"
    }
}
