import StrataModel
import StrataReplay
import StrataStore

/// Names that many events share without copying them.
final class SharedNames {
    private let names: KnownNames

    init(_ names: KnownNames) { self.names = names }

    func user(_ ordinal: UInt64) -> String? { names.user(ordinal) }
    func device(_ ordinal: UInt64) -> String? { names.device(ordinal) }
    func zone(_ ordinal: UInt64) -> String? { names.zone(ordinal) }
    func recordType(_ ordinal: UInt64) -> String? { names.recordType(ordinal) }
    func field(_ ordinal: UInt64) -> String? { names.field(ordinal) }
}

/// Describes events as JSON.
enum EventJSON {
    /// An event of a commit.
    struct Line {
        let event: Event
        let index: Int
        let commit: CommitJSON.Line
        let names: SharedNames
    }

    static func lines(
        of envelope: Envelope, in commit: CommitJSON.Line
    ) -> LazyMapSequence<EnumeratedSequence<[Event]>, Line> {
        let names = SharedNames(commit.names)
        return envelope.events.enumerated().lazy.map {
            Line(event: $0.element, index: $0.offset, commit: commit, names: names)
        }
    }

    static let shape = Shape<Line>(
        "An event", "With `--patch`, events of records also have the keys of [a patch](#a-patch)."
    ) {
        Key("kind", "number of its kind") { $0.event.kind.rawValue }
        Key("name", "its kind, as in [format.md](../format.md), §7, or `unknown event N`") { "\($0.event.kind)" }
        Key("bytes", "length of its body") { $0.event.body.count }
        Key(oneOf: bodies) { line, json in try write(EventDetail(line.event), line.names, to: &json) }
        Key(oneOf: []) { line, json in
            let names = line.commit.names
            guard let patch = line.commit.format.patch, let header = line.commit.header,
                let step = patch.step(of: line.event, at: line.index, in: line.commit.commit, header, names)
            else { return }
            try json.fields(of: (step, names), as: Self.patch)
        }
    }

    private static let bodies = [
        interned.description, saved.description, deleted.description, erased.description, zoneSaved.description,
        zoneDeleted.description, schemaChanged.description, subscriptionSaved.description,
        subscriptionDeleted.description, userChanged.description, notificationDelivered.description,
        refused.description,
        nothingToDelete.description, fetched.description, consoleActed.description, shareSaved.description,
        memberChanged.description, sharedRecord.description, userRecordNamed.description, secretDrawn.description,
        malformed.description,
    ]

    /// Writes the keys of an event's body.
    static func write(_ detail: EventDetail, _ names: SharedNames, to json: inout JSONWriter) throws {
        switch detail {
        case .interned(let interned): try json.fields(of: (interned, names), as: Self.interned)
        case .saved(let place, let save): try write(save, of: place, names, to: &json)
        case .deleted(let place, let deleted): try json.fields(of: (place, deleted, names), as: Self.deleted)
        case .erased(let place, let erased): try json.fields(of: (place, erased, names), as: Self.erased)
        case .zoneSaved(let saved): try json.fields(of: (saved, names), as: zoneSaved)
        case .zoneDeleted(let deleted): try json.fields(of: (deleted, names), as: zoneDeleted)
        case .schemaChanged(let changed): try json.fields(of: (changed, names), as: schemaChanged)
        case .subscriptionSaved(let saved): try json.fields(of: (saved, names), as: subscriptionSaved)
        case .subscriptionDeleted(let deleted): try json.fields(of: (deleted, names), as: subscriptionDeleted)
        case .userChanged(let changed): try json.fields(of: (changed, names), as: userChanged)
        case .notificationDelivered(let delivered): try json.fields(of: (delivered, names), as: notificationDelivered)
        case .refused(let refused): try json.fields(of: refused, as: Self.refused)
        case .nothingToDelete(let event): try json.fields(of: event, as: nothingToDelete)
        case .fetched(let fetched): try json.fields(of: fetched, as: Self.fetched)
        case .consoleActed(let note): try json.fields(of: note, as: consoleActed)
        case .shareSaved(let share): try json.fields(of: (share, names), as: shareSaved)
        case .memberChanged(let member): try json.fields(of: (member, names), as: memberChanged)
        case .sharedRecord(let shared): try json.fields(of: (shared, names), as: sharedRecord)
        case .userRecordNamed(let named): try json.fields(of: (named, names), as: userRecordNamed)
        case .secretDrawn(let drawn): try json.fields(of: drawn, as: secretDrawn)
        case .opaque: break
        case .malformed(let error): try json.fields(of: error, as: malformed)
        }
    }

