import StrataLog
import StrataModel
import StrataQuery
import StrataRules
import StrataTree
import StrataViews

/// Which subscriptions an event makes fire, and what is said of it. Serves events that one state has.
final class Matching {
    /// A subscription that fired and was to do so once.
    struct Fired {
        let entry: SubscriptionIndex.Entry
        let user: String
        let scope: InternedName.Scope
        let version: Version
    }

    private struct ReadyMatcher {
        /// Kept, so that no other takes its place in memory.
        let entry: SubscriptionIndex.Entry
        let time: Int64
        /// Nil for a predicate that does not fit any more what is there.
        let matcher: RecordMatcher?
    }

    private let notifier: Notifier
    private let snapshot: StoreSnapshot
    private let trees: Snapshot
    private var names: NameDirectory { snapshot.names }
    private var matchers: [ObjectIdentifier: ReadyMatcher] = [:]
    /// The commit that is looked at, and those that it has told already: once is enough (B188).
    private var told: (offset: UInt64, entries: Set<ObjectIdentifier>) = (0, [])
    private(set) var fired: [Fired] = []
    /// Of `fired`, which keeps them, so that no other takes the place of one in memory.
    private var firedEntries: Set<ObjectIdentifier> = []

    init(_ notifier: Notifier, _ snapshot: StoreSnapshot, _ trees: Snapshot) {
        self.notifier = notifier
        self.snapshot = snapshot
        self.trees = trees
    }

    /// Where an event was.
    private struct Place {
        let database: UInt64
        let id: DatabaseID
        let zone: ZoneID
        var isDefaultZone: Bool { zone.name == "_defaultZone" }
    }

    /// Calls `body` with each push that an event leads to, and with the device that it came from.
    func forEachPush(
        for happening: Happening, in index: SubscriptionIndex, _ body: (Push, _ origin: Actor?) throws -> Void
    ) throws {
        if index.isEmpty { return }
        let place = try place(of: happening.zone)
        let origin = try origin(of: happening)
        if !place.isDefaultZone {
            for entry in index.ofDatabase(place.database) where tells(entry, happening) {
                try body(try push(entry, .database, happening, place), origin)
            }
            for entry in index.ofZone(happening.zone) where !happening.isOfZone && tells(entry, happening) {
                try body(try push(entry, .zone(place.zone), happening, place), origin)
            }
        }
        guard case .record(let record, let type, let reason, let state) = happening.subject,
            let group = index.queries(place.database, type)
        else { return }
        let bytes = try notifier.reader.context.history.stateIfKept(of: record, at: state, trees)
        guard let bytes else { return }
        let values = try RecordValues(bytes, names, trees)
        let key = RecordKey.viewKey(zone: record.zone, name: Array(record.name.utf8))
        for entry in try group.candidates(values.value) where asks(entry, reason, happening) {
            guard !firedEntries.contains(ObjectIdentifier(entry)),
                try holds(entry, place, (type, key, bytes), happening.time)
            else { continue }
            var push = try push(
                entry, .record(RecordID(record.name, zone: place.zone), reason), happening, place)
            if reason != .deleted { push.fields = try values.values(entry.subscription.notification) }
            if entry.firesOnce {
                guard try tellsSomebody(entry, happening) else { continue }
                firedEntries.insert(ObjectIdentifier(entry))
                fired.append(
                    Fired(entry: entry, user: push.user, scope: place.id.scope, version: happening.version))
            }
            try body(push, origin)
        }
    }

    private func place(of zone: UInt64) throws -> Place {
        guard case .zone(let database, _, let name)? = try names.name(4, zone, in: trees),
            case .database(let scope, let owner)? = try names.name(3, database, in: trees)
        else {
            throw StrataError(.malformed, "An event is of a zone that has no name.", .init(found: "zone \(zone)"))
        }
        let id = DatabaseID(scope, owner: try names.user(owner, in: trees))
        return Place(database: database, id: id, zone: ZoneID(name))
    }

    private func origin(of happening: Happening) throws -> Actor? {
        guard happening.user != 0, happening.device != 0 else { return nil }
        return Actor(
            user: try names.user(happening.user, in: trees),
            device: try names.text(2, happening.device, in: trees))
    }

    /// Whether a subscription to a zone or database fires, and has not for the commit.
    private func tells(_ entry: SubscriptionIndex.Entry, _ happening: Happening) -> Bool {
        guard concerns(entry, happening) else { return false }
        if told.offset != happening.version.offset { told = (happening.version.offset, []) }
        return told.entries.insert(ObjectIdentifier(entry)).inserted
    }

