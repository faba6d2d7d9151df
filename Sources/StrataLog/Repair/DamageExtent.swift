import StrataModel

/// The extent of the damage to a log, and the whole commits after it.
///
/// ```swift
/// let report = LogVerifier.verify(at: "Notes.strata")
/// if let extent = report.extent { print("lost:", extent.lostOffsets) }
/// ```
package struct DamageExtent: Sendable, Equatable {
    /// Bytes of one file that are damaged.
    package struct Bytes: Sendable, Equatable {
        package var path: String
        package var range: Range<Int>
    }

    /// A segment file whose header belongs to another store or to another place in the log.
    package struct Stray: Sendable, Equatable {
        package var path: String
        /// The first offset that its header names.
        package var firstOffset: UInt64
        /// True if it belongs to another store.
        package var isForeign: Bool
    }

    /// In the order of the log. Missing files have no bytes here.
    package var bytes: [Bytes] = []
    /// Offsets after the last whole commit that are whole nowhere, up to the last one that is named anywhere.
    package var lostOffsets = OffsetRanges()
    /// Commits after the damage that are whole by their own checksums. They do not follow from the commits before it.
    package var standingOffsets = OffsetRanges()
    /// Offsets for which there is no segment file: whole files are missing.
    package var missingOffsets = OffsetRanges()
    package var strays: [Stray] = []
    /// The faults after the first damage.
    package var furtherDamage: [StrataError] = []

    package static func == (left: DamageExtent, right: DamageExtent) -> Bool {
        left.bytes == right.bytes && left.lostOffsets == right.lostOffsets
            && left.standingOffsets == right.standingOffsets && left.missingOffsets == right.missingOffsets
            && left.strays == right.strays
            && left.furtherDamage.map(\.description) == right.furtherDamage.map(\.description)
    }
}
