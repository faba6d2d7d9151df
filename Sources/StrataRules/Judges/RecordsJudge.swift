import StrataModel
import StrataViews

/// Judges a request for records, in the order of docs/rules.md §2 and §5 to §8.
final class RecordsJudge {
    let rules: Rules
    let request: Request
    let body: ModifyRecordsRequest
    let view: RulesView
    let context: RequestContext
    let actor: ActorState
    let scene: ResolvedRequest
    /// The known types and keys of the request.
    var schemaBindings: SchemaBindings
    /// The facts of each save, once the request is checked.
    private var facts: [SaveFacts] = []
    var saves: [SaveState] = []
    /// Nil if no quota applies.
    private(set) var quota: Quota?
    var deletes: [DeleteState] = []
    /// Cached answers for stored targets, by place of the zone and name, since a list may name one target many times.
    var heldTargets: [RecordKey: Bool] = [:]
    /// The index of each save, by place of the zone and name.
    private(set) lazy var savesByRecord = Dictionary(
        uniqueKeysWithValues: saves.indices.map {
            (RecordKey(zone: UInt64(saves[$0].zone), name: body.saves[$0].record.name), $0)
        })
    var trace: Trace?

    init(
        _ rules: Rules, _ request: Request, _ body: ModifyRecordsRequest, _ view: RulesView, _ context: RequestContext
    ) throws {
        self.rules = rules
        self.request = request
        self.body = body.inOrderOfKeys
        self.view = view
        self.context = context
        actor = try ActorState(context.actor, view)
        scene = try ResolvedRequest(request, actor, view)
        schemaBindings = try view.schemaBindings(of: request.names)
        trace = context.isTraced ? Trace() : nil
        let account = try view.account(of: context.actor.user)
        if scene.scope == .private, account.quota > 0 {
            quota = Quota(bytes: account.quota, usage: try view.usage(of: scene.database))
        }
    }

    func decide() throws -> Decision {
        if let answer = try judge() { return answer }
        let usage = usageChange
        let writer = RecordsWriter(self)
        do {
            var decision = try writer.decision()
            decision.usage = usage
            return decision
        } catch let error as StrataError where error.code == .tooLarge {
            throw Refusal(
                .limitExceeded, "What the request changes is more than a commit has room for: \(error)",
                rule: .commitLimit)
        }
    }

    /// The decision if there is nothing to write; nil otherwise.
    private func judge() throws -> Decision? {
        try checkRequest()
        if body.saves.isEmpty, body.deletes.isEmpty { return Decision(.nothing, RequestResult(), trace: trace) }
        try findItems()
        if let offset = try repeatedOffset() {
            trace?.add(.clientTokens, "request", "the token is that of commit \(offset)")
            return Decision(.repeats(offset: offset), RequestResult(), trace: trace)
        }
        for index in saves.indices {
            do { try judgeSave(index) } catch let refusal as Refusal { refuseSave(index, refusal) }
        }
        view.keep(schemaBindings)
        for index in deletes.indices {
            if let answer = scene.zones[deletes[index].zone].answer {
                refuseDelete(index, answer.ofMissingZone(.deleteInMissingZone))
            }
        }
        try judgeTogether()
        return nil
    }

    func refuseSave(_ index: Int, _ refusal: Refusal) {
        saves[index].refusal = refusal
        trace?.add(refusal.rule, "save \(index)", refusal.message)
    }

    func refuseDelete(_ index: Int, _ refusal: Refusal) {
        deletes[index].refusal = refusal
        trace?.add(refusal.rule, "delete \(index)", refusal.message)
    }

    // MARK: The whole request

    private func checkRequest() throws {
        try rules.checkItemCount(body.saves.count + body.deletes.count)
        if let token = body.clientToken, token.count > ClientTokenEvent.maximumBytes {
            throw Refusal(
                .invalidArguments,
                "A client token has at most \(ClientTokenEvent.maximumBytes) bytes, and this one \(token.count).",
                rule: .clientTokenLimit)
        }
        try rules.checkRoom(for: request, of: context.actor)
        var bytes = 0
        facts.reserveCapacity(body.saves.count)
        for save in body.saves {
            guard save.type > 0, save.type <= UInt64(schemaBindings.types.count) else {
                throw Refusal(
                    .invalidArguments, "The request names type \(save.type) and has no such name.", rule: .requestNames)
            }
            let facts = try SaveFacts(save, schemaBindings.keys)
            try Rules.checkRoom(for: save, facts)
            self.facts.append(facts)
            bytes += facts.sentBytes
            guard facts.isAscending || Set(save.fields.map(\.field)).count == save.fields.count else {
                throw Refusal(
                    .invalidArguments, "A key comes twice in record '\(save.record.name)'.", rule: .requestNames)
            }
        }
        try rules.checkByteCount(bytes)
    }

