import StrataLog
import StrataModel
import StrataQuery
import StrataRules
import StrataTree
import StrataViews

/// Finds the subscriptions that an event makes fire, and builds their pushes. Serves the events of one state.
final class Matching {
    /// A subscription that fires once and has fired.
    struct Fired {
        let entry: SubscriptionIndex.Entry
        let user: String
        let scope: InternedName.Scope
        let version: Version
    }

    private struct ReadyMatcher {
        /// Retained so that no other object takes its address.
        let entry: SubscriptionIndex.Entry
        let time: Int64
        /// Nil for a predicate that no longer fits the schema.
        let matcher: RecordMatcher?
    }

    private let snapshot: StoreSnapshot
    private let trees: Snapshot
    private let queryRules: QueryRules
    private var names: Directory { snapshot.names }
    private var matchers: [ObjectIdentifier: ReadyMatcher] = [:]
    /// The current commit, and the entries already notified of it: once is enough (B188).
    private var notified: (offset: UInt64, entries: Set<ObjectIdentifier>) = (0, [])
    private(set) var fired: [Fired] = []
    /// The identities of the entries in `fired`, which retains them so that no other object takes their addresses.
    private var firedEntries: Set<ObjectIdentifier> = []

    init(_ snapshot: StoreSnapshot, _ trees: Snapshot, _ queryRules: QueryRules) {
        self.snapshot = snapshot
        self.trees = trees
        self.queryRules = queryRules
    }

    /// The zone of an event, and the zone's database.
    private struct Place {
        let database: UInt64
        let id: DatabaseID
        let zone: ZoneID
    }

    /// Calls `body` with each push that an event causes, and with the device that the event came from.
    func forEachPush(
        for happening: SubscriptionTrigger, in index: SubscriptionIndex, _ body: (Push, _ origin: Actor?) throws -> Void
    ) throws {
        if index.isEmpty { return }
        let place = try place(of: happening.zone)
        let origin = try origin(of: happening)
        for entry in index.ofMembers(concernedBy: happening)
        where decide(entry, happening, in: place, isOfMember: true) == .fires {
            var push = try push(entry, .database, happening, in: place)
            push.scope = .shared
            try body(push, origin)
        }
        if happening.isOfMembers { return }
        if !place.zone.isDefault {
            for entry in index.ofDatabase(place.database) where decide(entry, happening, in: place) == .fires {
                try body(try push(entry, .database, happening, in: place), origin)
            }
            for entry in index.ofZone(happening.zone) where decide(entry, happening, in: place) == .fires {
                try body(try push(entry, .zone(place.zone), happening, in: place), origin)
            }
        }
        guard case .record(let record, let type, let reason, _) = happening.subject,
            let group = index.queries(place.database, type), let asked = try askedRecord(of: happening)
        else { return }
        let values = try RecordValues(asked.bytes, names, trees)
        for entry in try group.candidates(values.value)
        where try decide(entry, asked, happening, in: place) == .fires {
            var push = try push(
                entry, .record(RecordID(record.name, zone: place.zone), reason), happening, in: place)
            if reason != .deleted { push.fields = try values.values(entry.subscription.notification) }
            try body(push, origin)
        }
    }

    /// Returns the verdict on an event for each subscription, in order, and the result of its predicate if it asks for
    /// the record's type. The entries must be the same objects for all events of a commit.
    func verdicts(
        on happening: SubscriptionTrigger, for entries: [SubscriptionIndex.Entry]
    ) throws -> [(verdict: SubscriptionVerdict, holds: Bool?)] {
        let place = try place(of: happening.zone)
        let asked = try askedRecord(of: happening)
        var index = SubscriptionIndex()
        for entry in entries where entry.subscription.kind == .database { try index.insert(entry, in: trees) }
        let concerned = index.ofMembers(concernedBy: happening)
        return try entries.map { entry in
            guard entry.subscription.kind == .query else {
                let isOfMember = concerned.contains { $0 === entry }
                return (decide(entry, happening, in: place, isOfMember: isOfMember), nil)
            }
            guard let asked else {
                let verdict = asks(entry, happening, place)
                return (verdict == .fires ? .stateIsGone : verdict, nil)
            }
            let isOfType = entry.key.database == place.database && entry.subscription.recordType == asked.type
            let holds = isOfType ? try holds(entry, asked, in: place, at: happening.time) : nil
            return (try decide(entry, asked, happening, in: place), holds)
        }
    }

    /// Returns true if the predicate of a query subscription holds for another state of an event's record; nil if that
    /// is not known.
    func holds(_ entry: SubscriptionIndex.Entry, _ happening: SubscriptionTrigger, at version: Version) throws -> Bool?
    {
        guard let asked = try askedRecord(of: happening, at: version) else { return nil }
        return try holds(entry, asked, in: try place(of: happening.zone), at: happening.time)
    }

