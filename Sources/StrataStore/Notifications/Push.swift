import StrataModel

/// A notification to a device that a subscription fired (docs/notifications.md).
public struct Push: Sendable {
    public enum Reason: UInt8, Sendable, Hashable {
        case created = 1, updated, deleted
    }

    public enum Subject: Sendable, Hashable {
        case database
        case zone(ZoneID)
        case record(RecordID, Reason)
    }

    /// The subscription that fired.
    public var subscriptionID: String
    /// The user who owns the subscription.
    public var user: String
    public var scope: InternedName.Scope
    public var subject: Subject
    public var notification: NotificationInfo?
    /// The record's values that the notification asks for; empty for a deleted record.
    public var fields: [String: FieldValue] = [:]
    /// The number on the app's badge, if it increases.
    public var badge: UInt64?
    /// The last event that the push reports.
    public var version: Version
    /// The first commit that the push reports.
    var firstOffset: UInt64

    /// The ID of the push, which is the same whenever the push is rebuilt.
    public var id: String { "\(version.tag).\(subscriptionID)" }

    /// Identifies pushes that replace each other: of two pushes with the same key, the device needs only the later.
    struct Key: Hashable {
        var subscriptionID: ExactName
        var scope: InternedName.Scope
        var record: RecordID?
    }

    var key: Key {
        var record: RecordID?
        if case .record(let id, _) = subject { record = id }
        return Key(subscriptionID: ExactName(text: subscriptionID), scope: scope, record: record)
    }

    /// Returns this push, extended to report an earlier one too.
    func merged(with earlier: Push) -> Push {
        var merged = self
        merged.firstOffset = min(firstOffset, earlier.firstOffset)
        if case .record(let id, .updated) = subject, case .record(_, .created) = earlier.subject {
            merged.subject = .record(id, .created)
        }
        return merged
    }
}
