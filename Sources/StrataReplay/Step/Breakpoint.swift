import StrataModel

/// Commits at which stepping through a history stops: those that match every property that is set.
///
/// ```swift
/// var breakpoint = Breakpoint()
/// breakpoint.record = "note-1"
/// breakpoint.field = "rank"
/// ```
/// User and device are matched against the header of a commit; zone, type, record and field must all match the same
/// event. For a refusal, the refused request is matched.
public struct Breakpoint: Sendable {
    /// The user name for commits without a user.
    public static let systemName = "system"

    /// The name of the user who asked; nil for any user, here and below.
    public var user: String?
    public var device: String?
    /// The owner of the private database.
    public var owner: String?
    public var zone: String?
    public var record: String?
    public var type: String?
    /// The field that gets another value, or is removed.
    public var field: String?
    /// True to match refused requests, which wrote nothing, instead of changes.
    public var isRefusal = false
    /// Matches commits with which a record begins to match the predicate.
    public var question: BisectionQuestion?

    public init() {}

    public var isEmpty: Bool {
        [user, device, owner, zone, record, type, field].allSatisfy { $0 == nil } && !isRefusal && question == nil
    }

    /// True if an event has to match.
    var asksEvents: Bool { isRefusal || asksPlaces }
    var asksPlaces: Bool { [owner, zone, record, type, field].contains { $0 != nil } }
}
