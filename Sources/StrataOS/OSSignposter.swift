/// The text of a signpost, with values that may be private.
public typealias SignpostMetadata = OSLogMessage

/// Marks intervals and events for measurements. They go to ``LogOutput/signpostHandler``; without one, nothing is
/// evaluated.
public struct OSSignposter: Sendable {
    /// The signposter that drops everything.
    public static let disabled = OSSignposter(logHandle: .disabled)

    private let log: OSLog

    /// Creates a signposter without a subsystem.
    public init() { log = .default }

    /// Creates a signposter of a subsystem and a category.
    public init(subsystem: String, category: String) { log = OSLog(subsystem: subsystem, category: category) }

    /// Creates a signposter of a subsystem and a well-known category.
    public init(subsystem: String, category: OSLog.Category) { log = OSLog(subsystem: subsystem, category: category) }

    /// Creates a signposter of the subsystem and category of a logger.
    public init(logger: Logger) { log = logger.log }

    /// Creates a signposter of the subsystem and category of a log.
    public init(logHandle: OSLog) { log = logHandle }

    /// True if signposts are delivered.
    public var isEnabled: Bool { log.signpostsEnabled }

    /// Returns an identity that no other interval has.
    public func makeSignpostID() -> OSSignpostID { OSSignpostID(log: log) }

    /// Returns the identity of an object, for as long as it lives.
    public func makeSignpostID(from object: AnyObject) -> OSSignpostID { OSSignpostID(log: log, object: object) }

    /// Begins an interval. Returns what its end needs.
    public func beginInterval(
        _ name: StaticString, id: OSSignpostID = .exclusive, _ message: @autoclosure () -> SignpostMetadata = ""
    ) -> OSSignpostIntervalState {
        log.emit(.begin, name, id, message: message)
        return OSSignpostIntervalState(id: id)
    }

    /// Ends an interval.
    public func endInterval(
        _ name: StaticString, _ state: OSSignpostIntervalState, _ message: @autoclosure () -> SignpostMetadata = ""
    ) {
        log.emit(.end, name, state.signpostID, message: message)
    }

    /// Marks a point in time.
    public func emitEvent(
        _ name: StaticString, id: OSSignpostID = .exclusive, _ message: @autoclosure () -> SignpostMetadata = ""
    ) {
        log.emit(.event, name, id, message: message)
    }

    /// Runs a task in an interval.
    public func withIntervalSignpost<T>(
        _ name: StaticString, id: OSSignpostID = .exclusive, _ message: @autoclosure () -> SignpostMetadata = "",
        around task: () throws -> T
    ) rethrows -> T {
        let state = beginInterval(name, id: id, message())
        defer { endInterval(name, state) }
        return try task()
    }
}