    static let malformed = Shape<StrataError>("An event that cannot be decoded") {
        Key("malformed", "why the body cannot be decoded") { $0.description }
    }
}

// MARK: Names

extension EventJSON {
    static let interned = Shape<(interned: InternedName, names: SharedNames)>("name interned") {
        Key("namespace", "`user`, `device`, `database`, `zone`, `record type` or `field`") {
            $0.interned.name.namespace.noun
        }
        Key("ordinal", "the number that represents the name") { $0.interned.ordinal }
        Key("user", name: "userName", "ordinal of the device's user", if: "device") { value in
            if case .device(let user, _) = value.interned.name { (user, value.names.user(user)) } else { nil }
        }
        Key("scope", "`public`, `private` or `shared`", if: "database") {
            if case .database(let scope, _) = $0.interned.name { scope.name } else { nil }
        }
        Key("database", "ordinal of the zone's database", if: "zone") {
            if case .zone(let database, _, _) = $0.interned.name { database } else { nil }
        }
        Key("owner", "ordinal of the owning user", if: "database, zone") {
            switch $0.interned.name {
            case .database(_, let owner), .zone(_, let owner, _): owner
            default: nil
            }
        }
        Key("text", "the name", if: "except for databases") {
            switch $0.interned.name {
            case .user(let text), .recordType(let text), .field(let text), .device(_, let text), .zone(_, _, let text):
                text
            case .database: nil
            }
        }
    }

    fileprivate static let place = Shape<(place: EventDetail.Place, names: SharedNames)>("An event's record") {
        Key("zone", name: "zoneName", "ordinal") { ($0.place.zone, $0.names.zone($0.place.zone)) }
        Key("type", name: "typeName", "ordinal") { ($0.place.type, $0.names.recordType($0.place.type)) }
        Key("record", "name of the record") { $0.place.name }
    }
}

// MARK: Records

extension EventJSON {
    fileprivate static let saved = Shape<(place: EventDetail.Place, save: EventDetail.Save, names: SharedNames)>(
        "record saved"
    ) {
        Key(of: place) { ($0.place, $0.names) }
        Key("change", "`create`, `update` or `touch`") { $0.save.change.name }
        Key("policy", "`if server record unchanged`, `changed keys` or `all keys`") { $0.save.policy.name }
        Key("full", "true if the event holds the record's full state") { $0.save.isFull }
        Key("previous", "of the previous version", if: "if there is one") { $0.save.previous }
        Key("base", "that the client named", if: "if it did") { $0.save.base }
        Key("fields", "the fields that were sent, in the order of their ordinals", each: field) { event in
            event.save.fields.lazy.map {
                SentField(
                    ordinal: $0.ordinal, kind: $0.kind, byteCount: $0.bytes, declaration: nil,
                    share: event.save.shareState(of: $0, named: event.names.field($0.ordinal)), names: event.names)
            }
        }
        Key("erased", "true: its fields were erased later", if: "if so") { $0.save.isErased ? true : nil }
    }

    /// Writes the keys of ``saved``. Nearly all events of a log are saves, and a closure for each key would double the
    /// time of `log --json`.
    private static func write(
        _ save: EventDetail.Save, of place: EventDetail.Place, _ names: SharedNames, to json: inout JSONWriter
    ) throws {
        try json.field("zone", place.zone, nameKey: "zoneName", name: names.zone(place.zone))
        try json.field("type", place.type, nameKey: "typeName", name: names.recordType(place.type))
        try json.field("record", place.name)
        try json.field("change", save.change.name)
        try json.field("policy", save.policy.name)
        try json.field("full", save.isFull)
        if let previous = save.previous { try json.field("previous", previous) }
        if let base = save.base { try json.field("base", base) }
        json.beginArray("fields")
        for field in save.fields {
            json.beginObject()
            let name = names.field(field.ordinal)
            try json.field("field", field.ordinal, nameKey: "fieldName", name: name)
            try json.field("value", field.kind?.description ?? "removed")
            try json.field("valueBytes", field.bytes)
            if let share = save.shareState(of: field, named: name) { try json.field("share", share) }
            json.endObject()
        }
        json.endArray()
        if save.isErased { try json.field("erased", true) }
    }

    /// A field of a save or a declaration.
    private struct SentField {
        let ordinal: UInt64
        let kind: FieldKind?
        /// Nil for a declaration.
        let byteCount: Int?
        let declaration: SchemaField?
        /// Nil unless the value is the state of a share.
        var share: ShareState?
        let names: SharedNames
    }

