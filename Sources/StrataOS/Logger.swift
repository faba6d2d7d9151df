/// Writes messages of a subsystem and category.
///
/// ```swift
/// let logger = Logger(subsystem: "com.example.notes", category: "sync")
/// logger.info("Fetched \(count) notes of \(user, privacy: .private(mask: .hash))")
/// ```
///
/// A message is evaluated only if its level is enabled (``LogOutput/minimumLevel``).
public struct Logger: Sendable {
    let log: OSLog

    /// Creates a logger without a subsystem.
    public init() { log = .default }

    /// Creates a logger of a subsystem and a category.
    public init(subsystem: String, category: String) { log = OSLog(subsystem: subsystem, category: category) }

    /// Creates a logger that writes to a log.
    public init(_ logObj: OSLog) { log = logObj }

    /// Writes a message of the level `default`.
    public func log(_ message: @autoclosure () -> OSLogMessage) { log(level: .default, message()) }

    /// Writes a message of any level.
    public func log(level: OSLogType, _ message: @autoclosure () -> OSLogMessage) {
        guard log.isEnabled(type: level) else { return }
        log.deliver(message(), level: level)
    }

    /// Writes a message of the level `debug`.
    public func trace(_ message: @autoclosure () -> OSLogMessage) { log(level: .debug, message()) }

    /// Writes a message of the level `debug`.
    public func debug(_ message: @autoclosure () -> OSLogMessage) { log(level: .debug, message()) }

    /// Writes a message of the level `info`.
    public func info(_ message: @autoclosure () -> OSLogMessage) { log(level: .info, message()) }

    /// Writes a message of the level `default`.
    public func notice(_ message: @autoclosure () -> OSLogMessage) { log(level: .default, message()) }

    /// Writes a message of the level `error`.
    public func warning(_ message: @autoclosure () -> OSLogMessage) { log(level: .error, message()) }

    /// Writes a message of the level `error`.
    public func error(_ message: @autoclosure () -> OSLogMessage) { log(level: .error, message()) }

    /// Writes a message of the level `fault`.
    public func critical(_ message: @autoclosure () -> OSLogMessage) { log(level: .fault, message()) }

    /// Writes a message of the level `fault`.
    public func fault(_ message: @autoclosure () -> OSLogMessage) { log(level: .fault, message()) }
}
