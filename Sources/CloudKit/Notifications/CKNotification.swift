import Foundation

/// What a push notification says: that a subscription fired. Programs get its subclasses.
///
/// ```swift
/// if let note = CKNotification(fromRemoteNotificationDictionary: userInfo) as? CKQueryNotification {
///     print(note.queryNotificationReason, note.recordID as Any)
/// }
/// ```
///
/// Notifications may be coalesced, dropped or cut short: fetch the changes, whatever they say (B188).
// @unchecked: its properties are constants; the values among them are never changed.
public class CKNotification: NSObject, CVarArg, @unchecked Sendable {
    /// Names a notification.
    public typealias ID = CKNotificationID

    /// What made the notification.
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

    /// What made the notification.
    public var notificationType: NotificationType { payload.type }
    /// Names the notification.
    public var notificationID: CKNotificationID? { payload.id.map { CKNotificationID(name: $0) } }
    /// The container in which something happened.
    public var containerIdentifier: String? { payload.container }
    /// The user who made the subscription.
    public var subscriptionOwnerUserRecordID: CKRecordID? { payload.user.map { CKRecordID(recordName: $0) } }
    /// Whether something was left out for want of room; what was desired goes first (B193).
    public var isPruned: Bool { payload.isPruned }
    /// The subscription that fired.
    public var subscriptionID: CKSubscription.ID? { payload.subscription }

    public override var description: String {
        "<\(type(of: self)): \(payload.id ?? "without ID") of \(payload.subscription ?? "no subscription")>"
    }
    public override var debugDescription: String { description }
}

/// Lets ``CKNotification`` have an initialiser that returns a subclass.
public protocol CKNotificationMaking {}

extension CKNotification: CKNotificationMaking {}

extension CKNotificationMaking where Self: CKNotification {
    /// Reads what came with a push notification; nil if it is none of CloudKit's, or of another kind than the class.
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

/// That a record changed that a query subscription watches.
// @unchecked: as its superclass, and it adds nothing.
public final class CKQueryNotification: CKNotification, @unchecked Sendable {
    /// What happened to the record.
    public enum Reason: Int, Sendable, BitwiseCopyable {
        case recordCreated = 1
        case recordUpdated = 2
        case recordDeleted = 3
    }

    /// What happened to the record.
    public var queryNotificationReason: Reason { payload.reason }
    /// The values of the keys that the subscription desired; only for records created and updated (B191).
    public var recordFields: [String: Any]? { payload.fields }
    /// The record.
    public var recordID: CKRecordID? {
        payload.record.map { CKRecordID(recordName: $0, zoneID: payload.zoneID ?? .default) }
    }
    /// The database that has the record.
    public var databaseScope: CKDatabase.Scope { payload.scope }
}

/// That something changed in a zone.
// @unchecked: as its superclass, and it adds nothing.
public final class CKRecordZoneNotification: CKNotification, @unchecked Sendable {
    /// The zone.
    public var recordZoneID: CKRecordZoneID? { payload.zoneID }
    /// The database that has the zone.
    public var databaseScope: CKDatabase.Scope { payload.scope }
}

/// That something changed in a database.
// @unchecked: as its superclass, and it adds nothing.
public final class CKDatabaseNotification: CKNotification, @unchecked Sendable {
    /// The database.
    public var databaseScope: CKDatabase.Scope { payload.scope }
}

/// Names a notification: `CKNotification.ID`. It is opaque.
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
    public override var debugDescription: String { description }

    // MARK: NSSecureCoding, NSCopying

    public static var supportsSecureCoding: Bool { true }
    public func copy(with zone: NSZone? = nil) -> Any { self }

    private static let key = "NotificationID"

    public func encode(with coder: NSCoder) { coder.encode(NSString(string: name), forKey: Self.key) }

    public init?(coder: NSCoder) {
        let archive = ArchiveReader(coder)
        guard let name = archive.string(Self.key), archive.isIntact else { return nil }
        self.name = name
        super.init()
    }
}