    private static let field = Shape<SentField>(
        "A field",
        "A field of a save or of a declaration. Of values, only the state of a share is printed."
    ) {
        Key("field", name: "fieldName", "ordinal") { ($0.ordinal, $0.names.field($0.ordinal)) }
        Key(
            "value",
            "`string`, `int64`, `double`, `date`, `data`, `location`, `reference`, `asset`, `list of …`, `empty list`, "
                + "`encrypted`, `removed` or `unknown value N`"
        ) { $0.kind?.description ?? "removed" }
        Key("valueBytes", "length of the encoded value, 0 if it is removed", if: "record saved") { $0.byteCount }
        Key("share", "the participants and permissions", if: "record saved: the state of a share") { $0.share }
        Key("encrypted", "true if it is", if: "schema changed") { $0.declaration?.isEncrypted }
        Key(
            "indexes", "`QUERYABLE`, `SEARCHABLE` and `SORTABLE`, separated by spaces, may be empty",
            if: "schema changed"
        ) { $0.declaration?.indexes.schemaNames }
    }

    fileprivate static let deleted = Shape<(place: EventDetail.Place, event: RecordDeletedEvent, names: SharedNames)>(
        "record deleted"
    ) {
        Key(of: place) { ($0.place, $0.names) }
        Key("previous", "of the previous version", if: "if there is one") { $0.event.previous }
        Key("cascade", "true if the record was deleted together with another one") { $0.event.isCascade }
    }

    fileprivate static let erased = Shape<(place: EventDetail.Place, event: RecordErasedEvent, names: SharedNames)>(
        "record erased"
    ) {
        Key(of: place) { ($0.place, $0.names) }
        Key("previous", "of the previous version", if: "if there is one") { $0.event.previous }
        Key("reason", "the given reason", if: "if there is one") { $0.event.reason.nonempty }
    }

    static let patch = Shape<(step: TimelineStep, names: KnownNames)>("A patch") {
        Key(
            "changes",
            "links first, then fields in the order of their ordinals. Empty if nothing is known about them, or if the "
                + "record's content was erased",
            each: CommitPatchText.shape
        ) { patch in patch.step.changes.map { ($0, patch.names) } }
        Key("notAllKnown", "why not all changes are known, in words", if: "if so") { $0.step.problem?.description }
    }
}

// MARK: Zones, schemas, subscriptions

extension EventJSON {
    fileprivate static let zoneSaved = Shape<(event: ZoneSavedEvent, names: SharedNames)>("zone saved") {
        Key("zone", name: "zoneName", "ordinal") { ($0.event.zone, $0.names.zone($0.event.zone)) }
        Key("database", "ordinal of the zone's database") { $0.event.database }
        Key("incarnation", "version that began its life", if: "unless it is this event") { $0.event.incarnation }
        Key("capabilities", "sum of 1 fetch changes, 2 atomic, 4 sharing, 8 zone-wide sharing") {
            $0.event.capabilities.rawValue
        }
    }

    fileprivate static let zoneDeleted = Shape<(event: ZoneDeletedEvent, names: SharedNames)>("zone deleted") {
        Key("zone", name: "zoneName", "ordinal") { ($0.event.zone, $0.names.zone($0.event.zone)) }
        Key("database", "ordinal of the zone's database") { $0.event.database }
        Key("incarnation", "version that began its life", if: "if known") { $0.event.incarnation }
        Key("reason", "`deleted`, `purged` or `encrypted data reset`") { $0.event.reason.name }
    }

    fileprivate static let schemaChanged = Shape<(event: SchemaChangedEvent, names: SharedNames)>("schema changed") {
        Key("type", name: "typeName", "ordinal") { ($0.event.type, $0.names.recordType($0.event.type)) }
        Key("fields", "the fields that were declared, in the order of their ordinals", each: field) { value in
            value.event.fields.map {
                SentField(
                    ordinal: UInt64($0.field), kind: $0.kind, byteCount: nil, declaration: $0, names: value.names)
            }
        }
        Key("grants", "empty if the event says nothing about them", each: grant) { $0.event.grants }
    }

    private static let grant = Shape<SchemaGrant>("A grant") {
        Key("role", "its name") { $0.role }
        Key("permissions", "such as `READ, WRITE`") { $0.permissions.schemaNames }
    }

