import StrataModel

/// Commits at which going through a history stops: those that fit in every respect that is given.
///
/// ```swift
/// var breakpoint = Breakpoint()
/// breakpoint.record = "note-1"
/// breakpoint.field = "rank"
/// ```
/// A commit fits by its header, and one of its events by zone, type, record and field together. Of a refusal the
/// request counts that was refused.
public struct Breakpoint: Sendable {
    /// What commits of nobody are of.
    public static let systemName = "system"

    /// Who asked, by name; nil for anybody, here and below.
    public var user: String?
    public var device: String?
    /// Whose private database it is.
    public var owner: String?
    public var zone: String?
    public var record: String?
    public var type: String?
    /// That gets another value, or is removed.
    public var field: String?
    /// Requests, or parts of them, that were not done; else what was.
    public var isRefusal = false
    /// Commits with which a record begins to fulfil the predicate.
    public var question: BisectionQuestion?

    public init() {}

    public var isEmpty: Bool {
        [user, device, owner, zone, record, type, field].allSatisfy { $0 == nil } && !isRefusal && question == nil
    }

    /// Whether an event has to fit.
    var asksEvents: Bool { isRefusal || asksPlaces }
    var asksPlaces: Bool { [owner, zone, record, type, field].contains { $0 != nil } }
}
