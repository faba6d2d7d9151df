import StrataModel
import StrataViews

/// Rebuilds a request for records from its commit.
///
/// Names get other numbers than the client gave them. Everything that depends on their order must stay the same: the
/// order in which names were interned, and the key of a save that failed first.
struct RecordsRequestBuilder {
    private let events: ItemEvents
    private let names: OrdinalNames
    private let left: ModifyRecordsRequest
    private let leftNames: RequestNames
    private var request: Request
    /// True if the zones belong to other users than the one who made the request.
    private let isShared: Bool
    /// The keys that were sent without a value and are in no event, for each save; empty if there are none.
    private let unusedKeys: [[UInt64]]
    /// The ordinal of the key of shares' states, which no request names; nil if no save changes a share.
    private let shareField: UInt64?
    /// True if keys come in the order in which saves have them, which is nearly always the case.
    private let hasPlainOrder: Bool
    /// The request's numbers of the keys that it already has.
    private var known: [(key: UInt64, number: UInt32)] = []

    init(_ events: ItemEvents, _ names: OrdinalNames) throws {
        self.events = events
        self.names = names
        if case .modifyRecords(let body)? = events.shape.request?.content { left = body } else { left = .init() }
        leftNames = events.shape.request?.names ?? RequestNames()
        let database = try events.shape.request?.database ?? Self.database(of: events, names)
        isShared = database.scope == .shared
        request = Request(database: database, .modifyRecords(.init()))
        shareField = events.shape.shareChanges.isEmpty ? nil : try Self.shareField(of: events, names)
        let shareField = shareField
        let hasNewKeys = events.names.contains { $0.name.namespace == .field && $0.ordinal != shareField }
        unusedKeys = hasNewKeys ? UnusedKeys(events).bySave() : []
        hasPlainOrder = leftNames.keys.isEmpty && !hasNewKeys
    }

    mutating func make() throws -> Request {
        if !hasPlainOrder {
            for key in try keyOrder() { _ = request.names.ordinal(ofKey: key) }
        }
        var body = ModifyRecordsRequest(
            policy: events.shape.policy, isAtomic: events.shape.isAtomic, clientToken: events.clientToken)
        var leftSaves: [ModifyRecordsRequest.Save] = []
        for save in left.saves { leftSaves.append(try translated(save)) }
        var keptSaves: [ModifyRecordsRequest.Save] = []
        keptSaves.reserveCapacity(events.saves.count)
        for (index, event) in events.saves.enumerated() { keptSaves.append(try save(event, unused(index))) }
        body.saves = try events.items(.saves, keptSaves, leftSaves) { $0 }
        for share in events.shape.shareChanges {
            guard body.saves.indices.contains(share.index) else {
                throw RequestResult.mismatch(events.offset, "a change of a share without a save")
            }
            body.saves[share.index].sharing = share.change
        }
        var leftDeletes: [RecordKey] = []
        for record in left.deletes {
            leftDeletes.append(RecordKey(zone: translated(zone: record.zone), name: record.name))
        }
        var keptDeletes: [RecordKey] = []
        for record in events.deletes { keptDeletes.append(RecordKey(zone: try placed(record.zone), name: record.name)) }
        body.deletes = try events.items(.deletes, keptDeletes, leftDeletes) { $0 }
        request.content = .modifyRecords(body)
        return request
    }

    /// Returns the database of a request without items that were left out. A client names its own database by the scope
    /// alone, and another user's zone in its shared database.
    private static func database(of events: ItemEvents, _ names: OrdinalNames) throws -> DatabaseID {
        guard let zone = events.saves.first?.record.zone ?? events.deletes.first?.zone else {
            throw RequestResult.mismatch(events.offset, "no event with an item")
        }
        let database = try names.requiredZone(zone).database
        guard database.scope == .private else { return DatabaseID(database.scope) }
        let isOwn = try isSameText(database.owner, names.text(.user, events.header.user))
        return DatabaseID(isOwn ? .private : .shared)
    }

    /// Finds the key in an event of a share.
    private static func shareField(of events: ItemEvents, _ names: OrdinalNames) throws -> UInt64? {
        for event in events.saves where try names.text(.recordType, event.type) == ShareState.recordType {
            for change in event.fields where try names.text(.field, UInt64(change.field)) == ShareState.key {
                return UInt64(change.field)
            }
        }
        return nil
    }

    // MARK: Keys

    private func unused(_ save: Int) -> [UInt64] { unusedKeys.isEmpty ? [] : unusedKeys[save] }

    private mutating func number(of key: UInt64) throws -> UInt32 {
        if let known = known.first(where: { $0.key == key }) { return known.number }
        let number = request.names.ordinal(ofKey: try names.text(.field, key))
        if known.isEmpty { known.reserveCapacity(8) }
        if known.count < 32 { known.append((key, number)) }
        return number
    }

    /// Returns all keys, in an order in which those of each save are sorted.
    private func keyOrder() throws -> [String] {
        var order = KeyOrder()
        order.add(leftNames.keys)
        let new = Set(events.names.filter { $0.name.namespace == .field && $0.ordinal != shareField }.map(\.ordinal))
        for (index, event) in events.saves.enumerated() {
            let keys = (event.fields.map { UInt64($0.field) }.filter { $0 != shareField } + unused(index)).sorted()
            order.add(try keys.filter { new.contains($0) }.map { try names.text(.field, $0) })
            for key in keys where !new.contains(key) { order.add([try names.text(.field, key)]) }
        }
        return order.sorted()
    }

    // MARK: Items of events

