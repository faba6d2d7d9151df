import StrataModel
import StrataViews

/// Judges a request for records, in the order of docs/rules.md §2 and §5 to §8.
final class RecordsJudge {
    let judging: Judging
    let body: ModifyRecordsRequest
    let view: RulesView
    let actor: ActorState
    let resolved: ResolvedRequest
    /// The known types and keys of the request.
    var schemaBindings: SchemaBindings
    /// The facts of each save, once the request is checked.
    private var facts: [SaveFacts] = []
    var saves: [SaveState] = []
    /// The quotas that apply, by the ordinals of their databases.
    private var quotas: [UInt64: Quota] = [:]
    var deletes: [DeleteState] = []
    /// The indices of the saves that change shares, by the index of their zone.
    var shareSaves: [Int: [Int]] = [:]
    /// Cached answers for stored targets, by index of the zone and name, since a list may name one target many times.
    var heldTargets: [RecordKey: Bool] = [:]
    /// The hierarchies of zones, by their indices, after the saves that have not failed.
    var hierarchies: [Int: Hierarchy] = [:]
    /// True for each zone that has or had shared records, by index, once it was looked up.
    var zonesWithSharedRecords: [Int: Bool] = [:]
    /// The edges of the shares of zones, by their indices, once they were looked up.
    var zoneEdges: [Int: ShareEdges?] = [:]
    /// The index of each save, by index of the zone and name.
    private(set) lazy var savesByRecord = Dictionary(
        uniqueKeysWithValues: saves.indices.map {
            (RecordKey(zone: UInt64(saves[$0].zoneIndex), name: body.saves[$0].record.name), $0)
        })
    var trace: Trace?

    init(_ judging: Judging, _ body: ModifyRecordsRequest) throws {
        self.judging = judging
        (view, actor, resolved) = (judging.view, judging.actor, judging.resolved)
        self.body = body.inOrderOfKeys
        schemaBindings = try judging.view.schemaBindings(of: judging.request.names)
        trace = judging.newTrace
        quotas = try Self.quotas(judging)
    }

    /// The quotas of the users who own what the request changes.
    private static func quotas(_ judging: Judging) throws -> [UInt64: Quota] {
        let (view, resolved) = (judging.view, judging.resolved)
        var quotas: [UInt64: Quota] = [:]
        func add(_ account: Account, _ database: UInt64) throws {
            guard account.quota > 0, quotas[database] == nil else { return }
            quotas[database] = Quota(bytes: account.quota, usage: try view.usage(of: database))
        }
        switch resolved.scope {
        case .public: break
        case .private: try add(view.account(of: judging.context.actor.user), resolved.database)
        case .shared:
            for zone in resolved.zones.compactMap(\.shared) {
                try add(view.fold.fork.account(of: zone.owner), zone.database)
            }
        }
        return quotas
    }

    /// The decision if there is nothing to write; nil otherwise.
    func earlyDecision() throws -> Decision? {
        try checkRequest()
        if body.saves.isEmpty, body.deletes.isEmpty { return Decision(.nothing, RequestResult(), trace: trace) }
        try findItems()
        if let offset = try repeatedOffset() {
            trace?.add(.clientTokens, "request", "the token is that of commit \(offset)")
            return Decision(.repeats(offset: offset), RequestResult(), trace: trace)
        }
        try findStored()
        for index in saves.indices {
            do { try judgeSave(index) } catch let refusal as Refusal { refuseSave(index, refusal) }
        }
        view.keep(schemaBindings)
        for index in deletes.indices {
            if let refusal = resolved.zones[deletes[index].zoneIndex].refusal {
                refuseDelete(index, refusal.ofMissingZone(.deleteInMissingZone))
            }
        }
        try judgeTogether()
        return nil
    }

    func refuseSave(_ index: Int, _ refusal: Refusal) {
        saves[index].refusal = refusal
        hierarchies.removeAll()
        trace?.add(refusal.rule, "save \(index)", refusal.message)
    }

    func refuseDelete(_ index: Int, _ refusal: Refusal) {
        deletes[index].refusal = refusal
        trace?.add(refusal.rule, "delete \(index)", refusal.message)
    }

    // MARK: The whole request

