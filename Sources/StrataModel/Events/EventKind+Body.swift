extension EventKind {
    package static let nameInterned = EventKind(rawValue: 1)
    package static let databaseCreated = EventKind(rawValue: 2)
    package static let recordSaved = EventKind(rawValue: 16)
    package static let recordDeleted = EventKind(rawValue: 17)
    package static let recordErased = EventKind(rawValue: 18)
    package static let zoneSaved = EventKind(rawValue: 24)
    package static let zoneDeleted = EventKind(rawValue: 25)
    package static let subscriptionSaved = EventKind(rawValue: 32)
    package static let subscriptionDeleted = EventKind(rawValue: 33)
    package static let schemaChanged = EventKind(rawValue: 40)
    package static let userChanged = EventKind(rawValue: 48)
    package static let deviceSeen = EventKind(rawValue: 49)
    package static let userRecordNamed = EventKind(rawValue: 50)
    package static let clientTokenKept = EventKind(rawValue: 56)
    // Reserved: no release writes it.
    package static let longLivedOperation = EventKind(rawValue: 57)
    package static let shareSaved = EventKind(rawValue: 64)
    package static let memberChanged = EventKind(rawValue: 65)
    package static let sharedRecord = EventKind(rawValue: 66)
    // Reserved: no release writes it.
    package static let keyChanged = EventKind(rawValue: 72)
    package static let baseMarker = EventKind(rawValue: 80)
    // Reserved: no release writes it.
    package static let continuation = EventKind(rawValue: 81)
    package static let tokensExpired = EventKind(rawValue: 82)
    package static let secretDrawn = EventKind(rawValue: 83)
    package static let rulesStated = EventKind(rawValue: 84)
    package static let requestRefused = EventKind(rawValue: 128)
    package static let fetched = EventKind(rawValue: 129)
    package static let notificationDelivered = EventKind(rawValue: 130)
    package static let consoleActed = EventKind(rawValue: 131)
    package static let nothingToDelete = EventKind(rawValue: 132)

    /// All kinds of format 1 in numeric order, with the names that docs and tools use, and the types of their bodies.
    private static let table: [(kind: EventKind, name: String, body: (any EventBody.Type)?)] = [
        (.nameInterned, "name interned", nil),
        (.databaseCreated, "database created", DatabaseCreatedEvent.self),
        (.recordSaved, "record saved", RecordSavedEvent.self),
        (.recordDeleted, "record deleted", RecordDeletedEvent.self),
        (.recordErased, "record erased", RecordErasedEvent.self),
        (.zoneSaved, "zone saved", ZoneSavedEvent.self),
        (.zoneDeleted, "zone deleted", ZoneDeletedEvent.self),
        (.subscriptionSaved, "subscription saved", SubscriptionSavedEvent.self),
        (.subscriptionDeleted, "subscription deleted", SubscriptionDeletedEvent.self),
        (.schemaChanged, "schema changed", SchemaChangedEvent.self),
        (.userChanged, "user changed", UserChangedEvent.self),
        (.deviceSeen, "device seen", DeviceSeenEvent.self),
        (.userRecordNamed, "user record named", UserRecordNamedEvent.self),
        (.clientTokenKept, "client token kept", ClientTokenEvent.self),
        (.longLivedOperation, "long-lived operation", nil),
        (.shareSaved, "share saved", ShareSavedEvent.self),
        (.memberChanged, "member changed", MemberChangedEvent.self),
        (.sharedRecord, "shared record", SharedRecordEvent.self),
        (.keyChanged, "key changed", nil),
        (.baseMarker, "base marker", BaseMarkerEvent.self),
        (.continuation, "continuation", nil),
        (.tokensExpired, "tokens expired", TokensExpiredEvent.self),
        (.secretDrawn, "secret drawn", SecretDrawnEvent.self),
        (.rulesStated, "rules stated", RulesStatedEvent.self),
        (.requestRefused, "request refused", RequestRefusedEvent.self),
        (.fetched, "fetched", FetchedEvent.self),
        (.notificationDelivered, "notification delivered", NotificationDeliveredEvent.self),
        (.consoleActed, "console acted", ConsoleActedEvent.self),
        (.nothingToDelete, "nothing to delete", NothingToDeleteEvent.self),
    ]

    package static let known = table.map { (kind: $0.kind, name: $0.name) }

    /// The body type of this kind; nil if this release knows none.
    package var body: (any EventBody.Type)? { Self.table.first { $0.kind == self }?.body }

    /// True for events that accompany the first use of a name, a device, the store or its rules, in commits of every
    /// kind.
    package var isIncidental: Bool {
        [.nameInterned, .deviceSeen, .userRecordNamed, .secretDrawn, .rulesStated].contains(self)
    }

    package var description: String {
        Self.known.first { $0.kind == self }?.name ?? "unknown event \(rawValue)"
    }
}
