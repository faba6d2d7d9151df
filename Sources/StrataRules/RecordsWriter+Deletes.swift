import StrataModel
import StrataViews

/// Writes deletions and tokens, and describes the items without events.
extension RecordsWriter {
    func appendDeletes() throws {
        if judge.deletes.isEmpty { return }
        let asked = Set(
            judge.deletes.indices.filter { judge.deletes[$0].refusal == nil && !judge.deletes[$0].cascade.isEmpty }
                .map { RecordKey(zone: UInt64(judge.deletes[$0].zoneIndex), name: judge.body.deletes[$0].name) })
        var gone = Set<RecordKey>()
        for state in judge.deletes {
            result.deletes.append(state.refusal)
            guard state.refusal == nil, !state.cascade.isEmpty else { continue }
            changedZones.insert(state.zoneIndex)
            for name in state.cascade {
                let key = RecordKey(zone: UInt64(state.zoneIndex), name: name)
                // A record that goes with another and was also requested gets one deletion, at the position of its
                // item, so that the events show the order of the items.
                let isAsked = asked.contains(key)
                if isAsked, !isSameText(name, state.cascade[0]) { continue }
                guard gone.insert(key).inserted else { continue }
                try appendDelete(key, in: zones[state.zoneIndex].ordinal, isCascade: !isAsked)
            }
        }
    }

    private func appendDelete(_ key: RecordKey, in zone: UInt64, isCascade: Bool) throws {
        let record = RecordKey(zone: zone, name: key.name)
        var previous = savedEvents[key].map { Version.ofThisCommit(eventIndex: $0) }
        var type = judge.saves.isEmpty ? nil : savedType(key)
        if previous == nil || type == nil {
            guard let header = try judge.view.header(record) else {
                throw StrataError(
                    .malformed, "A record refers to another and is not there itself.", .init(found: key.name))
            }
            previous = previous ?? header.version
            type = header.type
        }
        try commit.append(RecordDeletedEvent(record, type: type ?? 0, previous: previous, isCascade: isCascade))
    }

    /// The type of a record that this commit saved.
    func savedType(_ key: RecordKey) -> UInt64? {
        guard savedEvents[key] != nil else { return nil }
        return judge.savesByRecord[key].map { types[Int(judge.body.saves[$0].type) - 1].ordinal }
    }

    func appendTokens() throws {
        guard let token = judge.body.clientToken else { return }
        let items = judge.itemsDigest
        for zone in changedZones.map({ zones[$0].ordinal }).sorted() {
            try commit.append(ClientTokenEvent(zone: zone, device: device, token: token, items: items))
        }
    }

    // MARK: The decision

    func finish(_ firstItemEvent: UInt32) throws -> Decision {
        var shape = RequestShape(
            .modifyRecords, policy: judge.body.policy, isAtomic: judge.body.isAtomic, firstItemEvent: firstItemEvent,
            saveCount: judge.saves.count, deleteCount: judge.deletes.count)
        shape.consequenceCount = consequenceCount
        shape.shareChanges = acceptedShareChanges
        if let left = leftOut { shape.leaveOut(left.items, request: left.request) }
        let header = try judge.judging.context.header(.modifyRecords, user: user, device: device, shape)
        var decision = Decision(commit, header, result, naming: names.new, trace: trace)
        decision.found = found
        decision.changedTypes = newBindings.map { types[$0.type].ordinal }
        decision.keepsZones = !names.new.contains { [.database, .zone].contains($0.name.namespace) }
        return decision
    }
}

extension RecordsWriter {
    /// The items without an event; nil if every item has one.
    private var leftOut: LeftOutRecords? {
        guard judge.deletes.contains(where: \.isLeftOut) || judge.saves.contains(where: { $0.refusal != nil }) else {
            return nil
        }
        var left = LeftOutRecords(judge)
        left.nameKeysInOrder()
        for (index, state) in judge.saves.enumerated() {
            if let refusal = state.refusal { left.addSave(index, refusal) }
        }
        for (index, state) in judge.deletes.enumerated() where state.isLeftOut { left.addDelete(index, state.refusal) }
        return left
    }
}

/// The items of a request that have no event, as a request of their own.
struct LeftOutRecords {
    private let judge: RecordsJudge
    private(set) var items: [RequestShape.LeftOut] = []
    private var names = RequestNames()
    private var body: ModifyRecordsRequest

    init(_ judge: RecordsJudge) {
        self.judge = judge
        body = ModifyRecordsRequest(policy: judge.body.policy, isAtomic: judge.body.isAtomic)
    }

    var request: Request { Request(database: judge.judging.request.database, names: names, .modifyRecords(body)) }

    /// Preserves the order of keys, so that the reconstructed request is judged in the same order.
    mutating func nameKeysInOrder() {
        var keys = Set<UInt32>()
        for (save, state) in zip(judge.body.saves, judge.saves) where state.refusal != nil {
            for change in save.fields { keys.insert(change.field) }
        }
        for key in keys.sorted() { _ = names.ordinal(ofKey: judge.key(key)) }
    }

    mutating func addSave(_ index: Int, _ refusal: Refusal) {
        items.append(.init(.saves, index: index, refusal: refusal))
        var save = judge.body.saves[index]
        save.record.zone = place(save.record.zone)
        save.type = names.ordinal(ofType: judge.schemaBindings.types[Int(save.type) - 1].name)
        save.parent = place(save.parent)
        save.share = place(save.share)
        save.fields = save.fields.map { change in
            FieldChange(names.ordinal(ofKey: judge.key(change.field)), change.value.map { place($0) })
        }
        save.fields.sort { $0.field < $1.field }
        body.saves.append(save)
    }

    mutating func addDelete(_ index: Int, _ refusal: Refusal?) {
        items.append(.init(.deletes, index: index, refusal: refusal))
        let delete = judge.body.deletes[index]
        body.deletes.append(RecordKey(zone: place(delete.zone), name: delete.name))
    }

    private mutating func place(_ zone: UInt64) -> UInt64 {
        judge.judging.request.names.zone(zone).map { names.ordinal(of: $0) } ?? 0
    }

    private mutating func place(_ link: LinkChange) -> LinkChange {
        if case .set(let target) = link { .set(RecordKey(zone: place(target.zone), name: target.name)) } else { link }
    }

    private mutating func place(_ value: FieldValue) -> FieldValue {
        (try? value.mappingTargets { place($0) }) ?? value
    }
}

extension RequestContext {
    /// The header of a request's commit.
    ///
    /// - Parameter shape: nil for a lazy commit, which contains only a note.
    func header(
        _ kind: EnvelopeHeader.OperationKind, user: UInt64, device: UInt64, _ shape: RequestShape?
    ) throws -> EnvelopeHeader {
        EnvelopeHeader(
            user: user, device: device, operationID: operation.id.cut(toBytes: EnvelopeHeader.maximumTextBytes),
            operationKind: kind,
            qualityOfService: operation.qualityOfService,
            groupID: operation.groupID.cut(toBytes: EnvelopeHeader.maximumTextBytes),
            groupName: operation.groupName.cut(toBytes: EnvelopeHeader.maximumTextBytes),
            requestShape: try shape?.encoded()[...] ?? [],
            isLazy: shape == nil, judgedOn: judgedOn, actorKind: user == 0 ? .init(actor) : nil)
    }
}
