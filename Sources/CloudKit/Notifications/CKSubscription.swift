import Foundation
import StrataModel
import StrataSystem

/// The base class of all subscriptions; use its subclasses.
///
/// ```swift
/// let subscription = CKDatabaseSubscription(subscriptionID: "all-changes")
/// subscription.notificationInfo = CKSubscription.NotificationInfo(shouldSendContentAvailable: true)
/// try await database.save(subscription)
/// ```
///
/// A subscription belongs to the user who saved it. Each change notifies all devices of that user, except the device
/// that made the change (B186). Two subscriptions are equal if all their properties are.
// @unchecked: a lock protects the mutable settings.
public class CKSubscription: NSObject, NSSecureCoding, NSCopying, CVarArg, @unchecked Sendable {
    /// Identifies a subscription within a database.
    public typealias ID = String
    /// The way a device presents a subscription's notifications.
    public typealias NotificationInfo = CKNotificationInfo

    /// The kinds of subscriptions.
    public enum SubscriptionType: Int, Sendable, BitwiseCopyable {
        case query = 1
        case recordZone = 2
        case database = 3
    }

    /// The properties that can change after initialization.
    struct Settings: Sendable {
        var notificationInfo: CKNotificationInfo?
        var zoneID: CKRecordZoneID?
        var recordType: String?
    }

    /// The ID of the subscription in the database; saving another one with the same ID replaces it (B180).
    public let subscriptionID: ID
    /// The kind of the subscription.
    public let subscriptionType: SubscriptionType
    let settings: Lock<Settings>

    init(_ id: ID, _ type: SubscriptionType, _ settings: Settings) {
        subscriptionID = id
        subscriptionType = type
        self.settings = Lock(settings)
        super.init()
    }

    /// The way a device presents the notifications; nil for silent ones (B189). Setting it copies the value.
    public var notificationInfo: NotificationInfo? {
        get { settings.withLock { $0.notificationInfo } }
        set {
            let copy = newValue.map { CKNotificationInfo($0.model) }
            settings.withLock { $0.notificationInfo = copy }
        }
    }

    /// The settings with a copy of the notification info, for a copy of the subscription.
    var settingsForCopy: Settings {
        var settings = settings.withLock { $0 }
        settings.notificationInfo = settings.notificationInfo.map { CKNotificationInfo($0.model) }
        return settings
    }

    /// Returns the subscription in the form that the store saves.
    ///
    /// - Parameter me: The record name of the user.
    func model(for me: String) -> NamedSubscription {
        let settings = settings.withLock { $0 }
        return NamedSubscription(
            subscriptionID, Subscription.Kind(subscriptionType), zone: settings.zoneID?.model(for: me),
            recordType: settings.recordType, notification: settings.notificationInfo?.model)
    }

    /// Creates a subscription from its stored form.
    static func stored(_ model: NamedSubscription) -> CKSubscription {
        switch model.kind {
        case .query: CKQuerySubscription(stored: model)
        case .recordZone: CKRecordZoneSubscription(stored: model)
        case .database: CKDatabaseSubscription(stored: model)
        }
    }

    /// The error that makes it invalid in any database; nil if it is valid (B183, B190).
    var mistake: CKError? {
        if subscriptionID.isEmpty { return CKError(.invalidArguments, message: "The subscription's ID is empty.") }
        let count = notificationInfo?.desiredKeys?.count ?? 0
        guard count > 3 else { return nil }
        return CKError(
            .invalidArguments,
            message:
                "Subscription '\(subscriptionID)' desires \(count) keys, but a notification has room for only three.")
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKSubscription, other.subscriptionType == subscriptionType else { return false }
        let (mine, others) = (settings.withLock { $0 }, other.settings.withLock { $0 })
        return isSameText(other.subscriptionID, subscriptionID) && mine.notificationInfo == others.notificationInfo
            && mine.zoneID == others.zoneID && mine.recordType == others.recordType
    }

    public override var hash: Int { subscriptionID.hashValue }
    public override var description: String { "<\(type(of: self)): \(subscriptionID)>" }

    // MARK: NSSecureCoding, NSCopying

    public func copy(with zone: NSZone? = nil) -> Any { self }

    private enum Key {
        static let id = "SubscriptionID"
        static let type = "SubscriptionType"
        static let info = "NotificationInfo"
        static let zoneID = "ZoneID"
        static let recordType = "RecordType"
    }

    public func encode(with coder: NSCoder) {
        let settings = settings.withLock { $0 }
        coder.encode(NSString(string: subscriptionID), forKey: Key.id)
        coder.encode(Int64(subscriptionType.rawValue), forKey: Key.type)
        if let info = settings.notificationInfo { coder.encode(info, forKey: Key.info) }
        if let zoneID = settings.zoneID { coder.encode(zoneID, forKey: Key.zoneID) }
        if let recordType = settings.recordType { coder.encode(NSString(string: recordType), forKey: Key.recordType) }
    }

