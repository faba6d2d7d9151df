import Foundation

/// The dictionary of a push notification; malformed parts are left out.
///
/// It has the structure of the service's pushes: the parts to present under `aps`, the rest under `ck`, with the
/// event of a query, zone or database subscription under `qry`, `fet` or `met`.
struct NotificationPayload {
    let type: CKNotification.NotificationType
    let id: String?
    let container: String?
    let user: String?
    let subscription: String?
    let isPruned: Bool
    let scope: CKDatabase.Scope
    let zoneID: CKRecordZoneID?
    let record: String?
    let reason: CKQueryNotification.Reason
    let fields: [String: Any]?
    let shown: Shown

    /// The parts that the device presents.
    struct Shown {
        let badge: Int?
        let soundName: String?
        let category: String?
        let alert: Values

        init(_ values: Values) {
            badge = values.integer("badge")
            soundName = values.text("sound")
            category = values.text("category")
            alert = values.values("alert") ?? Values(["body": values.text("alert") as Any])
        }
    }

    init?(_ dictionary: [AnyHashable: Any]) {
        let whole = Values(dictionary)
        guard let cloud = whole.values("ck") else { return nil }
        let kinds: [(String, CKNotification.NotificationType)] = [
            ("qry", .query), ("fet", .recordZone), ("met", .database),
        ]
        let found = kinds.lazy.compactMap { key, type in cloud.values(key).map { (type, $0) } }.first
        guard let (type, details) = found else { return nil }
        self.type = type
        id = cloud.text("nid")
        container = cloud.text("cid")
        user = cloud.text("ckuserid")
        subscription = details.text("sid")
        isPruned = cloud.integer("p") == 1
        scope = Self.scope(details.integer("dbs"))
        zoneID = details.text("zid").map {
            CKRecordZoneID(zoneName: $0, ownerName: details.text("zoid") ?? CKCurrentUserDefaultName)
        }
        record = details.text("rid")
        reason = details.integer("fo").flatMap(CKQueryNotification.Reason.init) ?? .recordUpdated
        fields = reason == .recordDeleted ? nil : details.values("af")?.keptFields
        shown = Shown(whole.values("aps") ?? Values([:]))
    }

    // The service numbers databases differently from its framework.
    private static func scope(_ number: Int?) -> CKDatabase.Scope {
        switch number {
        case 2: .public
        case 3: .shared
        default: .private
        }
    }

    /// A dictionary with unvalidated content.
    struct Values {
        private let content: [AnyHashable: Any]

        init(_ content: [AnyHashable: Any]) { self.content = content }

        func values(_ key: String) -> Values? { (content[key] as? [AnyHashable: Any]).map(Values.init) }
        func text(_ key: String) -> String? { content[key] as? String }
        func texts(_ key: String) -> [String]? { content[key] as? [String] }
        func integer(_ key: String) -> Int? { content[key] as? Int ?? (content[key] as? NSNumber)?.intValue }

        /// The values of types that a record can have.
        var keptFields: [String: Any] {
            var fields: [String: Any] = [:]
            for (key, value) in content {
                guard let key = key.base as? String, value is any CKRecordValueProtocol else { continue }
                fields[key] = (value as? any NSCopying)?.copy(with: nil) ?? value
            }
            return fields
        }
    }
}

extension CKNotification {
    /// The text of the alert.
    @available(*, deprecated, message: "Use the UserNotifications framework.")
    public var alertBody: String? { payload.shown.alert.text("body") }
    /// The key of the alert's text in the app's localized strings.
    @available(*, deprecated, message: "Use the UserNotifications framework.")
    public var alertLocalizationKey: String? { payload.shown.alert.text("loc-key") }
    /// The values to insert into the alert's text.
    @available(*, deprecated, message: "Use the UserNotifications framework.")
    public var alertLocalizationArgs: [String]? { payload.shown.alert.texts("loc-args") }
    /// The title of the alert.
    @available(*, deprecated, message: "Use the UserNotifications framework.")
    public var title: String? { payload.shown.alert.text("title") }
    /// The key of the title in the app's localized strings.
    @available(*, deprecated, message: "Use the UserNotifications framework.")
    public var titleLocalizationKey: String? { payload.shown.alert.text("title-loc-key") }
    /// The values to insert into the title.
    @available(*, deprecated, message: "Use the UserNotifications framework.")
    public var titleLocalizationArgs: [String]? { payload.shown.alert.texts("title-loc-args") }
    /// The subtitle of the alert.
    @available(*, deprecated, message: "Use the UserNotifications framework.")
    public var subtitle: String? { payload.shown.alert.text("subtitle") }
    /// The key of the subtitle in the app's localized strings.
    @available(*, deprecated, message: "Use the UserNotifications framework.")
    public var subtitleLocalizationKey: String? { payload.shown.alert.text("subtitle-loc-key") }
    /// The values to insert into the subtitle.
    @available(*, deprecated, message: "Use the UserNotifications framework.")
    public var subtitleLocalizationArgs: [String]? { payload.shown.alert.texts("subtitle-loc-args") }
    /// The key of the button's title in the app's localized strings.
    @available(*, deprecated, message: "Use the UserNotifications framework.")
    public var alertActionLocalizationKey: String? { payload.shown.alert.text("action-loc-key") }
    /// The image to show while the app starts.
    @available(*, deprecated, message: "Use the UserNotifications framework.")
    public var alertLaunchImage: String? { payload.shown.alert.text("launch-image") }
    /// The number on the app's badge.
    @available(*, deprecated, message: "Use the UserNotifications framework.")
    public var badge: NSNumber? { payload.shown.badge.map { NSNumber(value: $0) } }
    /// The name of the sound to play.
    @available(*, deprecated, message: "Use the UserNotifications framework.")
    public var soundName: String? { payload.shown.soundName }
    /// The group of actions that the notification offers.
    @available(*, deprecated, message: "Use the UserNotifications framework.")
    public var category: String? { payload.shown.category }
}
