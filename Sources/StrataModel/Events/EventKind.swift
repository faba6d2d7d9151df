/// The kind of an event. The numbers are on disk and never change (docs/format.md §7).
package struct EventKind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }

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

    /// All kinds of format 1 with the names that docs and tools use, in numeric order.
    package static let known: [(kind: EventKind, name: String)] = [
        (.nameInterned, "name interned"), (.databaseCreated, "database created"), (.recordSaved, "record saved"),
        (.recordDeleted, "record deleted"), (.recordErased, "record erased"), (.zoneSaved, "zone saved"),
        (.zoneDeleted, "zone deleted"), (.subscriptionSaved, "subscription saved"),
        (.subscriptionDeleted, "subscription deleted"), (.schemaChanged, "schema changed"),
        (.userChanged, "user changed"), (.deviceSeen, "device seen"),
        (.userRecordNamed, "user record named"), (.clientTokenKept, "client token kept"),
        (.longLivedOperation, "long-lived operation"), (.shareSaved, "share saved"),
        (.memberChanged, "member changed"), (.sharedRecord, "shared record"), (.keyChanged, "key changed"),
        (.baseMarker, "base marker"),
        (.continuation, "continuation"), (.tokensExpired, "tokens expired"), (.secretDrawn, "secret drawn"),
        (.rulesStated, "rules stated"),
        (.requestRefused, "request refused"), (.fetched, "fetched"),
        (.notificationDelivered, "notification delivered"), (.consoleActed, "console acted"),
        (.nothingToDelete, "nothing to delete"),
    ]

    /// True for audit events, which a reader that does not know them may skip. Other kinds may not be skipped.
    package var isAudit: Bool { rawValue >= 128 }

    /// True for events that accompany the first use of a name, a device, the store or its rules, in commits of every
    /// kind.
    package var isIncidental: Bool {
        [.nameInterned, .deviceSeen, .userRecordNamed, .secretDrawn, .rulesStated].contains(self)
    }

    package var description: String {
        Self.known.first { $0.kind == self }?.name ?? "unknown event \(rawValue)"
    }
}
