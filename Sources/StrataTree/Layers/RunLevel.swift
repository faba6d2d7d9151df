/// The level of a run: runs of a higher one are older and larger.
package enum RunLevel: UInt8, Sendable, Comparable, CaseIterable {
    /// Written by a flush.
    case flushed
    /// Merged from runs of level `flushed`, if the base is large.
    case middle
    case base

    package static func < (a: RunLevel, b: RunLevel) -> Bool { a.rawValue < b.rawValue }
}