    private mutating func save(_ event: RecordSavedEvent, _ unused: [UInt64]) throws -> ModifyRecordsRequest.Save {
        let zone = try placed(event.record.zone)
        func placedLink(_ link: LinkChange) -> LinkChange {
            if case .set(let target) = link { .set(RecordKey(zone: zone, name: target.name)) } else { link }
        }
        var fields: [FieldChange] = []
        fields.reserveCapacity(event.fields.count + unused.count)
        for change in event.fields where UInt64(change.field) != shareField {
            let key = try number(of: UInt64(change.field))
            fields.append(FieldChange(key, try change.value.map { try $0.mappingTargets { _ in zone } }))
        }
        for key in unused { fields.append(FieldChange(try number(of: key), nil)) }
        let isAscending = zip(fields, fields.dropFirst()).allSatisfy { $0.field < $1.field }
        if !isAscending { fields.sort { $0.field < $1.field } }
        return ModifyRecordsRequest.Save(
            RecordKey(zone: zone, name: event.record.name),
            type: request.names.ordinal(ofType: try names.text(.recordType, event.type)), base: event.base,
            parent: placedLink(event.parent), share: placedLink(event.share), fields: fields)
    }

    private mutating func placed(_ zone: UInt64) throws -> UInt64 {
        guard isShared else { return request.names.ordinal(of: ZoneID(try names.text(.zone, zone))) }
        return request.names.ordinal(of: try names.sharedZone(zone))
    }

    // MARK: Items that were left out

    private mutating func translated(zone: UInt64) -> UInt64 {
        leftNames.zone(zone).map { request.names.ordinal(of: $0) } ?? 0
    }

    private mutating func translated(_ link: LinkChange) -> LinkChange {
        guard case .set(let target) = link else { return link }
        return .set(RecordKey(zone: translated(zone: target.zone), name: target.name))
    }

    private mutating func translated(_ save: ModifyRecordsRequest.Save) throws -> ModifyRecordsRequest.Save {
        var save = save
        guard let type = leftNames.recordType(save.type) else {
            throw RequestResult.mismatch(events.offset, "type \(save.type) without a name")
        }
        save.record.zone = translated(zone: save.record.zone)
        save.type = request.names.ordinal(ofType: type)
        save.parent = translated(save.parent)
        save.share = translated(save.share)
        for index in save.fields.indices {
            guard let key = leftNames.key(save.fields[index].field) else {
                throw RequestResult.mismatch(events.offset, "key \(save.fields[index].field) without a name")
            }
            save.fields[index].field = request.names.ordinal(ofKey: key)
            var names = request.names
            save.fields[index].value = try save.fields[index].value?.mappingTargets { zone in
                leftNames.zone(zone).map { names.ordinal(of: $0) } ?? 0
            }
            request.names = names
        }
        save.fields.sort { $0.field < $1.field }
        return save
    }
}

/// Keys in an order that preserves the order of several lists.
private struct KeyOrder {
    private var keys: [String] = []
    private var places: [[UInt8]: Int] = [:]
    private var followers: [[Int]] = []

    mutating func add(_ chain: [String]) {
        var last: Int?
        for key in chain {
            let place = place(of: key)
            if let last { followers[last].append(place) }
            last = place
        }
    }

    private mutating func place(of key: String) -> Int {
        let bytes = Array(key.utf8)
        if let place = places[bytes] { return place }
        places[bytes] = keys.count
        keys.append(key)
        followers.append([])
        return keys.count - 1
    }

    /// Returns the sorted keys. Lists that contradict each other come from no client; some keys are then not in order.
    func sorted() -> [String] {
        var waits = Array(repeating: 0, count: keys.count)
        for place in followers.joined() { waits[place] += 1 }
        var order = waits.indices.filter { waits[$0] == 0 }
        var next = 0
        while next < order.count {
            for place in followers[order[next]] {
                waits[place] -= 1
                if waits[place] == 0 { order.append(place) }
            }
            next += 1
        }
        return (order + waits.indices.filter { waits[$0] > 0 }).map { keys[$0] }
    }
}

/// Finds the saves with which keys were sent that were interned before any event has them: removals of values that did
/// not exist.
private struct UnusedKeys {
    private let events: ItemEvents

    init(_ events: ItemEvents) { self.events = events }

    func bySave() -> [[UInt64]] {
        var found: [[UInt64]] = Array(repeating: [], count: events.saves.count)
        // The first save whose event has each name.
        let users = events.names.map { name in events.saves.firstIndex { uses($0, name) } }
        // The last save that can have brought a key, given the names interned after it; nil if the key's first user
        // brought it.
        var latest: [Int?] = Array(repeating: nil, count: events.names.count)
        var limit = events.saves.count - 1
        for (index, name) in events.names.enumerated().reversed() {
            let isKey = name.name.namespace == .field
            if let user = users[index], user <= limit || !isKey {
                limit = min(limit, isKey ? user : user - 1)
            } else if isKey {
                latest[index] = limit
            }
        }
        var earliest = 0
        for (index, name) in events.names.enumerated() {
            guard let last = latest[index] else {
                earliest = max(earliest, users[index] ?? 0)
                continue
            }
            guard !events.saves.isEmpty else { break }
            // If the save were not full, its event would have the key.
            earliest = (earliest...max(earliest, last)).first { events.saves[$0].isFull } ?? earliest
            found[earliest].append(name.ordinal)
        }
        return found
    }

    private func uses(_ event: RecordSavedEvent, _ name: InternedName) -> Bool {
        switch name.name {
        case .zone: event.record.zone == name.ordinal
        case .recordType: event.type == name.ordinal
        case .field: event.fields.contains { UInt64($0.field) == name.ordinal }
        case .user, .device, .database: false
        }
    }
}
