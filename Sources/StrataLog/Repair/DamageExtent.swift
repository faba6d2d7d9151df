import StrataModel

/// The extent of the damage to a log, and the whole commits after it.
///
/// ```swift
/// let report = LogVerifier.verify(at: "Notes.strata")
/// if let extent = report.extent { print("lost:", extent.lostOffsets) }
/// ```
public struct DamageExtent: Sendable, Equatable {
    /// Bytes of one file that are damaged.
    public struct Bytes: Sendable, Equatable {
        public var path: String
        public var range: Range<Int>
    }

    /// A segment file whose header belongs to another store or to another place in the log.
    public struct Stray: Sendable, Equatable {
        public var path: String
        /// The first offset that its header names.
        public var firstOffset: UInt64
        /// True if it belongs to another store.
        public var isForeign: Bool
    }

    /// In the order of the log. Missing files have no bytes here.
    public var bytes: [Bytes] = []
    /// Offsets after the last whole commit that are whole nowhere, up to the last one that is named anywhere.
    public var lostOffsets = OffsetRanges()
    /// Commits after the damage that are whole by their own checksums. They do not follow from the commits before it.
    public var standingOffsets = OffsetRanges()
    /// Offsets for which there is no segment file: whole files are missing.
    public var missingOffsets = OffsetRanges()
    public var strays: [Stray] = []
    /// The faults after the first damage.
    public var furtherDamage: [StrataError] = []

    public static func == (left: DamageExtent, right: DamageExtent) -> Bool {
        left.bytes == right.bytes && left.lostOffsets == right.lostOffsets
            && left.standingOffsets == right.standingOffsets && left.missingOffsets == right.missingOffsets
            && left.strays == right.strays
            && left.furtherDamage.map(\.description) == right.furtherDamage.map(\.description)
    }
}
