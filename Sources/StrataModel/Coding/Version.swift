/// Identifies one state of one record: by the commit, and the event in it.
public struct Version: Hashable, Sendable, Comparable {
    /// The largest offset that packs into 63 bits together with an event index.
    public static let maximumOffset: UInt64 = (1 << 43) - 1
    public static let eventBits: UInt64 = 20

    public var offset: UInt64
    public var eventIndex: UInt32

    public init(offset: UInt64, eventIndex: UInt32) {
        precondition(offset <= Self.maximumOffset && eventIndex < 1 << Self.eventBits, "the version is out of bounds")
        self.offset = offset
        self.eventIndex = eventIndex
    }

    /// The stored form: offset × 2²⁰ + event index.
    public var packed: UInt64 { offset << Self.eventBits | UInt64(eventIndex) }

    /// The base-36 text of ``packed``, which clients see as the record's change tag.
    public var tag: String { String(packed, radix: 36) }

    /// Returns a version that denotes an event of the commit that contains it, whose offset is unknown until it is
    /// appended to the log.
    public static func ofThisCommit(eventIndex: UInt32) -> Version {
        Version(offset: 0, eventIndex: eventIndex + 1)
    }

    public var isOfThisCommit: Bool { offset == 0 && eventIndex > 0 }

    /// Returns the version itself, or the version that ``ofThisCommit(eventIndex:)`` denotes in the commit at `offset`.
    public func resolved(in offset: UInt64) -> Version {
        isOfThisCommit ? Version(offset: offset, eventIndex: eventIndex - 1) : self
    }

    /// Parses a change tag; returns nil for text that is not a tag.
    public init?(tag: String) {
        guard let packed = UInt64(tag, radix: 36), packed >> 63 == 0, String(packed, radix: 36) == tag else {
            return nil
        }
        offset = packed >> Self.eventBits
        eventIndex = UInt32(packed & (1 << Self.eventBits - 1))
    }

    public static func < (left: Version, right: Version) -> Bool { left.packed < right.packed }
}
