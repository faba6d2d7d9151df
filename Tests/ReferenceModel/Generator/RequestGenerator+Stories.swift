import StrataModel

extension RequestGenerator {
    /// A first write that is the user's own record.
    mutating func savingUserRecord(_ store: ReferenceStore, _ actor: Actor) -> Request {
        var request = Request(
            database: DatabaseID(dice.chance(50) ? .private : .public), .modifyRecords(ModifyRecordsRequest()))
        let zone = request.names.ordinal(of: ZoneID("_defaultZone"))
        let type = request.names.ordinal(ofType: dice.chance(60) ? "Users" : "Note")
        let save = ModifyRecordsRequest.Save(
            RecordKey(zone: zone, name: store.userRecordName(actor.user)), type: type,
            fields: [FieldChange(request.names.ordinal(ofKey: "title"), .string("me"))])
        request.content = .modifyRecords(ModifyRecordsRequest(saves: [save], clientToken: newToken()))
        return request
    }

    /// Records of which each owns the next, and the delete of the first.
    mutating func ownedInTurn(_ store: ReferenceStore, _ actor: Actor) -> [(Request, Actor)] {
        let living = livingZones(store, actor.user)
        let zone = ZoneID(living.isEmpty ? "_defaultZone" : dice.pick(living))
        var request = Request(database: DatabaseID(.private), .modifyRecords(ModifyRecordsRequest()))
        let ordinal = request.names.ordinal(of: zone)
        let type = request.names.ordinal(ofType: "Note")
        let owner = request.names.ordinal(ofKey: "owner")
        let keys = (0..<4).map { RecordKey(zone: ordinal, name: "link\($0)") }
        var saves = [ModifyRecordsRequest.Save(keys[0], type: type)]
        for (key, target) in zip(keys.dropFirst(), keys) {
            let reference = FieldValue.Reference(target, action: .deleteSelf)
            saves.append(.init(key, type: type, fields: [FieldChange(owner, .reference(reference))]))
        }
        var deleting = request
        request.content = .modifyRecords(ModifyRecordsRequest(saves: saves, policy: .changedKeys))
        deleting.content = .modifyRecords(ModifyRecordsRequest(deletes: [keys[dice.number(below: 2)]]))
        return [(request, actor), (deleting, actor)]
    }

    /// One record lets go of a target that has as many as it may, and another takes its place.
    mutating func owningSwapped(_ store: ReferenceStore, _ actor: Actor) -> Request? {
        let database = DatabaseID(.private, owner: actor.user)
        let zones = store.state.databases[database]?.zones.values.filter(\.isAlive) ?? []
        for zone in zones.sorted(by: { $0.name < $1.name }) {
            let owned = zone.records.filter { $0.value.fields["owner"] != nil && $0.value.type != .users }
            for name in owned.keys.sorted() {
                guard let target = owned[name]?.owners.sorted().first,
                    zone.records.values.filter({ $0.owners.contains(target) }).count >= limits.owningReferences
                else { continue }
                return swap(zone.name, name, target, zone)
            }
        }
        return nil
    }

    private func swap(
        _ zoneName: ReferenceName, _ leaving: ReferenceName, _ target: ReferenceName, _ zone: ReferenceZone
    ) -> Request? {
        let taking = Self.recordNames.map { ReferenceName($0) }.first {
            $0 != leaving && zone.records[$0]?.owners.contains(target) != true
        }
        guard let taking else { return nil }
        var request = Request(database: DatabaseID(.private), .modifyRecords(ModifyRecordsRequest()))
        let ordinal = request.names.ordinal(of: ZoneID(zoneName.text))
        let owner = request.names.ordinal(ofKey: "owner")
        let owners = request.names.ordinal(ofKey: "owners")
        let reference = FieldValue.Reference(RecordKey(zone: ordinal, name: target.text), action: .deleteSelf)
        let changes = [
            (leaving, [FieldChange(owner, nil), FieldChange(owners, nil)]),
            (taking, [FieldChange(owner, .reference(reference))]),
        ]
        let saves = changes.map { name, fields in
            let type = zone.records[name]?.type.text ?? Self.typeName(of: name.text)
            return ModifyRecordsRequest.Save(
                RecordKey(zone: ordinal, name: name.text), type: request.names.ordinal(ofType: type), fields: fields)
        }
        request.content = .modifyRecords(ModifyRecordsRequest(saves: saves, policy: .changedKeys, isAtomic: false))
        return request
    }
}