    fileprivate static let subscriptionSaved = Shape<(event: SubscriptionSavedEvent, names: SharedNames)>(
        "subscription saved"
    ) {
        Key("subscription", "its ID") { $0.event.subscription.id }
        Key("subscriptionKind", "`query`, `zone` or `database`") { $0.event.subscription.kind.name }
        Key("database", "ordinal of its database") { $0.event.database }
        Key("user", name: "userName", "ordinal of its user") { ($0.event.user, $0.names.user($0.event.user)) }
        Key("zone", name: "zoneName", "ordinal", if: "if it is for one") { value in
            let zone = value.event.subscription.zone
            return zone == 0 ? nil : (zone, value.names.zone(zone))
        }
        Key("type", name: "typeName", "ordinal of the record type", if: "if it is for one") { value in
            let type = value.event.subscription.recordType
            return type == 0 ? nil : (type, value.names.recordType(type))
        }
        Key("predicate", "as format text", if: "if it has one") { $0.event.subscription.predicate.nonempty }
        Key(
            "options", "`creation`, `update`, `deletion` and `once`, those that it has, separated by spaces"
        ) { $0.event.subscription.options.names.joined(separator: " ") }
        Key("silent", "true if it shows nothing when it fires") { $0.event.subscription.notification == nil }
    }

    fileprivate static let subscriptionDeleted = Shape<(event: SubscriptionDeletedEvent, names: SharedNames)>(
        "subscription deleted"
    ) {
        Key("subscription", "its ID") { $0.event.id }
        Key("database", "ordinal of its database") { $0.event.database }
        Key("user", name: "userName", "ordinal of its user") { ($0.event.user, $0.names.user($0.event.user)) }
        Key("firedOnce", "true if it ended because it was to fire once, and fired") { $0.event.firedBy != nil }
        Key("firedBy", "version of the event for which it fired", if: "if it fired") { $0.event.firedBy }
    }

    fileprivate static let userChanged = Shape<(event: UserChangedEvent, names: SharedNames)>("user changed") {
        Key("user", name: "userName", "ordinal") { ($0.event.user, $0.names.user($0.event.user)) }
        Key("status", "of the account, as in [a user](#a-user)") { $0.event.status.name }
        Key("quota", "bytes, 0 for none") { $0.event.quota }
        Key(of: Person.shape) { $0.event.person }
    }

    fileprivate static let notificationDelivered = Shape<(event: NotificationDeliveredEvent, names: SharedNames)>(
        "notification delivered"
    ) {
        Key(
            "device", name: "deviceName",
            "ordinal of the device that was notified. 0: the service itself, for how far it has read the log"
        ) { ($0.event.device, $0.names.device($0.event.device)) }
        Key("through", "the offset up to which it was notified of everything") { $0.event.through }
        Key("badge", "the number on its badge") { $0.event.badge }
    }
}

// MARK: Shares

extension EventJSON {
    fileprivate static let shareSaved = Shape<(event: ShareSavedEvent, names: SharedNames)>("share saved") {
        Key("share", "its number") { $0.event.share }
        Key("zone", name: "zoneName", "ordinal") { ($0.event.record.zone, $0.names.zone($0.event.record.zone)) }
        Key("record", "name of the share's record") { $0.event.record.name }
        Key("root", "name of the root record", if: "unless the whole zone is shared") { $0.event.root }
        Key("publicPermission", "`none`, `read only` or `read and write`") { $0.event.publicPermission.name }
        Key("oneTimeURLs", "how many it has") { $0.event.oneTimeTokens.count }
        Key("ended", "true if it has ended") { $0.event.isEnded }
    }

    fileprivate static let memberChanged = Shape<(event: MemberChangedEvent, names: SharedNames)>("member changed") {
        Key("user", name: "userName", "ordinal of the member") { ($0.event.user, $0.names.user($0.event.user)) }
        Key("share", "number of the share") { $0.event.share }
        Key("zone", name: "zoneName", "ordinal") { ($0.event.zone, $0.names.zone($0.event.zone)) }
        Key("role", "`administrator`, `private user` or `public user`") { $0.event.role.name }
        Key("permission", "`none`, `read only` or `read and write`") { $0.event.permission.name }
        Key("joined", "version of the event by which the user joined", if: "unless it is this event") {
            $0.event.joined
        }
        Key("accessEnded", "version of the event by which the access ended", if: "that was an earlier event") {
            $0.event.ended
        }
        Key("gone", "true if the user is no longer a member") { $0.event.isGone }
    }

    fileprivate static let sharedRecord = Shape<(event: SharedRecordEvent, names: SharedNames)>("shared record") {
        Key("zone", name: "zoneName", "ordinal") { ($0.event.record.zone, $0.names.zone($0.event.record.zone)) }
        Key("type", name: "typeName", "ordinal") { ($0.event.type, $0.names.recordType($0.event.type)) }
        Key("record", "name of the record") { $0.event.record.name }
        Key("share", "number of the share") { $0.event.share }
        Key("gone", "true if it no longer belongs to the share") { $0.event.isGone }
    }
}

