import Foundation
import StrataModel
import StrataSystem

/// What a user wants to be told of; programs make its subclasses.
///
/// ```swift
/// let subscription = CKDatabaseSubscription(subscriptionID: "all-changes")
/// subscription.notificationInfo = CKSubscription.NotificationInfo(shouldSendContentAvailable: true)
/// try await database.save(subscription)
/// ```
///
/// A subscription belongs to the user who saved it; every device of that user but the one that made a change is told
/// of it (B186). Two are equal if they say the same.
// @unchecked: what changes lies behind the lock.
public class CKSubscription: NSObject, NSSecureCoding, NSCopying, CVarArg, @unchecked Sendable {
    /// Names a subscription within a database.
    public typealias ID = String
    /// How a device shows that a subscription fired.
    public typealias NotificationInfo = CKNotificationInfo

    /// What a subscription watches.
    public enum SubscriptionType: Int, Sendable, BitwiseCopyable {
        case query = 1
        case recordZone = 2
        case database = 3
    }

    /// What can be set after the subscription was made.
    struct Settings: Sendable {
        var notificationInfo: CKNotificationInfo?
        var zoneID: CKRecordZoneID?
        var recordType: String?
    }

    /// Its name in the database; saving another under the same one replaces it (B180).
    public let subscriptionID: ID
    /// What it watches.
    public let subscriptionType: SubscriptionType
    let settings: Lock<Settings>

    init(_ id: ID, _ type: SubscriptionType, _ settings: Settings) {
        subscriptionID = id
        subscriptionType = type
        self.settings = Lock(settings)
        super.init()
    }

    /// How a device shows that it fired; nil for a silent notification (B189). What is set is copied.
    public var notificationInfo: NotificationInfo? {
        get { settings.withLock { $0.notificationInfo } }
        set {
            let copy = newValue.map { CKNotificationInfo($0.model) }
            settings.withLock { $0.notificationInfo = copy }
        }
    }

    /// With information of its own, for a copy.
    var settingsForCopy: Settings {
        var settings = settings.withLock { $0 }
        settings.notificationInfo = settings.notificationInfo.map { CKNotificationInfo($0.model) }
        return settings
    }

    /// As the store keeps it.
    ///
    /// - Parameter me: Record name of the user.
    func model(for me: String) -> NamedSubscription {
        let settings = settings.withLock { $0 }
        return NamedSubscription(
            subscriptionID, Subscription.Kind(subscriptionType), zone: settings.zoneID?.model(for: me),
            recordType: settings.recordType, notification: settings.notificationInfo?.model)
    }

    /// A subscription as a client's device sees it.
    static func stored(_ model: NamedSubscription) -> CKSubscription {
        switch model.kind {
        case .query: CKQuerySubscription(stored: model)
        case .recordZone: CKRecordZoneSubscription(stored: model)
        case .database: CKDatabaseSubscription(stored: model)
        }
    }

    /// What is wrong with it whatever the database; nil if nothing is (B183, B190).
    var mistake: CKError? {
        if subscriptionID.isEmpty { return CKError(.invalidArguments, message: "The subscription's ID is empty.") }
        let count = notificationInfo?.desiredKeys?.count ?? 0
        guard count > 3 else { return nil }
        return CKError(
            .invalidArguments,
            message: "The subscription \(subscriptionID) desires \(count) keys; a notification has room for three.")
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKSubscription, other.subscriptionType == subscriptionType else { return false }
        let (mine, others) = (settings.withLock { $0 }, other.settings.withLock { $0 })
        return isSameText(other.subscriptionID, subscriptionID) && mine.notificationInfo == others.notificationInfo
            && mine.zoneID == others.zoneID && mine.recordType == others.recordType
    }

    public override var hash: Int { subscriptionID.hashValue }
    public override var description: String { "<\(type(of: self)): \(subscriptionID)>" }
    public override var debugDescription: String { description }

    // MARK: NSSecureCoding, NSCopying

    public class var supportsSecureCoding: Bool { true }
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

    /// The type that archives of the class have; nil for this one, of which there are none.
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

/// Watches a whole database (private or shared): fires for any change in any of its zones but the default one (B187).
///
/// ```swift
/// let subscription = CKDatabaseSubscription(subscriptionID: "all-changes")
/// subscription.recordType = "Note"
/// ```
// @unchecked: as its superclass.
public final class CKDatabaseSubscription: CKSubscription, @unchecked Sendable {
    /// A subscription with this name.
    public convenience init(subscriptionID: CKSubscription.ID) { self.init(subscriptionID, .database, Settings()) }

    convenience init(stored model: NamedSubscription) { self.init(model.id, .database, Settings(stored: model)) }

    /// A subscription with a name that no other has.
    @available(*, deprecated, message: "Use init(subscriptionID:), or every launch makes another subscription.")
    public convenience init() { self.init(subscriptionID: UUID().uuidString) }

    /// Of which type records must be for it to fire; nil for all.
    public var recordType: CKRecord.RecordType? {
        get { settings.withLock { $0.recordType } }
        set { settings.withLock { $0.recordType = newValue } }
    }

    public override func copy(with zone: NSZone? = nil) -> Any {
        CKDatabaseSubscription(subscriptionID, .database, settingsForCopy)
    }

    override class var archivedType: SubscriptionType? { .database }
}

/// Watches a zone of the private database (B182).
///
/// ```swift
/// let subscription = CKRecordZoneSubscription(zoneID: notes.zoneID, subscriptionID: "notes")
/// ```
// @unchecked: as its superclass; what it adds is a constant.
public final class CKRecordZoneSubscription: CKSubscription, @unchecked Sendable {
    /// The zone that it watches.
    public let zoneID: CKRecordZoneID

    /// A subscription to a zone, with this name.
    public convenience init(zoneID: CKRecordZoneID, subscriptionID: CKSubscription.ID) {
        self.init(subscriptionID, zoneID, Settings(zoneID: zoneID))
    }

    convenience init(stored model: NamedSubscription) {
        self.init(model.id, CKRecordZoneID(zoneName: model.zone?.name ?? ""), Settings(stored: model))
    }

    /// A subscription to a zone, with a name that no other has.
    @available(*, deprecated, message: "Use init(zoneID:subscriptionID:), or every launch makes another subscription.")
    public convenience init(zoneID: CKRecordZoneID) { self.init(zoneID: zoneID, subscriptionID: UUID().uuidString) }

    private init(_ id: ID, _ zoneID: CKRecordZoneID, _ settings: Settings) {
        self.zoneID = zoneID
        super.init(id, .recordZone, settings)
    }

    /// Of which type records must be for it to fire; nil for all.
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
