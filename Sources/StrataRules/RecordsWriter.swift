import StrataModel
import StrataViews

/// Writes the accepted items of a request for records, in the order of docs/rules.md §9.
final class RecordsWriter {
    let judge: RecordsJudge
    var commit = CommitBuilder()
    var names: NameWriter
    var trace: Trace?
    var result = RequestResult()
    var found = FoundStates()
    // The types and keys of the request, with the store's ordinals as far as they are needed.
    var types: [TypeState]
    private var ordinals: [UInt32]
    var zones: [ZoneState]
    var user: UInt64 = 0
    var device: UInt64 = 0
    var newBindings: [(type: Int, fields: [SchemaField])] = []
    /// The types and keys of `newBindings`.
    private var newlyBound: Set<UInt64> = []
    /// The last event of this commit that saved each record, computed on demand.
    lazy var savedEvents = madeSavedEvents()
    var changedZones: Set<Int> = []
    /// The shares whose records the request deletes.
    var endedShares: [EndedShare] = []
    /// The records that the request deletes, by the indices of their zones.
    private(set) lazy var goneRecords = Set(
        judge.deletes.filter { $0.refusal == nil }.flatMap { delete in
            delete.cascade.map { RecordKey(zone: UInt64(delete.zoneIndex), name: $0) }
        })
    /// The records whose items were refused, by the indices of their zones.
    private lazy var refusedRecords = madeRefusedRecords()
    /// The number of records that get a new version without an item, because of a share.
    var consequenceCount = 0
    /// The ordinal of the reserved key of the states of shares; 0 if the request changes no share.
    var shareField: UInt32 = 0

    init(_ judge: RecordsJudge) {
        names = NameWriter(judge.view)
        trace = judge.trace
        types = judge.schemaBindings.types
        ordinals = judge.schemaBindings.keys.map(\.ordinal)
        zones = judge.resolved.zones
        self.judge = judge
    }

    func decision() throws -> Decision {
        let hasSaves = judge.saves.contains { $0.refusal == nil }
        let hasDeletes = judge.deletes.contains { $0.refusal == nil && (!$0.cascade.isEmpty || $0.leaving != nil) }
        guard hasSaves || hasDeletes else {
            result.saves = judge.saves.map { .failure($0.refusal ?? Refusal(.internalError, "A save was lost.")) }
            result.deletes = judge.deletes.map(\.refusal)
            return Decision(.nothing, result, trace: trace)
        }
        let first = try ActorBootstrap(judge.actor, judge.view, &names)
        (user, device) = (first.user, first.device)
        try internItems()
        try names.append(to: &commit)
        try first.append(to: &commit, sparing: try ownUserRecordIsSaved ? judge.resolved.scope : nil)
        try appendSchema()
        let firstItemEvent = commit.count
        try prepareShares()
        try appendSaves()
        if judge.changesShares || !endedShares.isEmpty { try appendShares() }
        try appendParentUpdates()
        try appendDeletes()
        try appendSharedRecords()
        try appendTokens()
        return try finish(firstItemEvent)
    }

    private var ownUserRecordIsSaved: Bool {
        get throws {
            try judge.saves.indices.contains { index in
                try judge.saves[index].refusal == nil && judge.saves[index].stored == nil
                    && judge.isOwnUserRecord(judge.body.saves[index].record.name, judge.saves[index].zoneIndex)
            }
        }
    }

    // MARK: Names

    private func internItems() throws {
        for index in judge.saves.indices where judge.saves[index].refusal == nil {
            try internZone(judge.saves[index].zoneIndex)
            let type = Int(judge.body.saves[index].type) - 1
            if types[type].ordinal == 0 {
                types[type].ordinal = try names.ordinal(of: .recordType(judge.schemaBindings.types[type].name))
            }
            let fields = judge.saves[index].fields
            for place in fields.indices where ordinals[Int(fields[place].field) - 1] == 0 {
                let field = fields[place].field
                ordinals[Int(field) - 1] = UInt32(try names.ordinal(of: .field(judge.key(field))))
            }
            if judge.saves[index].share != nil {
                shareField = UInt32(try names.ordinal(of: .field(ShareState.key)))
            }
            try collectBindings(judge.saves[index].fields, of: type)
        }
        for index in judge.deletes.indices where !judge.deletes[index].cascade.isEmpty {
            try internZone(judge.deletes[index].zoneIndex)
        }
    }

