import StrataModel

/// A store's state, folded from whole decoded events into dictionaries: slow and plain, and nothing of it shared with
/// the fold under test.
struct PlainStore {
    struct Zone {
        var status: UInt8
        var database: UInt64
        var version: Version
        var incarnation: Version
        var lastChanged: UInt64
        var capabilities: UInt64 = 0
        var scope: UInt8 = 0
    }

    struct Row<Value> {
        var version: Version
        var value: Value
    }

    var names: [UInt8: [UInt64: InternedName.Name]] = [:]
    var records: [RecordKey: RecordState] = [:]
    var zones: [UInt64: Zone] = [:]
    var subscriptions: [[UInt8]: Row<SubscriptionSavedEvent>] = [:]
    var schema: [UInt64: Row<SchemaChangedEvent>] = [:]
    var users: [UInt64: Row<UserChangedEvent>] = [:]
    var devices: [UInt64: Row<DeviceSeenEvent>] = [:]
    var clientTokens: [[UInt64]: Row<ClientTokenEvent>] = [:]
    var databases: [UInt64: Row<DatabaseCreatedEvent>] = [:]
    var expiredTokens: [UInt64: Row<TokensExpiredEvent>] = [:]
    var recordNames: [UInt64: Row<UserRecordNamedEvent>] = [:]
    var secrets: [UInt64: Row<SecretDrawnEvent>] = [:]
    /// By the offsets of their events.
    var statedRules: [UInt64: Row<RulesStatedEvent>] = [:]
    var deliveries: [UInt64: Row<NotificationDeliveredEvent>] = [:]
    var shares: [UInt64: Row<ShareSavedEvent>] = [:]
    var members: [[UInt64]: Row<MemberChangedEvent>] = [:]
    var sharedRecords: [[UInt8]: Row<SharedRecordEvent>] = [:]
    /// With the versions of the events that made them fire.
    var fired: [[UInt8]: Row<SubscriptionSavedEvent>] = [:]
    /// With their sizes.
    var assets: [ContentHash: Row<UInt64>] = [:]

    init(_ commits: [SampleCommit] = []) throws {
        for commit in commits { try apply(commit) }
    }

    mutating func apply(_ commit: SampleCommit) throws {
        let envelope = try Envelope(decoding: commit.payload[...])
        for (index, event) in envelope.events.enumerated() {
            try apply(event, commit, envelope.header, Version(offset: commit.offset, eventIndex: UInt32(index)))
        }
    }

    private mutating func apply(
        _ event: Event, _ commit: SampleCommit, _ header: EnvelopeHeader, _ version: Version
    ) throws {
        let body = event.body
        switch event.kind {
        case .nameInterned:
            let name = try InternedName(decoding: body)
            names[name.name.namespace.rawValue, default: [:]][name.ordinal] = name.name
        case .recordSaved: save(try RecordSavedEvent(decoding: body), commit.time, header, version)
        case .recordDeleted:
            let event = try RecordDeletedEvent(decoding: body)
            records[event.record] = nil
            zones[event.record.zone]?.lastChanged = version.offset
        case .recordErased:
            let event = try RecordErasedEvent(decoding: body)
            guard event.previous != nil else { break }
            records[event.record] = nil
            zones[event.record.zone]?.lastChanged = version.offset
        case .zoneSaved: save(try ZoneSavedEvent(decoding: body), version)
        case .zoneDeleted: delete(try ZoneDeletedEvent(decoding: body), version)
        case .subscriptionSaved:
            let event = try SubscriptionSavedEvent(decoding: body)
            fired[Self.key(event.user, event.database, event.subscription.id)] = nil
            subscriptions[Self.key(event.database, event.user, event.subscription.id)] = Row(
                version: version, value: event)
        case .subscriptionDeleted:
            let event = try SubscriptionDeletedEvent(decoding: body)
            let key = Self.key(event.database, event.user, event.id)
            if let by = event.firedBy, let known = subscriptions[key] {
                fired[Self.key(event.user, event.database, event.id)] = Row(version: by, value: known.value)
            }
            subscriptions[key] = nil
        case .notificationDelivered:
            let event = try NotificationDeliveredEvent(decoding: body)
            deliveries[event.device] = Row(version: version, value: event)
        case .schemaChanged: declare(try SchemaChangedEvent(decoding: body), version)
        case .userChanged:
            let event = try UserChangedEvent(decoding: body)
            users[event.user] = Row(version: version, value: event)
        case .userRecordNamed:
            let event = try UserRecordNamedEvent(decoding: body)
            recordNames[event.user] = Row(version: version, value: event)
        case .deviceSeen:
            let event = try DeviceSeenEvent(decoding: body)
            devices[event.device] = Row(version: version, value: event)
        case .clientTokenKept:
            let event = try ClientTokenEvent(decoding: body)
            clientTokens[[event.zone, event.device]] = Row(version: version, value: event)
        case .databaseCreated:
            let event = try DatabaseCreatedEvent(decoding: body)
            databases[event.database] = Row(version: version, value: event)
        case .tokensExpired:
            let event = try TokensExpiredEvent(decoding: body)
            expiredTokens[event.database] = Row(version: version, value: event)
        case .secretDrawn:
            let event = try SecretDrawnEvent(decoding: body)
            secrets[event.number] = Row(version: version, value: event)
        case .rulesStated:
            statedRules[version.offset] = Row(version: version, value: try RulesStatedEvent(decoding: body))
        default: try applyShare(event, version)
        }
    }