    /// Marks a subscription that fires once as already fired.
    func setFired(_ entry: SubscriptionIndex.Entry) { firedEntries.insert(ObjectIdentifier(entry)) }

    /// A state of a record on which predicates are evaluated.
    private struct AskedRecord {
        let type: UInt64
        let key: [UInt8]
        let bytes: [UInt8]
    }

    /// Returns nil if the event has no record, or if the state was removed or erased.
    private func askedRecord(of happening: SubscriptionTrigger, at version: Version? = nil) throws -> AskedRecord? {
        guard case .record(let record, let type, _, let state) = happening.subject else { return nil }
        let bytes = try snapshot.context.history.stateIfKept(of: record, at: version ?? state, trees)
        let key = RecordKey.viewKey(zone: record.zone, name: Array(record.name.utf8))
        return bytes.map { AskedRecord(type: type, key: key, bytes: $0) }
    }

    private func place(of zone: UInt64) throws -> Place {
        let names = names.resolver(in: trees)
        let (id, name) = try names.requiredZone(zone)
        return Place(database: try names.databaseOrdinal(ofZone: zone) ?? 0, id: id, zone: ZoneID(name))
    }

    private func origin(of happening: SubscriptionTrigger) throws -> Actor? {
        guard happening.user != 0, happening.device != 0 else { return nil }
        return Actor(
            user: try names.user(happening.user, in: trees),
            device: try names.text(.device, happening.device, in: trees))
    }

    // MARK: Deciding

    /// Returns the verdict on an event for a subscription to a zone or database. If it fires, it counts as notified of
    /// the commit.
    ///
    /// - Parameter isOfMember: true for a subscription to the shared database of a member whom the event concerns.
    private func decide(
        _ entry: SubscriptionIndex.Entry, _ happening: SubscriptionTrigger, in place: Place, isOfMember: Bool = false
    ) -> SubscriptionVerdict {
        let verdict = isOfMember ? isWanted(happening, by: entry) : concerns(entry, happening, place)
        guard verdict == .fires else { return verdict }
        if notified.offset != happening.version.offset { notified = (happening.version.offset, []) }
        return notified.entries.insert(ObjectIdentifier(entry)).inserted ? .fires : .toldAlready
    }

    /// Returns the verdict for a subscription to a zone or database, regardless of the commit's other events (B187).
    private func concerns(
        _ entry: SubscriptionIndex.Entry, _ happening: SubscriptionTrigger, _ place: Place
    ) -> SubscriptionVerdict {
        let subscription = entry.subscription
        guard entry.key.database == place.database else { return .otherDatabase }
        if happening.isOfMembers { return .noRecord }
        if place.zone.isDefault { return .defaultZone }
        if subscription.kind == .recordZone {
            if subscription.zone != happening.zone { return .otherZone }
            if happening.isOfZone { return .zoneItself }
        }
        return isWanted(happening, by: entry)
    }

    private func isWanted(
        _ happening: SubscriptionTrigger, by entry: SubscriptionIndex.Entry
    ) -> SubscriptionVerdict {
        guard entry.version < happening.version else { return .savedLater }
        let wanted = entry.subscription.recordType
        switch happening.subject {
        case .record(_, let type, _, _), .touch(let type), .sharedRecord(_, let type):
            return wanted == 0 || wanted == type ? .fires : .otherType
        case .zone, .member: return wanted == 0 ? .fires : .zoneItself
        case .subscriptionSaved, .subscriptionDeleted: return .noRecord
        }
    }

    /// Returns the verdict on an event for a query subscription. If it fires and fires only once, it counts as fired.
    private func decide(
        _ entry: SubscriptionIndex.Entry, _ asked: AskedRecord, _ happening: SubscriptionTrigger, in place: Place
    ) throws -> SubscriptionVerdict {
        let verdict = asks(entry, happening, place)
        guard verdict == .fires else { return verdict }
        if firedEntries.contains(ObjectIdentifier(entry)) { return .usedUp }
        guard try mayRead(entry, asked, in: place) else { return .notReadable }
        guard let holds = try holds(entry, asked, in: place, at: happening.time) else { return .predicateDoesNotFit }
        if !holds { return .predicateFails }
        guard entry.firesOnce else { return .fires }
        guard try notifiesAnyone(entry, happening) else { return .nobodyElse }
        firedEntries.insert(ObjectIdentifier(entry))
        fired.append(
            Fired(
                entry: entry, user: try names.user(entry.key.user, in: trees), scope: place.id.scope,
                version: happening.version))
        return .fires
    }

