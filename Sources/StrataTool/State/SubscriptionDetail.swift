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
        output.write("subscription ")
        output.write(Printable.escaped(subscription.id), .heading)
        try output.endLine()
        var lines = [("user", Printable.escaped(user)), ("database", database.shownText), ("kind", kindText)]
        if !subscription.predicate.isEmpty { lines.append(("where", Printable.escaped(subscription.predicate))) }
        if !subscription.options.isEmpty { lines.append(("on", subscription.options.names.joined(separator: ", "))) }
        lines.append(("shows", subscription.notification.map { Self.text(of: $0) } ?? "no notification is described"))
        if let saved { lines.append(("saved", Self.text(of: saved))) }
        if let firedBy { lines.append(("fired", "once, for \(Self.text(of: firedBy)), and does not fire again")) }
        try Columns.write(lines.map { [$0.0, $0.1] }, indentation: 4, to: output)
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

    // MARK: For programs

    func writeJSON(to output: Output) throws {
        var json = JSONWriter(output)
        json.beginObject()
        json.field("subscription", subscription.id)
        json.field("user", user)
        json.field("database", database.scope.name)
        json.field("owner", database.owner)
        json.field("kind", subscription.kind.name)
        if let recordType { json.field("type", recordType) }
        if let zone { json.field("zone", zone) }
        if !subscription.predicate.isEmpty { json.field("predicate", subscription.predicate) }
        json.field("options", subscription.options.names.joined(separator: " "))
        if let notification = subscription.notification {
            json.beginObject("notification")
            for (key, text) in notification.texts {
                json.key(key)
                json.value(text)
            }
            for (key, texts) in notification.lists {
                json.key(key)
                json.beginArray()
                for text in texts { json.value(text) }
                json.endArray()
            }
            json.beginArray("flags")
            for flag in notification.flags { json.value(flag) }
            json.endArray()
            json.endObject()
        } else {
            json.null("notification")
        }
        if let saved { json.field("saved", saved.tag) }
        if let firedBy { json.field("firedBy", firedBy.tag) }
        json.endObject()
        try output.endLine()
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