    private func checkRequest() throws {
        try judging.limits.checkItemCount(body.saves.count + body.deletes.count)
        if let token = body.clientToken, token.count > ClientTokenEvent.maximumBytes {
            throw Refusal(
                .invalidArguments,
                "A client token has at most \(ClientTokenEvent.maximumBytes) bytes, and this one \(token.count).",
                rule: .clientTokenLimit)
        }
        try judging.checkRoomForRequest()
        var bytes = 0
        facts.reserveCapacity(body.saves.count)
        for index in body.saves.indices {
            let type = body.saves[index].type
            guard type > 0, type <= UInt64(schemaBindings.types.count) else {
                throw Refusal(
                    .invalidArguments, "The request uses ordinal \(type) as a type but does not define it.",
                    rule: .requestNames)
            }
            let facts = try SaveFacts(body.saves[index], schemaBindings.keys)
            try Judging.checkRoom(for: body.saves[index], facts)
            self.facts.append(facts)
            bytes += facts.sentBytes
            if facts.isAscending { continue }
            let save = body.saves[index]
            guard Set(save.fields.map(\.field)).count == save.fields.count else {
                throw Refusal(
                    .invalidArguments, "A key appears twice in record '\(save.record.name)'.", rule: .requestNames)
            }
        }
        try judging.limits.checkByteCount(bytes)
    }

    /// The commit in which the client token was used before, if it is the device's last token in every zone (B65).
    private func repeatedOffset() throws -> UInt64? {
        guard let token = body.clientToken, actor.device != 0 else { return nil }
        var offset: UInt64?
        lazy var items = itemsDigest
        let indices = Set(saves.map(\.zoneIndex) + deletes.map(\.zoneIndex)).filter { resolved.zones[$0].isAlive }
        for zone in indices.map({ resolved.zones[$0] }) {
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
            appendZone(of: state.zoneIndex, to: &bytes)
            bytes.appendString(save.record.name)
        }
        for (state, delete) in zip(deletes, body.deletes) {
            bytes.append(2 as UInt8)
            appendZone(of: state.zoneIndex, to: &bytes)
            bytes.appendString(delete.name)
        }
        return UInt64(truncatingIfNeeded: bytes.bytes.withUnsafeBytes { DigestHash.hash(0, $0) })
    }

    private func appendZone(of zoneIndex: Int, to bytes: inout ByteWriter) {
        let zone = resolved.zones[zoneIndex]
        bytes.appendString(zone.name)
        // Only in the shared database may zones of several owners have one name.
        if zone.shared != nil { bytes.appendString(zone.owner) }
    }

    private func findItems() throws {
        let count = body.saves.count + body.deletes.count
        var known = Set<RecordKey>(minimumCapacity: count > 1 ? count : 0)
        saves.reserveCapacity(body.saves.count)
        for (index, save) in body.saves.enumerated() {
            let zoneIndex = try resolved.zoneIndex(of: save.record.zone)
            guard count == 1 || known.insert(RecordKey(zone: UInt64(zoneIndex), name: save.record.name)).inserted else {
                throw Refusal(
                    .invalidArguments, "You can't save the same record twice: \(save.record.name)", rule: .recordsOnce)
            }
            saves.append(SaveState(zoneIndex: zoneIndex, facts[index]))
        }
        for delete in body.deletes {
            let zoneIndex = try resolved.zoneIndex(of: delete.zone)
            guard known.insert(RecordKey(zone: UInt64(zoneIndex), name: delete.name)).inserted else {
                throw Refusal(
                    .invalidArguments,
                    "You can't save and delete the same record (\(delete.name)), or delete it twice, in one operation.",
                    rule: .recordsOnce)
            }
            deletes.append(DeleteState(zoneIndex: zoneIndex))
        }
    }

    /// Looks up the stored records of all saves together.
    private func findStored() throws {
        let zones = resolved.zones
        var keys: [RecordKey] = []
        var indices: [Int] = []
        keys.reserveCapacity(saves.count)
        indices.reserveCapacity(saves.count)
        for (index, save) in saves.enumerated() where zones[save.zoneIndex].isAlive {
            guard zones[save.zoneIndex].ordinal != 0 else { continue }
            keys.append(RecordKey(zone: zones[save.zoneIndex].ordinal, name: body.saves[index].record.name))
            indices.append(index)
        }
        for (index, stored) in zip(indices, try view.records(keys)) {
            (saves[index].found, saves[index].isLookedUp) = (stored, true)
        }
    }

    // MARK: The quota