    private mutating func applyShare(_ event: Event, _ version: Version) throws {
        let body = event.body
        switch event.kind {
        case .shareSaved:
            let event = try ShareSavedEvent(decoding: body)
            shares[event.share] = Row(version: version, value: event)
        case .memberChanged:
            let event = try MemberChangedEvent(decoding: body)
            members[[event.user, event.zone, event.share]] = Row(version: version, value: event)
        case .sharedRecord:
            let event = try SharedRecordEvent(decoding: body)
            let key = PlainKey.number(event.record.zone) + PlainKey.recordName(event.record.name)
            sharedRecords[key + PlainKey.number(event.share)] = Row(version: version, value: event)
        default: break
        }
    }

    static func key(_ database: UInt64, _ user: UInt64, _ id: String) -> [UInt8] {
        PlainKey.number(database) + PlainKey.number(user) + PlainKey.lastName(id)
    }

    private mutating func save(
        _ event: RecordSavedEvent, _ time: Int64, _ header: EnvelopeHeader, _ version: Version
    ) {
        for value in event.fields.compactMap(\.value) {
            let values: [FieldValue] = if case .list(let list) = value { list.elements } else { [value] }
            for case .asset(let asset) in values { assets[asset.hash] = Row(version: version, value: asset.size) }
        }
        let old = records[event.record]
        let kept = event.change == .touch ? old?.header : nil
        let modified = event.modified ?? kept?.modified ?? time
        let modifiedBy = event.modifiedBy ?? kept?.modifiedBy ?? header.user
        var fields: [UInt32: FieldValue] = [:]
        if !event.isFull { for field in old?.fields ?? [] { fields[field.field] = field.value } }
        for change in event.fields { fields[change.field] = change.value }
        func link(_ change: LinkChange, _ kept: RecordKey?) -> RecordKey? {
            switch change {
            case .kept: event.isFull ? nil : kept
            case .removed: nil
            case .set(let key): key
            }
        }
        records[event.record] = RecordState(
            header: RecordHeader(
                version: version, type: event.type, created: event.created ?? old?.header.created ?? modified,
                createdBy: event.createdBy ?? old?.header.createdBy ?? modifiedBy, modified: modified,
                modifiedBy: modifiedBy, modifiedWith: event.modifiedWith ?? kept?.modifiedWith ?? header.device,
                eventsSinceFull: event.isFull ? 0 : (old?.header.eventsSinceFull ?? 0) + 1),
            parent: link(event.parent, old?.parent), share: link(event.share, old?.share),
            longName: event.record.name.utf8.count > 300 ? event.record.name : nil,
            fields: fields.sorted { $0.key < $1.key }.map { RecordField($0.key, $0.value) })
        zones[event.record.zone]?.lastChanged = version.offset
    }

    private mutating func save(_ event: ZoneSavedEvent, _ version: Version) {
        zones[event.zone] = Zone(
            status: 1, database: event.database, version: version, incarnation: event.incarnation ?? version,
            lastChanged: version.offset, capabilities: event.capabilities.rawValue,
            scope: event.encryptionScope == .zone ? 1 : 0)
    }

    private mutating func delete(_ event: ZoneDeletedEvent, _ version: Version) {
        for key in records.keys where key.zone == event.zone { records[key] = nil }
        sharedRecords = sharedRecords.filter { $0.value.value.record.zone != event.zone }
        let incarnation = zones[event.zone]?.incarnation ?? version
        zones[event.zone] = Zone(
            status: event.reason.rawValue + 1, database: event.database, version: version, incarnation: incarnation,
            lastChanged: version.offset)
    }

    /// Fields that are not named stay.
    private mutating func declare(_ event: SchemaChangedEvent, _ version: Version) {
        var fields: [UInt32: SchemaField] = [:]
        for field in schema[event.type]?.value.fields ?? [] { fields[field.field] = field }
        for field in event.fields { fields[field.field] = field }
        let all = fields.values.sorted { $0.field < $1.field }
        let grants = event.grants.isEmpty ? schema[event.type]?.value.grants ?? [] : event.grants
        schema[event.type] = Row(
            version: version, value: SchemaChangedEvent(type: event.type, fields: all, grants: grants))
    }
}
