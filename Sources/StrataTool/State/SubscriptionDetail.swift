import StrataModel

/// A subscription with all its details.
struct SubscriptionDetail {
    private let subscription: Subscription
    private let database: DatabaseID
    private let user: String
    /// Nil matches any type. A nil zone means no particular zone.
    private let recordType: String?
    private let zone: String?
    /// The event that last saved it; nil if the subscription has ended.
    private let saved: Version?
    /// The event for which a one-time subscription fired.
    private let firedBy: Version?

    init(
        _ event: SubscriptionSavedEvent, _ database: DatabaseID, saved: Version? = nil, firedBy: Version? = nil,
        in state: ContainerState
    ) throws {
        subscription = event.subscription
        self.database = database
        user = try state.user(event.user)
        recordType = subscription.recordType == 0 ? nil : try state.recordType(subscription.recordType)
        zone = subscription.zone == 0 ? nil : try state.zone(subscription.zone)
        (self.saved, self.firedBy) = (saved, firedBy)
    }

    // MARK: For people

    /// Writes a paragraph.
    func write(to output: Output) throws {
        var lines = [("user", Printable.escaped(user)), ("database", database.shownText), ("kind", kindText)]
        if !subscription.predicate.isEmpty { lines.append(("where", Printable.escaped(subscription.predicate))) }
        if !subscription.options.isEmpty { lines.append(("on", subscription.options.names.joined(separator: ", "))) }
        lines.append(("shows", subscription.notification.map { Self.text(of: $0) } ?? "no notification is described"))
        if let saved { lines.append(("saved", Self.text(of: saved))) }
        if let firedBy { lines.append(("fired", "once, for \(Self.text(of: firedBy)), and does not fire again")) }
        try Columns.write("subscription", subscription.id, lines, to: output)
    }

    private var kindText: String {
        var text = subscription.kind.name
        if let recordType { text += " of \(Printable.escaped(recordType))" }
        if let zone { text += " in \(Printable.escaped(zone))" }
        return text
    }

    private static func text(of version: Version) -> String {
        "commit \(version.offset), event \(version.eventIndex)"
    }

    private static func text(of notification: NotificationInfo) -> String {
        let texts = notification.texts.map { "\($0.key) \(ValueText.quoted($0.text))" }
        let lists = notification.lists.map { list in
            "\(list.key) [\(list.texts.map { ValueText.quoted($0) }.joined(separator: ", "))]"
        }
        let all = texts + lists + notification.flags
        return all.isEmpty ? "nothing" : all.joined(separator: ", ")
    }
}

extension SubscriptionDetail: Shaped {
    static let shape = Shape<Self>("A subscription") {
        Key("subscription", "its ID") { $0.subscription.id }
        Key("user", "name of the user who owns it") { $0.user }
        Key(of: DatabaseID.shape) { $0.database }
        Key("kind", "`query`, `zone` or `database`") { $0.subscription.kind.name }
        Key("type", "name of the record type", if: "if it is for one") { $0.recordType }
        Key("zone", "its name", if: "if it is for one") { $0.zone }
        Key("predicate", "as format text", if: "if it has one") { $0.subscription.predicate.nonempty }
        Key(
            "options", "`creation`, `update`, `deletion` and `once`, those that it has, separated by spaces"
        ) { $0.subscription.options.names.joined(separator: " ") }
        Key(
            "notification",
            "the texts and lists of the `CKSubscription.NotificationInfo` that were set, by their names there, and "
                + "`flags`, an array of the flags that are set, such as `shouldBadge`"
        ) { $0.subscription.notification.map { NotificationParts(info: $0) } }
        Key("saved", "version of the event that saved it last", if: "if it has not ended") { $0.saved }
        Key("firedBy", "version of the event for which it fired and ended", if: "if so") { $0.firedBy }
    }
}

private struct NotificationParts: JSONValue {
    let info: NotificationInfo

    static var jsonKind: JSONKind { "object" }

    func write(to json: inout JSONWriter) throws {
        json.beginObject()
        for (key, text) in info.texts {
            json.key(key)
            json.value(text)
        }
        for (key, texts) in info.lists {
            json.key(key)
            try texts.write(to: &json)
        }
        try json.field("flags", info.flags)
        json.endObject()
    }
}

extension NotificationInfo {
    /// The texts that are set, under CloudKit's names.
    fileprivate var texts: [(key: String, text: String)] {
        let all: [(String, String?)] = [
            ("alertBody", alertBody), ("alertLocalizationKey", alertLocalizationKey), ("title", title),
            ("titleLocalizationKey", titleLocalizationKey), ("subtitle", subtitle),
            ("subtitleLocalizationKey", subtitleLocalizationKey),
            ("alertActionLocalizationKey", alertActionLocalizationKey), ("alertLaunchImage", alertLaunchImage),
            ("soundName", soundName), ("category", category), ("collapseIDKey", collapseIDKey),
        ]
        return all.compactMap { key, text in text.map { (key, $0) } }
    }

    fileprivate var lists: [(key: String, texts: [String])] {
        let all: [(String, [String]?)] = [
            ("alertLocalizationArgs", alertLocalizationArguments),
            ("titleLocalizationArgs", titleLocalizationArguments),
            ("subtitleLocalizationArgs", subtitleLocalizationArguments), ("desiredKeys", desiredKeys),
        ]
        return all.compactMap { key, texts in texts.map { (key, $0) } }
    }

    fileprivate var flags: [String] {
        let all = [
            ("shouldBadge", shouldBadge), ("shouldSendContentAvailable", shouldSendContentAvailable),
            ("shouldSendMutableContent", shouldSendMutableContent),
        ]
        return all.filter(\.1).map(\.0)
    }
}
