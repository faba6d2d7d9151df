/// The level of a message.
public struct OSLogType: RawRepresentable, Sendable, Hashable, Codable {
    /// The level of `log` and `notice`.
    public static let `default` = OSLogType(rawValue: 0x00)
    /// The level of details that may help, below `default`.
    public static let info = OSLogType(rawValue: 0x01)
    /// The lowest level: what only a developer wants to see.
    public static let debug = OSLogType(rawValue: 0x02)
    /// The level of errors and warnings.
    public static let error = OSLogType(rawValue: 0x10)
    /// The highest level: faults of the program itself.
    public static let fault = OSLogType(rawValue: 0x11)

    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public init(_ rawValue: UInt8) { self.init(rawValue: rawValue) }

    /// The place in the order of levels, which is not that of the raw values.
    var severity: UInt8 {
        switch self {
        case .debug: 0
        case .info: 1
        case .error: 3
        case .fault: 4
        default: 2
        }
    }
}

extension OSLogType: CustomStringConvertible {
    public var description: String {
        switch self {
        case .debug: "debug"
        case .info: "info"
        case .error: "error"
        case .fault: "fault"
        default: "default"
        }
    }
}