    /// Of subscriptions to zones and databases (B187).
    private func concerns(_ entry: SubscriptionIndex.Entry, _ happening: Happening) -> Bool {
        guard entry.version < happening.version else { return false }
        let wanted = entry.subscription.recordType
        switch happening.subject {
        case .record(_, let type, _, _), .touch(let type): return wanted == 0 || wanted == type
        case .zone: return wanted == 0
        case .subscriptionSaved, .subscriptionDeleted: return false
        }
    }

    private func asks(
        _ entry: SubscriptionIndex.Entry, _ reason: Push.Reason, _ happening: Happening
    ) -> Bool {
        let wanted: Subscription.Options =
            switch reason {
            case .created: .creation
            case .updated: .update
            case .deleted: .deletion
            }
        let zone = entry.subscription.zone
        return entry.version < happening.version && entry.subscription.options.contains(wanted)
            && (zone == 0 || zone == happening.zone)
    }

    private func holds(
        _ entry: SubscriptionIndex.Entry, _ place: Place, _ record: (type: UInt64, key: [UInt8], state: [UInt8]),
        _ time: Int64
    ) throws -> Bool {
        if entry.predicate == .constant(true) { return true }
        let id = ObjectIdentifier(entry)
        var ready = matchers[id]
        if ready == nil || entry.asksTheTime && ready?.time != time {
            ready = ReadyMatcher(
                entry: entry, time: time, matcher: try makeMatcher(entry, place, record.type, time))
            matchers[id] = ready
        }
        return try ready?.matcher?.holds(key: record.key, state: record.state) ?? false
    }

    /// Nil for a predicate that does not fit any more what is there.
    private func makeMatcher(
        _ entry: SubscriptionIndex.Entry, _ place: Place, _ type: UInt64, _ time: Int64
    ) throws -> RecordMatcher? {
        let actor = Actor(user: try names.user(entry.key.user, in: trees))
        let named = StoreQueryNames(
            names: names, place: try names.place(DatabaseID(place.id.scope), actor, in: trees), actor: actor,
            trees: trees)
        let scene = try QueryScene(
            trees, touched: [], named, database: place.database, type: type, zone: nil, rules: notifier.queryRules,
            now: EngineDate.seconds(time))
        do { return try RecordMatcher(entry.predicate, scene) } catch let error as StrataError
            where error.code == .invalidArgument
        {
            return nil
        }
    }

    /// Whether the user has a device that would be told.
    private func tellsSomebody(_ entry: SubscriptionIndex.Entry, _ happening: Happening) throws -> Bool {
        if happening.user != entry.key.user { return true }
        var hasOther = false
        try trees.forEachDevice(of: entry.key.user) { device in
            hasOther = device != happening.device
            return !hasOther
        }
        return hasOther
    }

    private func push(
        _ entry: SubscriptionIndex.Entry, _ subject: Push.Subject, _ happening: Happening, _ place: Place
    ) throws -> Push {
        Push(
            subscriptionID: entry.subscription.id, user: try names.user(entry.key.user, in: trees),
            scope: place.id.scope, subject: subject, notification: entry.subscription.notification,
            version: happening.version, firstOffset: happening.version.offset)
    }
}

extension Happening {
    fileprivate var isOfZone: Bool {
        if case .zone = subject { true } else { false }
    }
}

/// Values of one state of a record, by their keys.
private final class RecordValues {
    private let bytes: [UInt8]
    private let names: NameDirectory
    private let trees: Snapshot

    init(_ bytes: [UInt8], _ names: NameDirectory, _ trees: Snapshot) throws {
        self.bytes = bytes
        self.names = names
        self.trees = trees
    }

    func value(_ key: String) throws -> FieldValue? {
        guard let field = try names.ordinal(of: .field(key), in: trees) else { return nil }
        return try bytes.withUnsafeBytes { bytes in
            try RecordStateView(bytes, in: 0..<bytes.count).fields().value(of: UInt32(field))
        }
    }

    /// What a notification says of the record.
    func values(_ notification: NotificationInfo?) throws -> [String: FieldValue] {
        guard let notification else { return [:] }
        let keys =
            (notification.desiredKeys ?? []) + (notification.alertLocalizationArguments ?? [])
            + (notification.titleLocalizationArguments ?? []) + (notification.subtitleLocalizationArguments ?? [])
        var values: [String: FieldValue] = [:]
        for key in Set(keys) { values[key] = try value(key) }
        return values
    }
}
