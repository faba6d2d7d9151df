import Foundation

/// A subsystem and a category, the origin of messages and signposts.
public final class OSLog: NSObject, Sendable {
    /// A category with a meaning to Apple's tools; here a name like any other.
    public struct Category: RawRepresentable, Sendable, Hashable {
        /// The category of signposts that are points of interest.
        public static let pointsOfInterest = Category(rawValue: "PointsOfInterest")
        /// The category of signposts of the dynamic tracing.
        public static let dynamicTracing = Category(rawValue: "DynamicTracing")
        /// The category of signposts with a stack trace.
        public static let dynamicStackTracing = Category(rawValue: "DynamicStackTracing")

        public let rawValue: String

        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The log without a subsystem.
    public static let `default` = OSLog(subsystem: "", category: "", isDisabled: false)
    /// The log that drops everything.
    public static let disabled = OSLog(subsystem: "", category: "", isDisabled: true)

    let subsystem: String
    let category: String
    let isDisabled: Bool

    /// Creates a log.
    ///
    /// - Parameters:
    ///   - subsystem: The identifier of the program or library, in reverse DNS notation.
    ///   - category: The part of the subsystem.
    public convenience init(subsystem: String, category: String) {
        self.init(subsystem: subsystem, category: category, isDisabled: false)
    }

    /// Creates a log of a well-known category.
    public convenience init(subsystem: String, category: Category) {
        self.init(subsystem: subsystem, category: category.rawValue)
    }

    private init(subsystem: String, category: String, isDisabled: Bool) {
        self.subsystem = subsystem
        self.category = category
        self.isDisabled = isDisabled
    }

    /// Returns true if messages of a level are delivered.
    public func isEnabled(type: OSLogType) -> Bool { !isDisabled && LogOutput.isEnabled(type) }

    /// True if signposts are delivered.
    public var signpostsEnabled: Bool { !isDisabled && LogOutput.signpostsEnabled }

    func deliver(_ message: OSLogMessage, level: OSLogType) {
        LogOutput.deliver(
            LogEntry(
                date: Date(), level: level, subsystem: subsystem, category: category,
                composedMessage: message.composed(showsPrivateData: LogOutput.showsPrivateData)))
    }

    func emit(
        _ type: OSSignpostType, _ name: StaticString, _ id: OSSignpostID, message: () -> SignpostMetadata
    ) {
        guard signpostsEnabled, id != .null, id != .invalid else { return }
        LogOutput.deliver(
            SignpostEntry(
                date: Date(), type: type, name: name.description, id: id, subsystem: subsystem, category: category,
                composedMessage: message().composed(showsPrivateData: LogOutput.showsPrivateData)))
    }
}
