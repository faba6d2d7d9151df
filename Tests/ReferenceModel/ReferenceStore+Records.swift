import StrataModel

extension ReferenceStore {
    /// A save with its names looked up.
    struct SaveItem {
        var place: ReferencePlace
        var type: ReferenceName
        var base: Version?
        /// Nil to keep it; the target may be nowhere.
        var parent: ParentChange?
        var share: ParentChange?
        var sharing: ShareChange?
        var fields: [(key: ReferenceName, value: FieldValue?)]
        var bytes: Int
    }

    enum ParentChange {
        case removed
        case set(ReferencePlace?)
    }

    mutating func modifyRecords(
        _ request: ModifyRecordsRequest, _ names: RequestNames, _ asker: Asker, _ time: Int64
    ) throws(Refusal) -> RequestResult {
        let count = request.saves.count + request.deletes.count
        try checkItemCount(count)
        guard (request.clientToken?.count ?? 0) <= 65_536 || bends(.longTokenAccepted) else {
            throw Refusal(.invalidArguments, "a client token that is too long", rule: .clientTokenLimit)
        }
        var saves: [SaveItem] = []
        for save in request.saves { saves.append(try Self.item(save, names, asker)) }
        guard saves.allSatisfy({ Set($0.fields.map(\.key)).count == $0.fields.count }) || bends(.sameKeyTwiceAccepted)
        else { throw Refusal(.invalidArguments, "a key twice in one record", rule: .requestNames) }
        var deletes: [ReferencePlace] = []
        for record in request.deletes {
            guard let place = Self.place(record, names, asker) else {
                throw Refusal(.invalidArguments, "no such name", rule: .requestNames)
            }
            deletes.append(place)
        }
        let most = limit(limits.requestBytes, less: .requestOneByteLess, more: .requestOneByteMore)
        guard saves.reduce(0, { $0 + $1.bytes }) <= most else {
            throw Refusal(.limitExceeded, "too many bytes", rule: .byteLimit)
        }
        let items = ReferenceItems(saves: saves.map(\.place), deletes: deletes)
        guard Set(items.saves + items.deletes).count == count || bends(.duplicateAccepted) else {
            throw Refusal(.invalidArguments, "a record twice in one request", rule: .recordsOnce)
        }
        guard count > 0 else { return RequestResult() }
        if let token = request.clientToken, let result = repeated(token, items, asker) { return result }

        var judgement = Judgement(store: self, asker: asker, request: request, saves: saves, deletes: deletes)
        judgement.judge()
        return write(judgement, items, time)
    }

    /// The results of the commit that had the token, if all living zones with items remember the same one.
    private func repeated(_ token: [UInt8], _ items: ReferenceItems, _ asker: Asker) -> RequestResult? {
        guard !bends(.tokenRepeatIsApplied) else { return nil }
        var found: ReferenceToken?
        for zone in Set((items.saves + items.deletes).filter { $0.owner == "" }.map(\.zone)) {
            guard missingZone("", zone, asker) == nil else { continue }
            let tokens = state.databases[asker.database]?.zones[zone]?.tokens ?? [:]
            var last = tokens[asker.actor]
            if bends(.tokenOfOtherDeviceRepeats) {
                last = tokens.values.filter { $0.token == token }.min { $0.commit < $1.commit } ?? last
            }
            guard let last, last.token == token, last.items == items else { return nil }
            guard last.commit == found?.commit ?? last.commit else { return nil }
            found = last
        }
        return found?.result
    }

    private static func place(_ record: RecordKey, _ names: RequestNames, _ asker: Asker) -> ReferencePlace? {
        guard let zone = names.zone(record.zone) else { return nil }
        return ReferencePlace(
            owner: asker.owner(zone), zone: ReferenceName(zone.name), name: ReferenceName(record.name))
    }

    private static func item(
        _ save: ModifyRecordsRequest.Save, _ names: RequestNames, _ asker: Asker
    ) throws(Refusal) -> SaveItem {
        let unknown = Refusal(.invalidArguments, "no such name", rule: .requestNames)
        guard let place = place(save.record, names, asker), let type = names.recordType(save.type) else {
            throw unknown
        }
        var item = SaveItem(place: place, type: ReferenceName(type), base: save.base, fields: [], bytes: 0)
        switch save.parent {
        case .kept: item.parent = nil
        case .removed: item.parent = .removed
        case .set(let target): item.parent = .set(Self.place(target, names, asker))
        }
        switch save.share {
        case .kept: item.share = nil
        case .removed: item.share = .removed
        case .set(let target): item.share = .set(Self.place(target, names, asker))
        }
        item.sharing = save.sharing
        for change in save.fields {
            guard let key = names.key(change.field) else { throw unknown }
            item.bytes += key.utf8.count + (change.value?.countedBytes ?? 0)
            let value = change.value.map { Self.neutral($0, of: place, names, asker) }
            item.fields.append((ReferenceName(key), value))
        }
        return item
    }

    /// The value with 0 for the record's own zone in references, and the largest number for any other.
    private static func neutral(
        _ value: FieldValue, of place: ReferencePlace, _ names: RequestNames, _ asker: Asker
    ) -> FieldValue {
        switch value {
        case .reference(var reference):
            let target = Self.place(reference.target, names, asker)
            let isOwn = target?.zone == place.zone && target?.owner == place.owner
            reference.target.zone = isOwn ? 0 : .max
            return .reference(reference)
        case .list(let list):
            let elements = list.elements.map { neutral($0, of: place, names, asker) }
            return (try? FieldList(elements)).map { .list($0) } ?? value
        default: return value
        }
    }
}