    private func internZone(_ zoneIndex: Int) throws {
        guard zones[zoneIndex].ordinal == 0 else { return }
        let resolved = judge.resolved
        let owner = resolved.scope == .public ? 0 : user
        let database = try names.ordinal(of: .database(resolved.scope, owner: owner))
        zones[zoneIndex].ordinal = try names.ordinal(
            of: .zone(database: database, owner: owner, resolved.zones[zoneIndex].name))
    }

    /// Collects the keys that an accepted save binds for the first time.
    private func collectBindings(_ fields: [FieldChange], of type: Int) throws {
        let state = judge.schemaBindings.types[type]
        guard state.hasNewKeys else { return }
        let known = state.ordinal == 0 ? [:] : try judge.view.schema(of: state.ordinal)
        for change in fields {
            guard let binding = change.value.flatMap({ Binding($0) }) else { continue }
            let key = ordinals[Int(change.field) - 1]
            guard known[key] == nil, newlyBound.insert(UInt64(type) << 32 | UInt64(key)).inserted else { continue }
            let field = SchemaField(key, binding.kind, isEncrypted: binding.isEncrypted)
            guard let entry = newBindings.firstIndex(where: { $0.type == type }) else {
                newBindings.append((type, [field]))
                continue
            }
            newBindings[entry].fields.append(field)
        }
    }

    private func appendSchema() throws {
        for (type, fields) in newBindings {
            try commit.append(
                SchemaChangedEvent(type: types[type].ordinal, fields: fields.sorted { $0.field < $1.field }))
        }
    }

    // MARK: Saves

    private func appendSaves() throws {
        result.saves.reserveCapacity(judge.saves.count)
        for (index, state) in judge.saves.enumerated() {
            if let refusal = state.refusal {
                result.saves.append(.failure(refusal))
                continue
            }
            let event = try append(index, state)
            if state.isLookedUp { found.append(state.found?.bytes, before: event) }
            if judge.body.clientToken != nil { changedZones.insert(state.zoneIndex) }
            result.saves.append(.success(.ofThisCommit(eventIndex: event)))
        }
    }

    private func madeSavedEvents() -> [RecordKey: UInt32] {
        var events: [RecordKey: UInt32] = [:]
        for (index, save) in result.saves.enumerated() {
            guard case .success(let version) = save else { continue }
            let name = judge.body.saves[index].record.name
            events[RecordKey(zone: UInt64(judge.saves[index].zoneIndex), name: name)] =
                version.resolved(in: 1).eventIndex
        }
        return events
    }

    private func madeRefusedRecords() -> Set<RecordKey> {
        var records: Set<RecordKey> = []
        for (save, state) in zip(judge.body.saves, judge.saves) where state.refusal != nil {
            records.insert(RecordKey(zone: UInt64(state.zoneIndex), name: save.record.name))
        }
        for (delete, state) in zip(judge.body.deletes, judge.deletes) where state.refusal != nil {
            records.insert(RecordKey(zone: UInt64(state.zoneIndex), name: delete.name))
        }
        return records
    }

    /// Appends the event of a save, and returns its index.
    private func append(_ index: Int, _ state: SaveState) throws -> UInt32 {
        let save = judge.body.saves[index]
        let record = RecordKey(zone: zones[state.zoneIndex].ordinal, name: save.record.name)
        var event = RecordSavedEvent(
            state.stored == nil ? .create : .update, record, type: types[Int(save.type) - 1].ordinal,
            policy: judge.body.policy, previous: state.stored?.header.version, base: save.base)
        event.parent = placed(save.parent, in: record.zone)
        event.share = placed(save.share, in: record.zone)
        if case .set(let parent) = save.parent {
            event.isParentLoose = try !judge.holdsParent(parent.name, in: state.zoneIndex)
        }
        if let stored = state.stored { event.modified = stored.nextModified(at: judge.judging.context.time) }
        if canSendFields(of: state, as: event) {
            event.fields = state.fields
            return try commit.append(event, of: ordinals)
        }
        event.fields = try placedFields(state.fields, in: record.zone, state.zoneIndex)
        if judge.view.hasShares || state.share != nil { try addShare(of: index, to: &event) }
        if let stored = state.stored {
            if stored.isFullDue { try event.complete(from: stored) }
        } else {
            event.fields.removeAll { $0.value == nil }
            if event.parent == .removed { event.parent = .kept }
            if event.share == .removed { event.share = .kept }
        }
        return try commit.append(event)
    }

