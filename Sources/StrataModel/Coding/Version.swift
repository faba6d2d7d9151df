/// Names one state of one record: the commit, and the event in it.
public struct Version: Hashable, Sendable, Comparable {
    /// Largest offset and event count that still pack into 63 bits.
    public static let maximumOffset: UInt64 = (1 << 43) - 1
    public static let eventBits: UInt64 = 20

    public var offset: UInt64
    public var eventIndex: UInt32

    public init(offset: UInt64, eventIndex: UInt32) {
        precondition(offset <= Self.maximumOffset && eventIndex < 1 << Self.eventBits, "a version out of its bounds")
        self.offset = offset
        self.eventIndex = eventIndex
    }

    /// Offset × 2²⁰ + event index, the form that is stored.
    public var packed: UInt64 { offset << Self.eventBits | UInt64(eventIndex) }

    /// Base 36 of ``packed``: what clients see as the record's change tag.
    public var tag: String { String(packed, radix: 36) }

    /// Stands for an event of the commit that names it, whose offset is not known before it is in the log.
    public static func ofThisCommit(eventIndex: UInt32) -> Version {
        Version(offset: 0, eventIndex: eventIndex + 1)
    }

    public var isOfThisCommit: Bool { offset == 0 && eventIndex > 0 }

    /// Returns the version itself, or the version that ``ofThisCommit(eventIndex:)`` denotes in the commit at `offset`.
    public func resolved(in offset: UInt64) -> Version {
        isOfThisCommit ? Version(offset: offset, eventIndex: eventIndex - 1) : self
    }

    /// The version that a change tag names; nil for text that no tag can be.
    public init?(tag: String) {
        guard let packed = UInt64(tag, radix: 36), packed >> 63 == 0, String(packed, radix: 36) == tag else {
            return nil
        }
        offset = packed >> Self.eventBits
        eventIndex = UInt32(packed & (1 << Self.eventBits - 1))
    }

    public static func < (left: Version, right: Version) -> Bool { left.packed < right.packed }
}
