/// A user's subscription to changes. Its ordinals are the store's or, in a request, those of the request's own names.
public struct Subscription: Sendable, Hashable {
    public static let maximumPredicateBytes = 65_536

    /// The kinds of subscriptions. The numbers are CloudKit's, and on disk.
    public enum Kind: UInt8, Sendable, CaseIterable {
        case query = 1, recordZone, database

        package var name: String { self == .recordZone ? "zone" : words(of: self) }
    }

    public struct Options: OptionSet, Sendable, Hashable {
        public let rawValue: UInt64
        public init(rawValue: UInt64) { self.rawValue = rawValue }

        public static let creation = Self(rawValue: 1)
        public static let update = Self(rawValue: 2)
        public static let deletion = Self(rawValue: 4)
        public static let once = Self(rawValue: 8)

        /// The events for which a query subscription can fire.
        public static let events: Self = [.creation, .update, .deletion]

        /// The names of the options in bit order; options of a later release by number.
        package var names: [String] {
            let known: [(Self, String)] = [
                (.creation, "creation"), (.update, "update"), (.deletion, "deletion"), (.once, "once"),
            ]
            let unknown = subtracting(Self(known.map(\.0))).rawValue
            return known.filter { contains($0.0) }.map(\.1) + (unknown == 0 ? [] : ["\(unknown)"])
        }
    }

    public var id: String
    public var kind: Kind
    /// The ordinal of the watched zone; 0 for no specific zone.
    public var zone: UInt64
    /// The ordinal of the watched record type; 0 for any type.
    public var recordType: UInt64
    /// The predicate in format syntax; empty for none.
    public var predicate: String
    public var options: Options
    public var notification: NotificationInfo?

    public init(
        _ id: String, _ kind: Kind, zone: UInt64 = 0, recordType: UInt64 = 0, predicate: String = "",
        options: Options = [], notification: NotificationInfo? = nil
    ) {
        self.id = id
        self.kind = kind
        self.zone = zone
        self.recordType = recordType
        self.predicate = predicate
        self.options = options
        self.notification = notification
    }

    private enum Key {
        static let zone: UInt64 = 4
        static let recordType: UInt64 = 6
        static let predicate: UInt64 = 8
        static let options: UInt64 = 10
        static let notification: UInt64 = 13
    }

    func encode(into writer: inout ByteWriter, original: Version? = nil) throws {
        try StrataError.checkName(id, "a subscription id's bytes")
        let limit = Self.maximumPredicateBytes
        try StrataError.check("a predicate's bytes", count: predicate.utf8.count, atMost: limit)
        writer.appendString(id)
        writer.append(kind.rawValue)
        writer.appendField(CommonField.original, original?.packed ?? 0)
        writer.appendField(Key.zone, zone)
        writer.appendField(Key.recordType, recordType)
        writer.appendField(Key.predicate, text: predicate.isEmpty ? nil : predicate)
        writer.appendField(Key.options, options.rawValue)
        if let notification {
            try writer.appendField(Key.notification) { try notification.encode(into: &$0) }
        }
    }

    /// Reads to the end of the reader.
    static func read(from reader: inout ByteReader) throws -> (subscription: Subscription, original: Version?) {
        let id = try reader.readString("a subscription's id", atMost: Envelope.maximumNameBytes)
        var subscription = Subscription(id, try reader.readNumbered("a subscription's kind"))
        var original: Version?
        var fields = KeyedFields(restOf: &reader)
        while var field = try fields.next() {
            switch field.key {
            case CommonField.original: original = try field.version()
            case Key.zone: subscription.zone = try field.number("a subscription's zone")
            case Key.recordType: subscription.recordType = try field.number("a subscription's type")
            case Key.predicate:
                subscription.predicate = try field.text("a predicate", atMost: maximumPredicateBytes)
                guard !subscription.predicate.isEmpty else {
                    throw field.value.malformed("a predicate", expected: "left out when it is empty")
                }
            case Key.options:
                subscription.options = Options(rawValue: try field.number("a subscription's options"))
            case Key.notification: subscription.notification = try NotificationInfo(from: field.value)
            default: try field.skip()
            }
        }
        return (subscription, original)
    }
}

