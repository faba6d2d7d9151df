/// The kind of a signpost.
public struct OSSignpostType: RawRepresentable, Sendable, Hashable {
    /// A point in time.
    public static let event = OSSignpostType(rawValue: 0)
    /// The beginning of an interval.
    public static let begin = OSSignpostType(rawValue: 1)
    /// The end of an interval.
    public static let end = OSSignpostType(rawValue: 2)

    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }
}
