import Foundation

/// The content of a push notification that a subscription sent. Apps receive its subclasses.
///
/// ```swift
/// if let note = CKNotification(fromRemoteNotificationDictionary: userInfo) as? CKQueryNotification {
///     print(note.queryNotificationReason, note.recordID as Any)
/// }
/// ```
///
/// Notifications may be coalesced, dropped or truncated: always fetch the changes (B188).
// @unchecked: its properties are constants, whose values are never changed.
public class CKNotification: NSObject, CVarArg, @unchecked Sendable {
    /// Identifies a notification.
    public typealias ID = CKNotificationID

    /// The kinds of notifications.
    public enum NotificationType: Int, Sendable, BitwiseCopyable {
        case query = 1
        case recordZone = 2
        case readNotification = 3
        case database = 4
    }

    let payload: NotificationPayload

    init(_ payload: NotificationPayload) {
        self.payload = payload
        super.init()
    }

    /// The kind of the notification.
    public var notificationType: NotificationType { payload.type }
    /// The ID of the notification.
    public var notificationID: CKNotificationID? { payload.id.map { CKNotificationID(name: $0) } }
    /// The container in which the change happened.
    public var containerIdentifier: String? { payload.container }
    /// The user who created the subscription.
    public var subscriptionOwnerUserRecordID: CKRecordID? { payload.user.map { CKRecordID(recordName: $0) } }
    /// True if parts were left out because of the size limit; the desired keys are left out first (B193).
    public var isPruned: Bool { payload.isPruned }
    /// The ID of the subscription that fired.
    public var subscriptionID: CKSubscription.ID? { payload.subscription }

    public override var description: String {
        "<\(type(of: self)): \(payload.id ?? "without ID") of \(payload.subscription ?? "no subscription")>"
    }
}

/// Lets ``CKNotification`` have an initializer that returns a subclass.
public protocol CKNotificationMaking {}

extension CKNotification: CKNotificationMaking {}

extension CKNotificationMaking where Self: CKNotification {
    /// Creates a notification from the dictionary of a push notification; nil if it does not come from CloudKit, or is
    /// of another kind than the class.
    public init?(fromRemoteNotificationDictionary: [AnyHashable: Any]) {
        guard let payload = NotificationPayload(fromRemoteNotificationDictionary) else { return nil }
        let notification: CKNotification =
            switch payload.type {
            case .query: CKQueryNotification(payload)
            case .recordZone: CKRecordZoneNotification(payload)
            case .database: CKDatabaseNotification(payload)
            case .readNotification: CKNotification(payload)
            }
        guard let wanted = notification as? Self else { return nil }
        self = wanted
    }
}

/// A notification of a change to a record that a query subscription watches.
// @unchecked: like its superclass; it adds no properties.
public final class CKQueryNotification: CKNotification, @unchecked Sendable {
    /// The kinds of changes to a record.
    public enum Reason: Int, Sendable, BitwiseCopyable {
        case recordCreated = 1
        case recordUpdated = 2
        case recordDeleted = 3
    }

    /// The kind of change to the record.
    public var queryNotificationReason: Reason { payload.reason }
    /// The values of the subscription's desired keys; only for created and updated records (B191).
    public var recordFields: [String: Any]? { payload.fields }
    /// The ID of the record.
    public var recordID: CKRecordID? {
        payload.record.map { CKRecordID(recordName: $0, zoneID: payload.zoneID ?? .default) }
    }
    /// The database that contains the record.
    public var databaseScope: CKDatabase.Scope { payload.scope }
}

/// A notification of a change in a zone.
// @unchecked: like its superclass; it adds no properties.
public final class CKRecordZoneNotification: CKNotification, @unchecked Sendable {
    /// The ID of the zone.
    public var recordZoneID: CKRecordZoneID? { payload.zoneID }
    /// The database that contains the zone.
    public var databaseScope: CKDatabase.Scope { payload.scope }
}

/// A notification of a change in a database.
// @unchecked: like its superclass; it adds no properties.
public final class CKDatabaseNotification: CKNotification, @unchecked Sendable {
    /// The database that changed.
    public var databaseScope: CKDatabase.Scope { payload.scope }
}

/// The opaque ID of a notification: `CKNotification.ID`.
// @unchecked: its one property is a constant.
public final class CKNotificationID: NSObject, NSSecureCoding, NSCopying, CVarArg, @unchecked Sendable {
    let name: String

    init(name: String) {
        self.name = name
        super.init()
    }

    public override func isEqual(_ object: Any?) -> Bool { (object as? CKNotificationID)?.name == name }
    public override var hash: Int { name.hashValue }
    public override var description: String { "<CKNotificationID: \(name)>" }

    // MARK: NSSecureCoding, NSCopying

    private static let key = "NotificationID"

    public func encode(with coder: NSCoder) { coder.encode(NSString(string: name), forKey: Self.key) }

    public init?(coder: NSCoder) {
        let archive = ArchiveReader(coder)
        guard let name = archive.string(Self.key), archive.isIntact else { return nil }
        self.name = name
        super.init()
    }
}