    /// The commit in which the client token was used before, if it is the device's last token in every zone (B65).
    private func repeatedOffset() throws -> UInt64? {
        guard let token = body.clientToken, actor.device != 0 else { return nil }
        var offset: UInt64?
        lazy var items = itemsDigest
        let places = Set(saves.map(\.zone) + deletes.map(\.zone)).filter { scene.zones[$0].isAlive }
        for zone in places.map({ scene.zones[$0] }) {
            guard zone.ordinal != 0, let row = zone.row,
                let known = try view.fold.fork.clientToken(zone.ordinal, actor.device),
                known.token == token, known.items == items, known.version >= row.incarnation,
                offset ?? known.version.offset == known.version.offset
            else { return nil }
            offset = known.version.offset
        }
        return offset
    }

    /// A digest that distinguishes requests that save or delete different records, or in a different order.
    var itemsDigest: UInt64 {
        var bytes = ByteWriter(reserving: 1_024)
        for (state, save) in zip(saves, body.saves) {
            bytes.append(1 as UInt8)
            bytes.appendString(scene.zones[state.zone].name)
            bytes.appendString(save.record.name)
        }
        for (state, delete) in zip(deletes, body.deletes) {
            bytes.append(2 as UInt8)
            bytes.appendString(scene.zones[state.zone].name)
            bytes.appendString(delete.name)
        }
        return UInt64(truncatingIfNeeded: bytes.bytes.withUnsafeBytes { DigestHash.hash(0, $0) })
    }

    private func findItems() throws {
        let count = body.saves.count + body.deletes.count
        var known = Set<RecordKey>(minimumCapacity: count > 1 ? count : 0)
        saves.reserveCapacity(body.saves.count)
        for (index, save) in body.saves.enumerated() {
            let place = try scene.place(save.record.zone)
            guard count == 1 || known.insert(RecordKey(zone: UInt64(place), name: save.record.name)).inserted else {
                throw Refusal(
                    .invalidArguments, "You can't save the same record twice: \(save.record.name)", rule: .recordsOnce)
            }
            saves.append(SaveState(zone: place, facts[index]))
        }
        for delete in body.deletes {
            let place = try scene.place(delete.zone)
            guard known.insert(RecordKey(zone: UInt64(place), name: delete.name)).inserted else {
                throw Refusal(
                    .invalidArguments,
                    "You can't save and delete the same record (\(delete.name)), or delete it twice, in one operation.",
                    rule: .recordsOnce)
            }
            deletes.append(DeleteState(zone: place))
        }
    }

    // MARK: The quota

    /// - Throws: ``Refusal`` for a save whose growth exceeds the quota (docs/rules.md §5.9).
    func checkQuota(_ index: Int) throws {
        guard var quota else { return }
        let before = try saves[index].stored.map { try usedBytes($0) { _ in true } } ?? 0
        let growth = try min(usedBytes(after: index), FieldValue.maximumUsedBytes) - before
        saves[index].growth = growth
        if growth <= 0 { return }
        guard quota.takes(UInt64(growth)) else {
            throw Refusal(
                .quotaExceeded,
                """
                Record '\(body.saves[index].record.name)' needs \(growth) bytes more, and \(quota.usage) of \
                \(quota.bytes) bytes are in use.
                """, rule: .recordLimits)
        }
        self.quota = quota
    }

    private func usedBytes(after index: Int) throws -> Int {
        let (save, state) = (body.saves[index], saves[index])
        let size = sentBytes(state) + state.facts.assetBytes
        guard let stored = state.stored else { return size }
        let sent = try sentFields(save)
        return try size + usedBytes(stored) { !sent.contains(UInt64($0)) }
    }

    /// The size of the keys that were sent with a value. A converted number counts as much as the number that was sent.
    func sentBytes(_ state: SaveState) -> Int {
        guard state.facts.hasRemovals else { return state.facts.sentBytes }
        return state.fields.reduce(state.facts.sentBytes) {
            $1.value == nil ? $0 - schemaBindings.keys[Int($1.field) - 1].byteCount : $0
        }
    }

    /// The ordinals in the store of a save's known keys.
    func sentFields(_ save: ModifyRecordsRequest.Save) throws -> Set<UInt64> {
        try Set(save.fields.compactMap { try view.ordinal(of: .field(key($0.field))) })
    }

