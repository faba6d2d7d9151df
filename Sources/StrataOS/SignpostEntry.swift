import Foundation

/// A signpost as a handler gets it.
public struct SignpostEntry: Sendable {
    /// The time of the signpost.
    public let date: Date
    /// The kind of the signpost.
    public let type: OSSignpostType
    /// The name of the interval or event.
    public let name: String
    /// The identity that the ends of an interval have in common.
    public let id: OSSignpostID
    /// The subsystem of the signposter; empty if there is none.
    public let subsystem: String
    /// The category of the signposter; empty if there is none.
    public let category: String
    /// The text, with placeholders for values that are not shown.
    public let composedMessage: String
}
