import Foundation
import StrataModel
import StrataStore

/// Creates the dictionary of a push, as ``NotificationPayload`` reads it, truncated to the size limit of a push.
struct PushPayload {
    /// The maximum size of a push.
    static let maximumBytes = 4_096
    /// The maximum length of a text in a push (B190).
    static let maximumCharacters = 100

    let dictionary: [AnyHashable: Any]

    init(_ push: Push, container: String, userRecordName: String) {
        var details = Self.details(push)
        var alert = push.notification.map { Self.alert($0, push.fields) } ?? [:]
        var shown = Self.shown(push)
        var isPruned = false
        func make() -> [AnyHashable: Any] {
            var cloud: [AnyHashable: Any] = [
                "ce": 2, "cid": container, "nid": push.id, "ckuserid": userRecordName,
                Self.kind(push.subject): details,
            ]
            if isPruned { cloud["p"] = 1 }
            var aps = shown
            if !alert.isEmpty { aps["alert"] = alert }
            return ["aps": aps, "ck": cloud]
        }
        var whole = make()
        // The desired keys are dropped first (B193), then the presented parts, the least important first.
        for key in [
            "af", "launch-image", "subtitle-loc-args", "title-loc-args", "loc-args", "subtitle", "title", "body",
            "action-loc-key", "subtitle-loc-key", "title-loc-key", "loc-key", "category", "sound",
        ] {
            if Self.byteCount(whole) <= Self.maximumBytes { break }
            let dropped: Any? =
                switch key {
                case "af": details.removeValue(forKey: key)
                case "category", "sound": shown.removeValue(forKey: key)
                default: alert.removeValue(forKey: key)
                }
            if dropped != nil { isPruned = true }
            whole = make()
        }
        dictionary = whole
    }

    private static func kind(_ subject: Push.Subject) -> String {
        switch subject {
        case .record: "qry"
        case .zone: "fet"
        case .database: "met"
        }
    }

    private static func details(_ push: Push) -> [AnyHashable: Any] {
        // The service numbers databases differently from its framework.
        let scope =
            switch push.scope {
            case .private: 1
            case .public: 2
            case .shared: 3
            }
        var details: [AnyHashable: Any] = ["sid": push.subscriptionID, "dbs": scope]
        func add(_ zone: ZoneID) {
            details["zid"] = zone.name
            details["zoid"] = CKRecordZoneID(zone).ownerName
        }
        switch push.subject {
        case .database: break
        case .zone(let zone): add(zone)
        case .record(let id, let reason):
            add(id.zone)
            details["rid"] = id.name
            details["fo"] = Int(reason.rawValue)
            if reason != .deleted { details["af"] = desired(push, id.zone) }
        }
        return details
    }

    /// Returns the desired values that are strings, numbers, dates, locations or references, the permitted kinds
    /// (B190).
    private static func desired(_ push: Push, _ zone: ZoneID) -> [AnyHashable: Any]? {
        guard let keys = push.notification?.desiredKeys, !keys.isEmpty else { return nil }
        var fields: [AnyHashable: Any] = [:]
        for key in keys {
            switch push.fields[key] {
            case .string(let text): fields[key] = String(text.prefix(maximumCharacters))
            case .int64, .double, .date, .location, .reference:
                let zone = CKRecordZoneID(zone)
                fields[key] = push.fields[key].flatMap { FieldContent($0) { _ in zone }.object }
            case .data, .asset, .list, .sealed, nil: break
            }
        }
        return fields
    }

    /// Returns the presented parts except the alert.
    private static func shown(_ push: Push) -> [AnyHashable: Any] {
        guard let info = push.notification else { return ["content-available": 1] }
        var shown: [AnyHashable: Any] = [:]
        shown["badge"] = push.badge.map { Int(clamping: $0) }
        shown["sound"] = info.soundName
        shown["category"] = info.category
        if info.shouldSendContentAvailable { shown["content-available"] = 1 }
        if info.shouldSendMutableContent { shown["mutable-content"] = 1 }
        return shown
    }

    private static func alert(_ info: NotificationInfo, _ fields: [String: FieldValue]) -> [String: Any] {
        func values(_ keys: [String]?) -> [String]? { keys?.map { text(of: fields[$0]) } }
        let parts: [(String, Any?)] = [
            ("body", info.alertBody), ("title", info.title), ("subtitle", info.subtitle),
            ("loc-key", info.alertLocalizationKey), ("loc-args", values(info.alertLocalizationArguments)),
            ("title-loc-key", info.titleLocalizationKey), ("title-loc-args", values(info.titleLocalizationArguments)),
            ("subtitle-loc-key", info.subtitleLocalizationKey),
            ("subtitle-loc-args", values(info.subtitleLocalizationArguments)),
            ("action-loc-key", info.alertActionLocalizationKey), ("launch-image", info.alertLaunchImage),
        ]
        var alert: [String: Any] = [:]
        for (key, part) in parts { alert[key] = part }
        return alert
    }

    private static func text(of value: FieldValue?) -> String {
        switch value {
        case .string(let text): String(text.prefix(maximumCharacters))
        case .int64(let number): "\(number)"
        case .double(let number): "\(number)"
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds).ISO8601Format()
        case .reference(let reference): reference.target.name
        case .data, .location, .asset, .list, .sealed, nil: ""
        }
    }

    /// Returns the approximate size of a value when it is sent, as JSON.
    private static func byteCount(_ value: Any) -> Int {
        switch value {
        case let dictionary as [AnyHashable: Any]:
            dictionary.reduce(2) { $0 + byteCount($1.key.base) + byteCount($1.value) + 2 }
        case let list as [String]: list.reduce(2) { $0 + byteCount($1) + 1 }
        case let text as String: text.utf8.count + 2
        default: 24
        }
    }
}
