import StrataModel

/// What a device is told when a subscription fires (docs/notifications.md).
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
    /// Whose subscription it is.
    public var user: String
    public var scope: InternedName.Scope
    public var subject: Subject
    public var notification: NotificationInfo?
    /// Values of the record for what the notification asks for; none of a deleted one.
    public var fields: [String: FieldValue] = [:]
    /// The number on the app's badge, if it goes up.
    public var badge: UInt64?
    /// The last event that it stands for.
    public var version: Version
    /// The first commit that it stands for.
    var firstOffset: UInt64

    /// The same whenever it is made again.
    public var id: String { "\(version.tag).\(subscriptionID)" }

    /// What replaces what: of two pushes with one key the device needs only the later.
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

    /// This push, standing for an earlier one too.
    func merged(with earlier: Push) -> Push {
        var merged = self
        merged.firstOffset = min(firstOffset, earlier.firstOffset)
        if case .record(let id, .updated) = subject, case .record(_, .created) = earlier.subject {
            merged.subject = .record(id, .created)
        }
        return merged
    }
}