    public required init?(coder: NSCoder) {
        let archive = ArchiveReader(coder)
        guard let id = archive.string(Key.id),
            let type = SubscriptionType(rawValue: Int(archive.integer(Key.type) ?? 0))
        else { return nil }
        let settings = Settings(
            notificationInfo: archive.object(CKNotificationInfo.self, Key.info),
            zoneID: archive.object(CKRecordZoneID.self, Key.zoneID), recordType: archive.string(Key.recordType))
        guard archive.isIntact, type == Self.archivedType else { return nil }
        subscriptionID = id
        subscriptionType = type
        self.settings = Lock(settings)
        super.init()
    }

    /// The type that archives of the class contain; nil for this class, which is never archived.
    class var archivedType: SubscriptionType? { nil }
}

extension CKSubscription.Settings {
    init(stored model: NamedSubscription) {
        self.init(
            notificationInfo: model.notification.map { CKNotificationInfo($0) },
            zoneID: model.zone.map { CKRecordZoneID(zoneName: $0.name) }, recordType: model.recordType)
    }
}

extension Subscription.Kind {
    fileprivate init(_ type: CKSubscription.SubscriptionType) {
        switch type {
        case .query: self = .query
        case .recordZone: self = .recordZone
        case .database: self = .database
        }
    }
}

/// A subscription to a private or shared database; fires for changes in any zone except the default zone (B187).
///
/// ```swift
/// let subscription = CKDatabaseSubscription(subscriptionID: "all-changes")
/// subscription.recordType = "Note"
/// ```
// @unchecked: like its superclass.
public final class CKDatabaseSubscription: CKSubscription, @unchecked Sendable {
    /// Creates a subscription with an ID.
    public convenience init(subscriptionID: CKSubscription.ID) { self.init(subscriptionID, .database, Settings()) }

    convenience init(stored model: NamedSubscription) { self.init(model.id, .database, Settings(stored: model)) }

    /// Creates a subscription with a unique ID.
    @available(*, deprecated, message: "Use init(subscriptionID:), or every launch creates another subscription.")
    public convenience init() { self.init(subscriptionID: UUID().uuidString) }

    /// The type of records whose changes make it fire; nil for all types.
    public var recordType: CKRecord.RecordType? {
        get { settings.withLock { $0.recordType } }
        set { settings.withLock { $0.recordType = newValue } }
    }

    public override func copy(with zone: NSZone? = nil) -> Any {
        CKDatabaseSubscription(subscriptionID, .database, settingsForCopy)
    }

    override class var archivedType: SubscriptionType? { .database }
}

/// A subscription to a zone of the private database (B182).
///
/// ```swift
/// let subscription = CKRecordZoneSubscription(zoneID: notes.zoneID, subscriptionID: "notes")
/// ```
// @unchecked: like its superclass; it adds a constant.
public final class CKRecordZoneSubscription: CKSubscription, @unchecked Sendable {
    /// The ID of the watched zone.
    public let zoneID: CKRecordZoneID

    /// Creates a subscription to a zone, with an ID.
    public convenience init(zoneID: CKRecordZoneID, subscriptionID: CKSubscription.ID) {
        self.init(subscriptionID, zoneID, Settings(zoneID: zoneID))
    }

    convenience init(stored model: NamedSubscription) {
        self.init(model.id, CKRecordZoneID(zoneName: model.zone?.name ?? ""), Settings(stored: model))
    }

    /// Creates a subscription to a zone, with a unique ID.
    @available(
        *, deprecated, message: "Use init(zoneID:subscriptionID:), or every launch creates another subscription."
    )
    public convenience init(zoneID: CKRecordZoneID) { self.init(zoneID: zoneID, subscriptionID: UUID().uuidString) }

    private init(_ id: ID, _ zoneID: CKRecordZoneID, _ settings: Settings) {
        self.zoneID = zoneID
        super.init(id, .recordZone, settings)
    }

    /// The type of records whose changes make it fire; nil for all types.
    public var recordType: CKRecord.RecordType? {
        get { settings.withLock { $0.recordType } }
        set { settings.withLock { $0.recordType = newValue } }
    }

    public override func copy(with zone: NSZone? = nil) -> Any {
        CKRecordZoneSubscription(subscriptionID, zoneID, settingsForCopy)
    }

    public required init?(coder: NSCoder) {
        let archive = ArchiveReader(coder)
        guard let zoneID = archive.object(CKRecordZoneID.self, "ZoneID") else { return nil }
        self.zoneID = zoneID
        super.init(coder: coder)
    }

    override class var archivedType: SubscriptionType? { .recordZone }
}