// MARK: Names of users' records, and secrets

extension EventJSON {
    fileprivate static let userRecordNamed = Shape<(event: UserRecordNamedEvent, names: SharedNames)>(
        "user record named"
    ) {
        Key("user", name: "userName", "ordinal") { ($0.event.user, $0.names.user($0.event.user)) }
        Key("recordName", "name of the user's record") { $0.event.recordName }
    }

    fileprivate static let secretDrawn = Shape<SecretDrawnEvent>("secret drawn") {
        Key("secret", "its number. Its bytes are never printed") { $0.number }
    }
}

// MARK: Audits, which carry names as the client sent them

extension EventJSON {
    private static let request = Shape<(bytes: [UInt8]?, byteCount: UInt64)>("A request that was kept") {
        Key("asked", "the request in words, as far as kept") { AuditText.request($0.bytes, byteCount: $0.byteCount) }
        Key(
            "request", "the whole request (format.md, §19), in hexadecimal",
            if: "if it was kept, and has no URLs and addresses"
        ) { kept in
            let request = kept.bytes.flatMap { try? Request(decoding: $0[...]) }
            return request?.mayHaveAddresses == true ? nil : kept.bytes.map(hex)
        }
        Key("requestBytes", "its length", if: "if too long to be kept") { $0.byteCount > 0 ? $0.byteCount : nil }
    }

    fileprivate static let refused = Shape<RequestRefusedEvent>("request refused") {
        Key("code", "number of the error, as CKError has it, 2 if items were refused") { $0.code }
        Key("message", "the message of the refusal", if: "if there was one") { $0.message }
        Key("culprits", "the items that were refused", each: culprit) { $0.culprits }
        Key(of: request) { ($0.request, $0.requestBytes) }
    }

    private static let culprit = Shape<RequestRefusedEvent.Culprit>("A refused item") {
        Key("list", "`saves` or `deletes`") { "\($0.list)" }
        Key("index", "its place in the list") { $0.index }
        Key("code", "number of its error") { $0.code }
        Key("version", "that the store had", if: "if any") { $0.version }
    }

    fileprivate static let nothingToDelete = Shape<NothingToDeleteEvent>("nothing to delete") {
        Key("count", "how many records were to be deleted but did not exist") { $0.count }
        Key(of: request) { ($0.request, $0.requestBytes) }
    }

    fileprivate static let consoleActed = Shape<ConsoleNote>("console acted") {
        Key("text", "the action of the console") { $0.text }
        Key("userName", "the user that it concerns, empty for none") { $0.user }
        Key("deviceName", "the device that it concerns, empty for none") { $0.device }
    }

    fileprivate static let fetched = Shape<FetchedEvent>("fetched") {
        Key("question", "`records`, `query`, `database changes` or `zone changes`") { $0.question.name }
        Key(of: DatabaseID.scopeShape) { $0.database }
        Key("answeredAt", "offset of the state from which the request was answered") { $0.offset }
        Key("results", "how many results there were, in a feed including deletions") { $0.resultCount }
        Key("moreComing", "true if there were more results") { $0.moreComing }
        Key("zoneName", "of the zone whose changes were requested", if: "if there was one") { $0.zone?.name }
        Key("records", "the records that were requested", each: recordID, if: "of records") {
            let ids = (try? $0.ids()) ?? []
            return ids.isEmpty ? nil : ids
        }
        Key("desiredKeys", "the requested keys, with spaces", if: "if not all") {
            $0.desiredKeys?.joined(separator: " ")
        }
        Key("query", "the query, encoded as in a cursor, in hexadecimal", if: "of a query") { $0.query.map(hex) }
        Key("continued", "true: a page other than the first", if: "of a query, if so") { $0.isContinued ? true : nil }
        Key("givenToken", "the token in the request, in hexadecimal", if: "if there was one") { $0.givenToken.map(hex) }
        Key("returnedToken", "the change token that was returned", if: "if there was one") { $0.returnedToken.map(hex) }
    }

    private static let recordID = Shape<RecordID>("A requested record") {
        Key("ownerName", "of its zone") { $0.zone.owner }
        Key("zoneName", "of its zone") { $0.zone.name }
        Key("record", "its name") { $0.name }
    }

    private static func hex(of bytes: [UInt8]) -> String { bytes.map { hexadecimal($0) }.joined() }
}
