import StrataModel

/// How far the damage of a log goes, and what is whole behind it.
///
/// ```swift
/// let report = LogVerifier.verify(at: "Notes.strata")
/// if let extent = report.extent { print("lost:", extent.lostOffsets) }
/// ```
public struct DamageExtent: Sendable, Equatable {
    /// Bytes of one file that are not what they must be.
    public struct Bytes: Sendable, Equatable {
        public var path: String
        public var range: Range<Int>
    }

    /// A segment file whose header is of another store or of another place in the log.
    public struct Stray: Sendable, Equatable {
        public var path: String
        /// The first offset that its header names.
        public var firstOffset: UInt64
        /// Whether it belongs to another store.
        public var isForeign: Bool
    }

    /// In the order of the log. What is missing has no bytes.
    public var bytes: [Bytes] = []
    /// Offsets behind the last whole commit that are nowhere whole, up to the last one that anything names.
    public var lostOffsets = OffsetRanges()
    /// Commits behind the damage that are whole by their own checksums. They do not follow from what is in front.
    public var standingOffsets = OffsetRanges()
    /// Offsets that no segment file is there for: whole files are missing.
    public var missingOffsets = OffsetRanges()
    public var strays: [Stray] = []
    /// What else is wrong, behind the first damage.
    public var furtherDamage: [StrataError] = []

    public static func == (left: DamageExtent, right: DamageExtent) -> Bool {
        left.bytes == right.bytes && left.lostOffsets == right.lostOffsets
            && left.standingOffsets == right.standingOffsets && left.missingOffsets == right.missingOffsets
            && left.strays == right.strays
            && left.furtherDamage.map(\.description) == right.furtherDamage.map(\.description)
    }
}
