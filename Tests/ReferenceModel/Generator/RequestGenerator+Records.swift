import StrataModel

extension RequestGenerator {
    /// The last two look the same, and are not.
    static let recordNames = ["a", "b", "c", "d", "e", "f", "\u{E9}", "e\u{301}"]

    /// What a record of this name is mostly saved as.
    static func typeName(of record: String) -> String { ["a", "b", "c"].contains(record) ? "Task" : "Note" }

    /// A request that is being drawn.
    struct Draft {
        let store: ReferenceStore
        let actor: Actor
        let database: DatabaseID
        var names = RequestNames()
        var content = ModifyRecordsRequest()
        /// Where this request saves or deletes already.
        var taken: Set<ReferencePlace> = []

        func zone(_ name: String) -> ReferenceZone? {
            store.state.databases[database]?.zones[ReferenceName(name)]
        }

        func stored(_ zone: String, _ record: String) -> ReferenceRecord? {
            self.zone(zone)?.records[ReferenceName(record)]
        }

        /// - Parameter changeable: only of records that the actor may change and delete.
        func storedNames(_ zone: String, changeable: Bool = false) -> [String] {
            let records = self.zone(zone)?.records ?? [:]
            let names = records.keys.filter { name in
                if records[name]?.sharing != nil { return false }
                guard changeable, let record = records[name] else { return true }
                return record.type != .users && (database.scope == .private || record.createdBy == actor.user)
            }
            return names.sorted().map(\.text)
        }
    }

    mutating func modifyingRecords(_ store: ReferenceStore, _ actor: Actor) -> Request {
        let scope: InternedName.Scope = dice.chance(3) ? .shared : dice.chance(70) ? .private : .public
        let database = DatabaseID(scope, owner: scope == .public ? "" : actor.user)
        var draft = Draft(store: store, actor: actor, database: database)
        draft.content.policy = dice.pick([.ifServerRecordUnchanged, .ifServerRecordUnchanged, .changedKeys, .allKeys])
        draft.content.isAtomic = dice.chance(55)
        drawItems(&draft)
        if dice.chance(4) { fillToRequestBytes(&draft) }
        drawToken(&draft)
        return Request(
            database: DatabaseID(database.scope), names: draft.names, .modifyRecords(draft.content))
    }

    private mutating func drawItems(_ draft: inout Draft) {
        var count = dice.chance(2) ? 0 : 1 + dice.number(below: 5)
        if dice.chance(3) { count = limits.itemsPerRequest + dice.number(below: 2) }
        let home = drawZone(draft)
        for index in 0..<count {
            let zone = dice.chance(80) ? home : drawZone(draft)
            let isDelete = dice.chance(20)
            var name = dice.pick(Self.recordNames)
            // Mostly a record that the actor may change.
            if draft.database.scope == .public, dice.chance(80) { name += draft.actor.user }
            let stored = draft.storedNames(zone, changeable: dice.chance(85))
            if isDelete, !stored.isEmpty, dice.chance(75) { name = dice.pick(stored) }
            if dice.chance(3) { name = oddName(draft) }
            let owner = drawOwner(draft.store, draft.actor.user)
            let place = ReferencePlace(owner: "", zone: ReferenceName(zone), name: ReferenceName(name))
            if !draft.taken.insert(place).inserted, !dice.chance(4) {
                guard count >= limits.itemsPerRequest else { continue }
                name = "more\(index)"
            }
            let record = RecordKey(zone: draft.names.ordinal(of: ZoneID(zone, owner: owner)), name: name)
            if isDelete {
                draft.content.deletes.append(record)
            } else {
                drawSave(of: record, in: zone, into: &draft)
            }
        }
    }

    private mutating func drawZone(_ draft: Draft) -> String {
        guard draft.database.scope == .private else { return dice.chance(97) ? "_defaultZone" : dice.pick(Self.zones) }
        let living = livingZones(draft.store, draft.actor.user)
        if dice.chance(living.isEmpty ? 80 : 20) { return "_defaultZone" }
        return living.isEmpty || dice.chance(8) ? dice.pick(Self.zones) : dice.pick(living)
    }

    private mutating func oddName(_ draft: Draft) -> String {
        switch dice.number(below: 8) {
        case 0: ""
        case 1: "_hidden"
        case 2: "bell\u{7}"
        case 3: String(repeating: "n", count: 255 + dice.number(below: 2))
        case 4: draft.store.userRecordName(dice.pick(Self.users))
        default: draft.store.userRecordName(draft.actor.user)
        }
    }

    mutating func drawSave(of record: RecordKey, in zone: String, into draft: inout Draft) {
        let stored = draft.stored(zone, record.name)
        var type = stored?.type.text ?? Self.typeName(of: record.name)
        if record.name == draft.store.userRecordName(draft.actor.user), dice.chance(85) { type = "Users" }
        if dice.chance(3) { type = dice.pick(["Note", "Task", "Users"]) }
        if dice.chance(1) { type = dice.pick(["", "_Type", "1st", "Caf\u{E9}", String(repeating: "t", count: 256)]) }
        var save = ModifyRecordsRequest.Save(record, type: draft.names.ordinal(ofType: type))
        save.base = drawBase(draft, ReferenceName(zone), ReferenceName(record.name), stored)
        save.parent = drawParent(draft, record, zone)
        if case .set(let parent) = save.parent, parent.zone == .max {
            save.parent = .set(RecordKey(zone: draft.names.ordinal(of: ZoneID("Elsewhere")), name: parent.name))
        }
        save.fields = drawFields(&draft, record, zone)
        if dice.chance(4) { fillToRecordBytes(&save, stored, &draft) }
        draft.content.saves.append(save)
    }

    private mutating func drawBase(
        _ draft: Draft, _ zone: ReferenceName, _ name: ReferenceName, _ stored: ReferenceRecord?
    ) -> Version? {
        let past = versions.past(draft.database, zone, name)
        switch dice.number(below: 100) {
        case ..<78: return stored?.version
        case ..<85: return nil
        case ..<95: return past.isEmpty ? nil : dice.pick(past)
        case ..<98: return draft.zone(zone.text)?.records.values.map(\.version).min()
        default: return Version(offset: ReferenceStore.inventedOffset, eventIndex: 7)
        }
    }

    private mutating func drawParent(_ draft: Draft, _ record: RecordKey, _ zone: String) -> LinkChange {
        let stored = draft.storedNames(zone)
        switch dice.number(below: 100) {
        case ..<65: return .kept
        case ..<72: return .removed
        case ..<86 where !stored.isEmpty: return .set(RecordKey(zone: record.zone, name: dice.pick(stored)))
        case ..<98: return .set(RecordKey(zone: record.zone, name: dice.pick(Self.recordNames)))
        case ..<99: return .set(RecordKey(zone: .max, name: dice.pick(Self.recordNames)))
        default: return .set(RecordKey(zone: record.zone, name: String(repeating: "p", count: 256)))
        }
    }

    mutating func drawToken(_ draft: inout Draft) {
        switch dice.number(below: 1_000) {
        case ..<300: draft.content.clientToken = newToken()
        case ..<315: draft.content.clientToken = token(of: draft.actor)
        case ..<318: draft.content.clientToken = Array(repeating: 1, count: 65_537)
        default: break
        }
    }

    private func token(of actor: Actor) -> [UInt8]? {
        guard case .modifyRecords(let content)? = tokened[actor]?.content else { return nil }
        return content.clientToken
    }
}