    /// Returns true if the subscription's user may read the state of the record, by the current grants and roles.
    private func mayRead(
        _ entry: SubscriptionIndex.Entry, _ asked: AskedRecord, in place: Place
    ) throws -> Bool {
        guard place.id.scope == .public else { return true }
        var access = RecordAccess(.public, .user(entry.key.user), snapshot.context, trees)
        return try asked.bytes.withUnsafeBytes { bytes in
            try access.mayRead(RecordStateView(bytes, in: 0..<bytes.count).header())
        }
    }

    /// Returns the verdict for a query subscription, regardless of its predicate.
    private func asks(
        _ entry: SubscriptionIndex.Entry, _ happening: SubscriptionTrigger, _ place: Place
    ) -> SubscriptionVerdict {
        guard entry.key.database == place.database else { return .otherDatabase }
        guard case .record(_, let type, let reason, _) = happening.subject else { return .noRecord }
        let subscription = entry.subscription
        guard subscription.recordType == type else { return .otherType }
        guard entry.version < happening.version else { return .savedLater }
        guard subscription.options.contains(reason.option) else { return .notAsked }
        return subscription.zone == 0 || subscription.zone == happening.zone ? .fires : .otherZone
    }

    /// Returns nil for a predicate that no longer fits the schema, or whose regular expression takes too long.
    private func holds(
        _ entry: SubscriptionIndex.Entry, _ asked: AskedRecord, in place: Place, at time: Int64
    ) throws -> Bool? {
        if entry.predicate == .constant(true) { return true }
        let id = ObjectIdentifier(entry)
        var ready = matchers[id]
        if ready == nil || entry.asksTheTime && ready?.time != time {
            ready = ReadyMatcher(
                entry: entry, time: time, matcher: try makeMatcher(entry, of: asked.type, in: place, at: time))
            matchers[id] = ready
        }
        do { return try ready?.matcher?.holds(key: asked.key, state: asked.bytes) } catch let error as StrataError
            where error.code == .tooLarge
        {
            return nil
        }
    }

    /// Returns nil for a predicate that no longer fits the schema.
    private func makeMatcher(
        _ entry: SubscriptionIndex.Entry, of type: UInt64, in place: Place, at time: Int64
    ) throws -> RecordMatcher? {
        let actor = Actor(user: try names.user(entry.key.user, in: trees))
        let named = StoreQueryNames(
            names: names, place: try names.place(DatabaseID(place.id.scope), actor, in: trees), actor: actor,
            trees: trees)
        let access = RecordAccess(place.id.scope, .user(entry.key.user), snapshot.context, trees)
        let context = try QueryContext(
            trees, named, database: place.database, type: type, zone: nil, rules: queryRules,
            now: EngineDate.seconds(time), mayRead: access.checkOfTargets)
        do { return try RecordMatcher(entry.predicate, context) } catch let error as StrataError
            where error.code == .invalidArgument
        {
            return nil
        }
    }

    /// Returns true if another user caused the event, or if the subscription's user has another device.
    private func notifiesAnyone(_ entry: SubscriptionIndex.Entry, _ happening: SubscriptionTrigger) throws -> Bool {
        if happening.user != entry.key.user { return true }
        var hasOther = false
        try trees.forEachDevice(of: entry.key.user) { device in
            hasOther = device != happening.device
            return !hasOther
        }
        return hasOther
    }

    private func push(
        _ entry: SubscriptionIndex.Entry, _ subject: Push.Subject, _ happening: SubscriptionTrigger, in place: Place
    ) throws -> Push {
        Push(
            subscriptionID: entry.subscription.id, user: try names.user(entry.key.user, in: trees),
            scope: place.id.scope, subject: subject, notification: entry.subscription.notification,
            version: happening.version, firstOffset: happening.version.offset)
    }
}

extension Push.Reason {
    fileprivate var option: Subscription.Options {
        switch self {
        case .created: .creation
        case .updated: .update
        case .deleted: .deletion
        }
    }
}

extension SubscriptionTrigger {
    fileprivate var isOfZone: Bool {
        if case .zone = subject { true } else { false }
    }

    /// True for an event that only records what members of shares see; other events made the change.
    fileprivate var isOfMembers: Bool {
        switch subject {
        case .sharedRecord, .member: true
        default: false
        }
    }
}

/// The values of one state of a record, by key.
private final class RecordValues {
    private let bytes: [UInt8]
    private let names: Directory
    private let trees: Snapshot

    init(_ bytes: [UInt8], _ names: Directory, _ trees: Snapshot) throws {
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

    /// Returns the record's values that a notification contains.
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