    private func usedBytes(_ stored: StoredRecord, where isCounted: (UInt32) -> Bool) throws -> Int {
        try stored.bytes.withUnsafeBytes { bytes in
            let table = try RecordStateView(bytes, in: 0..<bytes.count).fields()
            var size = 0
            for index in 0..<table.count where isCounted(table.ordinal(at: index)) {
                size += try view.keyBytes(table.ordinal(at: index))
                size += try FieldValue.usedBytes(of: bytes, in: try table.range(at: index))
            }
            return min(size, FieldValue.maximumUsedBytes)
        }
    }

    private var usageChange: UsageChange {
        guard quota != nil else { return .none }
        // The bytes that deletions free are not known here.
        guard scene.database != 0, deletes.allSatisfy({ $0.refusal != nil || $0.cascade.isEmpty }) else {
            return .unknown
        }
        let growth = saves.reduce(0) { $0 + ($1.refusal == nil ? $1.growth : 0) }
        return .grows(database: scene.database, bytes: growth)
    }

    func isOwnUserRecord(_ name: String, _ place: Int) -> Bool {
        scene.zones[place].isDefault && scene.zones[place].isOwn && isSameText(name, actor.recordName)
    }
}

/// The state of a save while it is judged.
struct SaveState {
    let zone: Int
    var refusal: Refusal?
    var stored: StoredRecord?
    /// The sent fields, converted to the kinds of their keys; ordinals are the request's own.
    var fields: [FieldChange] = []
    let facts: SaveFacts
    /// The number of bytes by which the record's quota usage grows, if there is a quota.
    var growth = 0

    init(zone: Int, _ facts: SaveFacts) {
        self.zone = zone
        self.facts = facts
    }
}

/// Facts about the fields of a save, collected in one pass for all checks.
struct SaveFacts {
    /// The bytes of keys and values that count for the size of the request.
    var sentBytes = 0
    var hasReferences = false
    var hasSealed = false
    var hasRemovals = false
    /// The bytes of files.
    var assetBytes = 0
    /// True if the keys are in strictly ascending order.
    var isAscending = true

    /// - Parameter keys: the keys that the request names.
    init(_ save: ModifyRecordsRequest.Save, _ keys: [KeyState]) throws {
        var last: UInt32 = 0
        for change in save.fields {
            guard change.field > 0, Int(change.field) <= keys.count else {
                throw Refusal(
                    .invalidArguments, "The request names key \(change.field) and has no such name.",
                    rule: .requestNames)
            }
            if change.field <= last { isAscending = false }
            last = change.field
            sentBytes += keys[Int(change.field) - 1].byteCount
            guard let value = change.value else {
                hasRemovals = true
                continue
            }
            sentBytes += value.chargedBytes
            if value.kind.element == .asset { assetBytes += value.usedBytes }
            if value.kind.element == .reference { hasReferences = true }
            if value.kind.isSealed { hasSealed = true }
        }
    }
}

/// The state of a delete while it is judged.
struct DeleteState {
    let zone: Int
    var refusal: Refusal?
    var stored: StoredRecord?
    /// The record itself and the records that go with it and with no previous delete, breadth first; empty if there is
    /// nothing to delete.
    var cascade: [String] = []
    /// True if the delete has no event.
    var isLeftOut: Bool { refusal != nil || cascade.isEmpty }

    init(zone: Int) { self.zone = zone }
}

extension ModifyRecordsRequest {
    /// The request with the keys of each save in ascending order of their ordinals, as clients send them.
    fileprivate var inOrderOfKeys: ModifyRecordsRequest {
        func isInOrder(_ fields: [FieldChange]) -> Bool {
            for index in fields.indices.dropFirst() where fields[index - 1].field > fields[index].field { return false }
            return true
        }
        if saves.allSatisfy({ isInOrder($0.fields) }) { return self }
        var sorted = self
        for index in sorted.saves.indices { sorted.saves[index].fields.sort { $0.field < $1.field } }
        return sorted
    }
}

/// The quota and usage of a user's private database.
struct Quota {
    let bytes: UInt64
    /// The usage, including what the request has added so far.
    private(set) var usage: UInt64

    /// Returns true, and adds the growth, if there is room for it.
    mutating func takes(_ growth: UInt64) -> Bool {
        let (sum, isOver) = usage.addingReportingOverflow(growth)
        guard !isOver, sum <= bytes else { return false }
        usage = sum
        return true
    }
}