/// The event that creates or changes a user's subscription.
package struct SubscriptionSavedEvent: StatedEvent {
    package static let kind = EventKind.subscriptionSaved
    package static let shownFields = ShownFields<Self> {
        Shown("subscription", "its ID", after: "") { $0.subscription.id }
        Shown("subscriptionKind", "`query`, `zone` or `database`") { $0.subscription.kind.name }
        Shown("database", "ordinal of its database") { $0.database }
        Shown(.user, "ordinal of its user", after: " of ") { $0.user }
        Shown(after: ": ") { $0.subscription.kind.name }
        Shown(.zone, if: "if it is for one") { $0.subscription.zone == 0 ? nil : $0.subscription.zone }
        Shown(.recordType, "ordinal of the record type", if: "if it is for one", after: " of ") {
            $0.subscription.recordType == 0 ? nil : $0.subscription.recordType
        }
        Shown(after: " in ", .zone) { $0.subscription.zone }
        Shown("predicate", "as format text", if: "if it has one", after: " where ") {
            $0.subscription.predicate.isEmpty ? nil : $0.subscription.predicate
        }
        Shown("options", "`creation`, `update`, `deletion` and `once`, those that it has, separated by spaces") {
            $0.subscription.options.names.joined(separator: " ")
        }
        Shown(after: ", on ") { $0.subscription.options.names.joined(separator: ", ") }
        Shown("silent", "true if it shows nothing when it fires") { $0.subscription.notification == nil }
    }

    package var database: UInt64
    package var user: UInt64
    package var subscription: Subscription
    package var original: Version?

    package init(database: UInt64, user: UInt64, _ subscription: Subscription, original: Version? = nil) {
        self.database = database
        self.user = user
        self.subscription = subscription
        self.original = original
    }

    package func encode(into writer: inout ByteWriter) throws {
        writer.appendVarint(database)
        writer.appendVarint(user)
        try subscription.encode(into: &writer, original: original)
    }

    package init(from reader: inout ByteReader) throws {
        database = try reader.readVarint("a subscription's database")
        user = try reader.readVarint("a subscription's user")
        (subscription, original) = try Subscription.read(from: &reader)
    }
}

/// The event that deletes a subscription.
package struct SubscriptionDeletedEvent: EventBody {
    package static let kind = EventKind.subscriptionDeleted
    package static let shownFields = ShownFields<Self> {
        Shown("subscription", "its ID", after: "") { $0.id }
        Shown("database", "ordinal of its database") { $0.database }
        Shown(.user, "ordinal of its user", after: " of ") { $0.user }
        Shown("firedOnce", "true if it ended because it was to fire once, and fired", after: ", fired once") {
            $0.firedBy != nil
        }
        Shown("firedBy", "version of the event for which it fired", if: "if it fired", after: ", by ") { $0.firedBy }
    }

    package var database: UInt64
    package var user: UInt64
    package var id: String
    /// The event that the subscription fired for, if it ended because it fires only once.
    package var firedBy: Version?

    package init(database: UInt64, user: UInt64, id: String, firedBy: Version? = nil) {
        self.database = database
        self.user = user
        self.id = id
        self.firedBy = firedBy
    }

    private static let firedBy: UInt64 = 5

    package func encode(into writer: inout ByteWriter) throws {
        try StrataError.checkName(id, "a subscription id's bytes")
        writer.appendVarint(database)
        writer.appendVarint(user)
        writer.appendString(id)
        writer.appendMeasured { $0.appendField(Self.firedBy, firedBy?.packed ?? 0) }
    }

    package init(from reader: inout ByteReader) throws {
        database = try reader.readVarint("a subscription's database")
        user = try reader.readVarint("a subscription's user")
        id = try reader.readString("a subscription's id", atMost: Envelope.maximumNameBytes)
        var fields = try KeyedFields(from: &reader, "the fields of a deletion")
        try fields.read(only: Self.firedBy) { firedBy = try $0.version() }
    }
}