    /// - Throws: ``Refusal`` for a save whose growth exceeds the quota (docs/rules.md §5.9).
    func checkQuota(_ index: Int) throws {
        let database = resolved.zones[saves[index].zoneIndex].database
        guard !quotas.isEmpty, var quota = quotas[database] else { return }
        let before = try saves[index].stored.map { try usedBytes($0) { _ in true } } ?? 0
        let growth = try min(usedBytes(after: index), FieldValue.maximumUsedBytes) - before
        saves[index].growth = growth
        if growth <= 0 { return }
        guard quota.reserve(UInt64(growth)) else {
            if resolved.scope == .shared {
                // Members do not learn how much else the owner has.
                throw Refusal(
                    .quotaExceeded,
                    "Record '\(body.saves[index].record.name)' needs more bytes than the zone's owner has left.",
                    rule: .recordLimits)
            }
            throw Refusal(
                .quotaExceeded,
                """
                Record '\(body.saves[index].record.name)' needs \(growth) bytes more, and \(quota.usage) of \
                \(quota.bytes) bytes are in use.
                """, rule: .recordLimits)
        }
        quotas[database] = quota
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
        let sent = state.facts.sentBytes + state.shareBytes
        guard state.facts.hasRemovals else { return sent }
        return state.fields.reduce(sent) {
            $1.value == nil ? $0 - schemaBindings.keys[Int($1.field) - 1].byteCount : $0
        }
    }

    /// The ordinals in the store of a save's known keys.
    func sentFields(_ save: ModifyRecordsRequest.Save) throws -> Set<UInt64> {
        var fields = try Set(save.fields.compactMap { try view.ordinal(of: .field(key($0.field))) })
        if save.sharing?.changesParticipation == true { fields.insert(UInt64(try view.shareField())) }
        return fields
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

    var usageChange: UsageChange {
        guard let database = quotas.keys.first else { return .none }
        if changesShares { return .unknown }
        // The bytes that deletions free are not known here.
        guard quotas.count == 1, database != 0, deletes.allSatisfy({ $0.refusal != nil || $0.cascade.isEmpty }) else {
            return .unknown
        }
        let growth = saves.reduce(0) { $0 + ($1.refusal == nil ? $1.growth : 0) }
        return .grows(database: database, bytes: growth)
    }

    func isOwnUserRecord(_ name: String, _ zoneIndex: Int) throws -> Bool {
        // No other record's name begins so.
        guard name.utf8.first == UInt8(ascii: "_") else { return false }
        return try resolved.zones[zoneIndex].isDefault && resolved.zones[zoneIndex].isOwn
            && isSameText(name, actor.recordName)
    }
}

/// The state of a save while it is judged.
struct SaveState {
    /// The index of its zone in the resolved request.
    let zoneIndex: Int
    var refusal: Refusal?
    /// The record as the actor sees it.
    var stored: StoredRecord?
    /// The record as the state has it, if it was looked up.
    var found: StoredRecord?
    var isLookedUp = false
    /// The sent fields, converted to the kinds of their keys; ordinals are the request's own.
    var fields: [FieldChange] = []
    let facts: SaveFacts
    /// The change of the share whose record is saved; nil for other records, and if only fields change.
    var share: ShareEffect?
    /// The bytes of the state of the share in the record, if it changes.
    var shareBytes = 0
    /// The number of bytes by which the record's quota usage grows, if there is a quota.
    var growth = 0

    init(zoneIndex: Int, _ facts: SaveFacts) {
        self.zoneIndex = zoneIndex
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
        // By index, because a loop over the changes would copy each value.
        for index in save.fields.indices {
            let field = save.fields[index].field
            guard field > 0, Int(field) <= keys.count else {
                throw Refusal(
                    .invalidArguments, "The request uses ordinal \(field) as a key but does not define it.",
                    rule: .requestNames)
            }
            if field <= last { isAscending = false }
            last = field
            sentBytes += keys[Int(field) - 1].byteCount
            guard let kind = save.fields[index].kind else {
                hasRemovals = true
                continue
            }
            sentBytes += save.fields[index].chargedBytes
            if kind.element == .asset { assetBytes += save.fields[index].value?.usedBytes ?? 0 }
            if kind.element == .reference { hasReferences = true }
            if kind.isSealed { hasSealed = true }
        }
    }
}

/// The state of a delete while it is judged.
struct DeleteState {
    /// The index of its zone in the resolved request.
    let zoneIndex: Int
    var refusal: Refusal?
    var stored: StoredRecord?
    /// The record itself and the records that go with it and with no previous delete, breadth first; empty if there is
    /// nothing to delete.
    var cascade: [String] = []
    /// The record of the share that a member leaves by this delete, with the effect.
    var leaving: (stored: StoredRecord, effect: ShareEffect)?
    /// True if the delete has no event.
    var isLeftOut: Bool { refusal != nil || cascade.isEmpty }

    init(zoneIndex: Int) { self.zoneIndex = zoneIndex }
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
    mutating func reserve(_ growth: UInt64) -> Bool {
        let (sum, isOver) = usage.addingReportingOverflow(growth)
        guard !isOver, sum <= bytes else { return false }
        usage = sum
        return true
    }
}
