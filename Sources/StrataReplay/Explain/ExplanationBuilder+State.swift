import StrataModel
import StrataStore
import StrataTree
import StrataViews

/// Opens the state that a request was judged on, as far as it decides about the request.
extension ExplanationBuilder {
    /// Opens the newest state with the records that the request names turned back, if nothing else has changed that
    /// decides; else, if these records decide, a state that is folded without other records; else the whole state.
    func past(_ state: UInt64, for request: Request, by actor: Actor, _ answer: ExplanationAnswer) throws -> Store {
        didOpen(state)
        if !usesWholeStates, let names = request.decidingRecords(deletesNothing: answer.outcome == .nothingToDo) {
            // If a page of the newest state is damaged, the others may still serve.
            if let past = try? turnedBack(to: state, for: request, by: actor) { return past }
            if let past = try store.past.state(at: state, records: names) { return past }
        }
        return try store.past.state(at: state)
    }

    private func turnedBack(to state: UInt64, for request: Request, by actor: Actor) throws -> Store? {
        let newest = store.snapshot().trees
        return try request.recordsAlone(by: actor, since: state, in: newest).flatMap {
            try store.past.state(at: state, turningBack: $0, in: newest)
        }
    }
}

extension Request {
    /// Returns the names of the records on which the decision about the request depends, besides zones, schemas and the
    /// like; nil if it may depend on any record.
    ///
    /// - Parameter deletesNothing: true if none of the records to delete exist.
    fileprivate func decidingRecords(deletesNothing: Bool) -> Set<[UInt8]>? {
        guard case .modifyRecords(let body) = content, body.clientToken == nil,
            body.deletes.isEmpty || deletesNothing && body.saves.isEmpty,
            !body.saves.contains(where: { $0.refersToOthers })
        else { return nil }
        return Set((body.saves.map(\.record.name) + body.deletes.map(\.name)).map { Array($0.utf8) })
    }

    /// Returns the records that the request names; nil if a zone or a type of the request has changed since an offset,
    /// or began.
    fileprivate func recordsAlone(by actor: Actor, since offset: UInt64, in trees: Snapshot) throws -> Set<RecordKey>? {
        let database = database.named(for: actor.user)
        guard database.scope != .shared else { return nil }
        var ordinals: [UInt64] = []
        for zone in names.zones {
            let place = try trees.place(of: zone, in: database, as: actor)
            // Rows of deleted zones remain, so a zone without a row never existed.
            if let place, let row = try trees.zoneRow(place.database, place.zone) {
                guard row.status == .alive, row.version.offset <= offset else { return nil }
            }
            ordinals.append(place?.zone ?? 0)
        }
        for type in names.recordTypes {
            guard let ordinal = try trees.ordinal(of: .recordType(type)) else { continue }
            guard let version = try trees.declarationVersion(of: ordinal), version.offset <= offset else { return nil }
        }
        let keys = items.compactMap { item -> RecordKey? in
            guard let zone = item.zone, let name = item.name, zone > 0, zone <= UInt64(ordinals.count),
                ordinals[Int(zone) - 1] > 0
            else { return nil }
            return RecordKey(zone: ordinals[Int(zone) - 1], name: name)
        }
        return Set(keys)
    }
}

extension ModifyRecordsRequest.Save {
    fileprivate var refersToOthers: Bool {
        if parent != .kept || share != .kept { return true }
        return fields.contains { $0.value?.kind.element == .reference }
    }
}
