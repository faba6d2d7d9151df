import StrataModel
import StrataQuery
import StrataTree
import StrataViews

/// Subscriptions by what makes them fire, so that an event is evaluated only for those that it may concern.
struct SubscriptionIndex {
    typealias Key = IndexedSubscription.Key
    typealias Entry = IndexedSubscription

    private struct TypeKey: Hashable {
        var database: UInt64
        var type: UInt64
    }

    private var entries: [Key: Entry] = [:]
    private var ofDatabases: [UInt64: [Key: Entry]] = [:]
    private var ofZones: [UInt64: [Key: Entry]] = [:]
    private var ofTypes: [TypeKey: QueryGroup] = [:]
    private var ofShares = ShareSubscribers()
    /// The number of subscriptions that fire once.
    private(set) var onceCount = 0

    var isEmpty: Bool { entries.isEmpty }

    /// The offset at which the oldest subscription that fires once was saved.
    var firstOnceOffset: UInt64? {
        onceCount == 0 ? nil : entries.values.filter(\.firesOnce).map(\.version.offset).min()
    }

    /// - Parameter trees: a state with the names of the subscription, and with the shares of its user.
    mutating func insert(_ entry: Entry, in trees: Snapshot) throws {
        remove(entry.key)
        entries[entry.key] = entry
        let subscription = entry.subscription
        if subscription.kind == .database, case .database(.shared, _)? = try trees.name(.database, entry.key.database) {
            return try ofShares.insert(entry, in: trees)
        }
        if entry.firesOnce { onceCount += 1 }
        switch subscription.kind {
        case .database: ofDatabases[entry.key.database, default: [:]][entry.key] = entry
        case .recordZone: ofZones[subscription.zone, default: [:]][entry.key] = entry
        case .query:
            let type = TypeKey(database: entry.key.database, type: subscription.recordType)
            ofTypes[type, default: QueryGroup()].insert(entry)
        }
    }

    mutating func remove(_ key: Key) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        if entry.firesOnce { onceCount -= 1 }
        switch entry.subscription.kind {
        case .database:
            ofDatabases[key.database]?[key] = nil
            ofShares.remove(key)
        case .recordZone: ofZones[entry.subscription.zone]?[key] = nil
        case .query: ofTypes[TypeKey(database: key.database, type: entry.subscription.recordType)]?.remove(entry)
        }
    }

    /// Removes a subscription, unless it was saved again since.
    mutating func remove(_ key: Key, savedBefore version: Version) {
        if let entry = entries[key], entry.version < version { remove(key) }
    }

    /// Takes a change of a membership, which comes before the events that it concerns.
    mutating func take(_ event: MemberChangedEvent, at version: Version, in trees: Snapshot) throws {
        try ofShares.take(event, at: version, in: trees)
    }

    /// Returns the subscriptions to shared databases that an event may concern.
    func ofMembers(concernedBy happening: SubscriptionTrigger) -> [Entry] { ofShares.concerned(by: happening) }

    func ofDatabase(_ database: UInt64) -> some Sequence<Entry> { (ofDatabases[database] ?? [:]).values }
    func ofZone(_ zone: UInt64) -> some Sequence<Entry> { (ofZones[zone] ?? [:]).values }

    /// Returns the query subscriptions to a type; nil if there are none.
    func queries(_ database: UInt64, _ type: UInt64) -> QueryGroup? {
        ofTypes[TypeKey(database: database, type: type)].flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// The query subscriptions to one record type, each by a condition that its predicate requires.
struct QueryGroup {
    typealias Entry = SubscriptionIndex.Entry

    private struct Equal: Hashable {
        var key: String
        var value: SelectiveCondition.Value
    }

    /// The bounds of one key, in ascending order.
    private struct Bounds {
        var items: [(bound: Double, entry: Entry)] = []

        /// Returns the first index whose bound is at least a number, or above it if `orEqual` is true.
        func place(of number: Double, orEqual: Bool) -> Int {
            items.endOfPrefix { orEqual ? $0.bound <= number : $0.bound < number }
        }

        mutating func insert(_ bound: Double, _ entry: Entry) {
            items.insert((bound, entry), at: place(of: bound, orEqual: true))
        }
    }

    private var equals: [Equal: [SubscriptionIndex.Key: Entry]] = [:]
    /// The number of entries that test each key for equality.
    private var equalKeys: [String: Int] = [:]
    private var lower: [String: Bounds] = [:]
    private var upper: [String: Bounds] = [:]
    private var others: [SubscriptionIndex.Key: Entry] = [:]
    private var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func insert(_ entry: Entry) {
        count += 1
        switch entry.condition {
        case .equal(let key, let value):
            equals[Equal(key: key, value: value), default: [:]][entry.key] = entry
            equalKeys[key, default: 0] += 1
        case .atLeast(let key, let bound): lower[key, default: Bounds()].insert(bound, entry)
        case .atMost(let key, let bound): upper[key, default: Bounds()].insert(bound, entry)
        case nil: others[entry.key] = entry
        }
    }

    mutating func remove(_ entry: Entry) {
        count -= 1
        switch entry.condition {
        case .equal(let key, let value):
            let place = Equal(key: key, value: value)
            equals[place]?[entry.key] = nil
            if equals[place]?.isEmpty == true { equals[place] = nil }
            equalKeys[key, default: 1] -= 1
            if equalKeys[key] == 0 { equalKeys[key] = nil }
        case .atLeast(let key, _): lower[key]?.items.removeAll { $0.entry === entry }
        case .atMost(let key, _): upper[key]?.items.removeAll { $0.entry === entry }
        case nil: others[entry.key] = nil
        }
    }

    /// Returns the subscriptions that may fire for a record with these values; their predicates decide.
    func candidates(_ value: (String) throws -> FieldValue?) rethrows -> [Entry] {
        var found = Array(others.values)
        for key in equalKeys.keys {
            guard let value = try value(key).flatMap(SelectiveCondition.Value.init) else { continue }
            if let entries = equals[Equal(key: key, value: value)]?.values { found += entries }
        }
        for (key, bounds) in lower {
            guard let number = try value(key)?.comparableNumber else { continue }
            found += bounds.items[..<bounds.place(of: number, orEqual: true)].map(\.entry)
        }
        for (key, bounds) in upper {
            guard let number = try value(key)?.comparableNumber else { continue }
            found += bounds.items[bounds.place(of: number, orEqual: false)...].map(\.entry)
        }
        return found
    }
}

extension FieldValue {
    fileprivate var comparableNumber: Double? {
        switch self {
        case .int64(let number): Double(number)
        case .double(let number): number
        default: nil
        }
    }
}
