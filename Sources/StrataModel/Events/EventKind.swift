/// The kind of an event. The numbers are on disk and never change (docs/format.md §7).
package struct EventKind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }

    /// True for audit events, which a reader that does not know them may skip. Other kinds may not be skipped.
    package var isAudit: Bool { rawValue >= 128 }
}
