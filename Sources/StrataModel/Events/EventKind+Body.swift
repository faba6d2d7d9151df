extension EventKind {
    /// The body type of this kind; nil if this release knows none.
    package var body: (any EventBody.Type)? { Self.bodies.first { $0.kind == self } }

    private static let bodies: [any EventBody.Type] = [
        DatabaseCreatedEvent.self, RecordSavedEvent.self, RecordDeletedEvent.self, RecordErasedEvent.self,
        ZoneSavedEvent.self, ZoneDeletedEvent.self, SubscriptionSavedEvent.self, SubscriptionDeletedEvent.self,
        SchemaChangedEvent.self, UserChangedEvent.self, DeviceSeenEvent.self, UserRecordNamedEvent.self,
        ClientTokenEvent.self,
        ShareSavedEvent.self, MemberChangedEvent.self, SharedRecordEvent.self, BaseMarkerEvent.self,
        TokensExpiredEvent.self, SecretDrawnEvent.self, RulesStatedEvent.self, RequestRefusedEvent.self,
        NotificationDeliveredEvent.self, ConsoleActedEvent.self, NothingToDeleteEvent.self, FetchedEvent.self,
    ]
}
