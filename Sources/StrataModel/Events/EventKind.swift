/// The kind of an event. The numbers are on disk and never change (docs/format.md §7).
public struct EventKind: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    public static let nameInterned = EventKind(rawValue: 1)
    public static let databaseCreated = EventKind(rawValue: 2)
    public static let recordSaved = EventKind(rawValue: 16)
    public static let recordDeleted = EventKind(rawValue: 17)
    public static let recordErased = EventKind(rawValue: 18)
    public static let zoneSaved = EventKind(rawValue: 24)
    public static let zoneDeleted = EventKind(rawValue: 25)
    public static let subscriptionSaved = EventKind(rawValue: 32)
    public static let subscriptionDeleted = EventKind(rawValue: 33)
    public static let schemaChanged = EventKind(rawValue: 40)
    public static let userChanged = EventKind(rawValue: 48)
    public static let deviceSeen = EventKind(rawValue: 49)
    public static let clientTokenKept = EventKind(rawValue: 56)
    public static let longLivedOperation = EventKind(rawValue: 57)
    public static let shareSaved = EventKind(rawValue: 64)
    public static let participantsChanged = EventKind(rawValue: 65)
    public static let keyChanged = EventKind(rawValue: 72)
    public static let baseMarker = EventKind(rawValue: 80)
    public static let continuation = EventKind(rawValue: 81)
    public static let tokensExpired = EventKind(rawValue: 82)
    public static let requestRefused = EventKind(rawValue: 128)
    public static let fetched = EventKind(rawValue: 129)
    public static let notificationDelivered = EventKind(rawValue: 130)
    public static let consoleActed = EventKind(rawValue: 131)
    public static let nothingToDelete = EventKind(rawValue: 132)

    /// All kinds of format 1 with the names that docs and tools use, in numeric order.
    public static let known: [(kind: EventKind, name: String)] = [
        (.nameInterned, "name interned"), (.databaseCreated, "database created"), (.recordSaved, "record saved"),
        (.recordDeleted, "record deleted"), (.recordErased, "record erased"), (.zoneSaved, "zone saved"),
        (.zoneDeleted, "zone deleted"), (.subscriptionSaved, "subscription saved"),
        (.subscriptionDeleted, "subscription deleted"), (.schemaChanged, "schema changed"),
        (.userChanged, "user changed"), (.deviceSeen, "device seen"), (.clientTokenKept, "client token kept"),
        (.longLivedOperation, "long-lived operation"), (.shareSaved, "share saved"),
        (.participantsChanged, "participants changed"), (.keyChanged, "key changed"), (.baseMarker, "base marker"),
        (.continuation, "continuation"), (.tokensExpired, "tokens expired"), (.requestRefused, "request refused"),
        (.fetched, "fetched"), (.notificationDelivered, "notification delivered"), (.consoleActed, "console acted"),
        (.nothingToDelete, "nothing to delete"),
    ]

    /// True for audit events, which a reader that does not know them may skip. Other kinds may not be skipped.
    public var isAudit: Bool { rawValue >= 128 }

    public var description: String {
        Self.known.first { $0.kind == self }?.name ?? "unknown event \(rawValue)"
    }
}
