import Synchronization

/// The identity of an interval among those with the same name.
public struct OSSignpostID: Sendable, Hashable, Comparable {
    /// The identity of intervals that never overlap with others of the same name.
    public static let exclusive = OSSignpostID(0xEEEE_B0B5_B2B2_EEEE)
    /// No identity.
    public static let invalid = OSSignpostID(UInt64.max)
    /// No identity: signposts with it are dropped.
    public static let null = OSSignpostID(0)

    private static let last = Atomic<UInt64>(0)

    public let rawValue: UInt64

    public init(_ value: UInt64) { rawValue = value }

    /// Creates an identity that no other has in this process.
    public init(log: OSLog) { self.init(Self.last.add(1, ordering: .relaxed).newValue) }

    /// Creates the identity of an object, for as long as it lives.
    public init(log: OSLog, object: AnyObject) {
        self.init(UInt64(UInt(bitPattern: ObjectIdentifier(object))))
    }

    public static func < (left: OSSignpostID, right: OSSignpostID) -> Bool { left.rawValue < right.rawValue }
}