    /// Returns true if the event of a save has exactly the fields that were sent, in their order. It is encoded without
    /// a copy of them then.
    private func canSendFields(of state: SaveState, as event: RecordSavedEvent) -> Bool {
        if judge.view.hasShares || state.share != nil || state.facts.hasReferences { return false }
        guard let stored = state.stored else {
            return !state.facts.hasRemovals && event.parent != .removed && event.share != .removed
                && isAscending(state.fields)
        }
        return !stored.isFullDue && isAscending(state.fields)
    }

    /// Returns true if fields are in the order of the store's ordinals.
    private func isAscending(_ fields: [FieldChange]) -> Bool {
        var last: UInt32 = 0
        for index in fields.indices {
            let ordinal = ordinals[Int(fields[index].field) - 1]
            if ordinal <= last { return false }
            last = ordinal
        }
        return true
    }

    private func placed(_ link: LinkChange, in zone: UInt64) -> LinkChange {
        if case .set(let target) = link { .set(RecordKey(zone: zone, name: target.name)) } else { link }
    }

    /// The fields with the store's ordinals, in ascending order.
    private func placedFields(
        _ fields: [FieldChange], in zone: UInt64, _ zoneIndex: Int
    ) throws -> [FieldChange] {
        var placed = fields
        var isAscending = true
        for index in placed.indices {
            placed[index].field = ordinals[Int(placed[index].field) - 1]
            if index > 0, placed[index - 1].field >= placed[index].field { isAscending = false }
            if let value = placed[index].value, value.kind.element == .reference {
                placed[index].value = try self.placed(value, in: zone, zoneIndex)
            }
        }
        if !isAscending { placed.sort { $0.field < $1.field } }
        return placed
    }

    private func placed(_ value: FieldValue, in zone: UInt64, _ zoneIndex: Int) throws -> FieldValue {
        switch value {
        case .reference(let reference): .reference(try judge.placed(reference, in: zoneIndex, zone: zone))
        case .list(let list): .list(try FieldList(list.elements.map { try placed($0, in: zone, zoneIndex) }))
        default: value
        }
    }

    /// Appends a touch for each parent that a saved child holds, if the actor may write the parent (B61).
    private func appendParentUpdates() throws {
        guard judge.judging.touchesParents else { return }
        for (index, state) in judge.saves.enumerated() where state.refusal == nil {
            guard let parent = try parent(of: judge.body.saves[index], state),
                try judge.holdsParent(parent, in: state.zoneIndex)
            else { continue }
            let key = RecordKey(zone: UInt64(state.zoneIndex), name: parent)
            if savedEvents[key] != nil || goneRecords.contains(key) || refusedRecords.contains(key) { continue }
            let record = RecordKey(zone: zones[state.zoneIndex].ordinal, name: parent)
            guard let stored = try judge.view.record(record),
                try judge.resolved.scope != .shared || judge.right(to: parent, stored, state.zoneIndex) != nil
            else { continue }
            var event = RecordSavedEvent(
                .touch, record, type: stored.header.type, policy: judge.body.policy,
                previous: stored.header.version)
            if stored.isFullDue { try event.complete(from: stored) }
            savedEvents[key] = try commit.append(event)
            trace?.add(.parentTouch, "save \(index)", "its parent '\(parent)' gets a new tag")
        }
    }

    /// Returns the name of a record's parent after its save; nil if the kept parent is loose.
    private func parent(of save: ModifyRecordsRequest.Save, _ state: SaveState) throws -> String? {
        switch save.parent {
        case .set(let parent): return parent.name
        case .removed: return nil
        case .kept:
            return try state.stored?.bytes.withUnsafeBytes { bytes in
                let view = try RecordStateView(bytes, in: 0..<bytes.count)
                let links = try view.links()
                return try links.isParentLoose ? nil : links.parent.map { try view.key($0).name }
            }
        }
    }
}
