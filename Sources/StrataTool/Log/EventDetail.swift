import StrataModel

/// The decoded body of an event, as far as it is shown.
enum EventDetail {
    case interned(InternedName)
    case saved(Place, Save)
    case deleted(Place, RecordDeletedEvent)
    case erased(Place, RecordErasedEvent)
    case zoneSaved(ZoneSavedEvent)
    case zoneDeleted(ZoneDeletedEvent)
    case schemaChanged(SchemaChangedEvent)
    case subscriptionSaved(SubscriptionSavedEvent)
    case subscriptionDeleted(SubscriptionDeletedEvent)
    case userChanged(UserChangedEvent)
    case notificationDelivered(NotificationDeliveredEvent)
    case refused(RequestRefusedEvent)
    case fetched(FetchedEvent)
    case consoleActed(ConsoleNote)
    case nothingToDelete(NothingToDeleteEvent)
    case shareSaved(ShareSavedEvent)
    case memberChanged(MemberChangedEvent)
    case sharedRecord(SharedRecordEvent)
    case userRecordNamed(UserRecordNamedEvent)
    case secretDrawn(SecretDrawnEvent)
    /// A kind whose body is not shown.
    case opaque
    case malformed(StrataError)

    /// The fields that every record event begins with.
    struct Place {
        let zone: UInt64
        let type: UInt64
        let name: String
    }

    /// A save with the kinds and sizes of its values, but not the values.
    struct Save {
        struct Field {
            let ordinal: UInt64
            /// Nil for a key that was removed.
            let kind: FieldKind?
            let bytes: Int
        }

        let change: RecordSavedEvent.Change
        let policy: SavePolicy
        let isFull: Bool
        let isErased: Bool
        let previous: Version?
        let base: Version?
        let fields: [Field]
        /// The encoded event, for values that are shown.
        fileprivate let body: ArraySlice<UInt8>
    }

    init(_ event: Event) {
        do { self = try Self.decode(event) } catch {
            self = .malformed(
                error as? StrataError ?? StrataError(.malformed, "An event cannot be decoded.", cause: error))
        }
    }

    private static func decode(_ event: Event) throws -> EventDetail {
        switch event.kind {
        case .nameInterned: return .interned(try InternedName(decoding: event.body))
        case .recordSaved: return .saved(try Place(event), try Save(event.body))
        case .recordDeleted:
            return .deleted(try Place(event), try RecordDeletedEvent(decoding: event.body))
        case .recordErased:
            return .erased(try Place(event), try RecordErasedEvent(decoding: event.body))
        case .zoneSaved: return .zoneSaved(try ZoneSavedEvent(decoding: event.body))
        case .zoneDeleted: return .zoneDeleted(try ZoneDeletedEvent(decoding: event.body))
        case .schemaChanged: return .schemaChanged(try SchemaChangedEvent(decoding: event.body))
        case .subscriptionSaved: return .subscriptionSaved(try SubscriptionSavedEvent(decoding: event.body))
        case .subscriptionDeleted: return .subscriptionDeleted(try SubscriptionDeletedEvent(decoding: event.body))
        case .userChanged: return .userChanged(try UserChangedEvent(decoding: event.body))
        case .notificationDelivered:
            return .notificationDelivered(try NotificationDeliveredEvent(decoding: event.body))
        case .requestRefused: return .refused(try RequestRefusedEvent(decoding: event.body))
        case .fetched: return .fetched(try FetchedEvent(decoding: event.body))
        case .consoleActed: return .consoleActed(try ConsoleActedEvent(decoding: event.body).note)
        case .nothingToDelete: return .nothingToDelete(try NothingToDeleteEvent(decoding: event.body))
        case .shareSaved: return .shareSaved(try ShareSavedEvent(decoding: event.body))
        case .memberChanged: return .memberChanged(try MemberChangedEvent(decoding: event.body))
        case .sharedRecord: return .sharedRecord(try SharedRecordEvent(decoding: event.body))
        case .userRecordNamed: return .userRecordNamed(try UserRecordNamedEvent(decoding: event.body))
        case .secretDrawn: return .secretDrawn(try SecretDrawnEvent(decoding: event.body))
        default: return .opaque
        }
    }
}

extension EventDetail.Place {
    /// - Parameter event: an event of a record.
    init(_ event: Event) throws {
        self = try event.body.withUnsafeBytes { bytes in
            let record = try RecordEvent(event.kind, bytes)
            return Self(zone: record.zone, type: record.type, name: try record.name)
        }
    }
}

extension EventDetail.Save {
    fileprivate init(_ body: ArraySlice<UInt8>) throws {
        self = try body.withUnsafeBytes { bytes in
            let view = try RecordSavedView(bytes, in: 0..<bytes.count)
            let table = try view.fields
            let fields = try (0..<table.count).map { index in
                Field(
                    ordinal: UInt64(table.ordinal(at: index)), kind: try table.kind(at: index),
                    bytes: try table.range(at: index).count)
            }
            return Self(
                change: view.change, policy: view.policy, isFull: view.isFull, isErased: view.isErased,
                previous: view.previous, base: view.base, fields: fields, body: body)
        }
    }

    /// Returns the value of a field as the state of a share; nil if it is none.
    func shareState(of field: Field, named name: String?) -> ShareState? {
        guard name == ShareState.key, let saved = try? RecordSavedEvent(decoding: body) else { return nil }
        return ShareState(saved.fields.first { UInt64($0.field) == field.ordinal }?.value)
    }
}

extension RecordSavedEvent.Change {
    var name: String {
        switch self {
        case .create: "create"
        case .update: "update"
        case .touch: "touch"
        }
    }
}

extension SavePolicy {
    var name: String {
        switch self {
        case .ifServerRecordUnchanged: "if server record unchanged"
        case .changedKeys: "changed keys"
        case .allKeys: "all keys"
        }
    }
}

extension ZoneDeletedEvent.Reason {
    var name: String {
        switch self {
        case .deleted: "deleted"
        case .purged: "purged"
        case .encryptedDataReset: "encrypted data reset"
        }
    }
}

extension Subscription.Kind {
    var name: String {
        switch self {
        case .query: "query"
        case .recordZone: "zone"
        case .database: "database"
        }
    }
}

extension Subscription.Options {
    /// The names of the options in bit order; options of a later release by number.
    var names: [String] {
        let known: [(Self, String)] = [
            (.creation, "creation"), (.update, "update"), (.deletion, "deletion"), (.once, "once"),
        ]
        let unknown = subtracting(Self(known.map(\.0))).rawValue
        return known.filter { contains($0.0) }.map(\.1) + (unknown == 0 ? [] : ["\(unknown)"])
    }
}

extension InternedName.Scope {
    var name: String {
        switch self {
        case .public: "public"
        case .private: "private"
        case .shared: "shared"
        }
    }
}
