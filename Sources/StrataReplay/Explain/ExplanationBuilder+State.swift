import StrataModel
import StrataStore
import StrataTree
import StrataViews

/// Opens the state that a request was judged on, as far as it decides about the request.
extension ExplanationBuilder {
    /// Opens the newest state with the records that decide turned back, if nothing else that decides has changed; else,
    /// if these records decide, a state that is folded without other records; else the whole state.
    func past(_ state: UInt64, for request: Request, by actor: Actor, _ answer: ExplanationAnswer) throws -> Store {
        didOpen(state)
        if !usesWholeStates, request.isDecidedByNamedRecords(deletesNothing: answer.outcome == .nothingToDo) {
            let saved = try commit.savedRecords()
            // If a frame of the newest state is damaged, the others may still serve.
            if let past = try? turnedBack(to: state, for: request, by: actor, saved) { return past }
            let names = Set((request.namedRecords + saved).map { Array($0.name.utf8) })
            if let past = try store.past.state(at: state, records: names) { return past }
        }
        if !usesWholeStates, request.needsNoRecords, let past = try store.past.state(at: state, records: []) {
            return past
        }
        return try store.past.state(at: state)
    }

    private func turnedBack(
        to state: UInt64, for request: Request, by actor: Actor, _ saved: [RecordKey]
    ) throws -> Store? {
        let newest = store.snapshot().trees
        guard let places = try request.unchangedZones(by: actor, since: state, in: newest) else { return nil }
        let named = request.namedRecords.compactMap { record -> RecordKey? in
            guard let zone = record.zone > 0 ? places[record.zone] : nil else { return nil }
            return RecordKey(zone: zone, name: record.name)
        }
        return try store.past.state(at: state, turningBack: Set(named + saved), in: newest)
    }
}

extension ExplainedCommit {
    /// Returns the records that the commit saved, also the parents that it touched.
    fileprivate func savedRecords() throws -> [RecordKey] {
        try envelope.events.filter { $0.kind == .recordSaved }.map { event in
            try event.body.withUnsafeBytes { try RecordEvent(.recordSaved, $0).key }
        }
    }
}

extension Request {
    /// The records of the request's items, and the parents that it sets, in the zones of the request.
    fileprivate var namedRecords: [RecordKey] {
        guard case .modifyRecords(let body) = content else { return [] }
        let parents = body.saves.compactMap { save -> RecordKey? in
            if case .set(let parent) = save.parent { parent } else { nil }
        }
        return body.saves.map(\.record) + parents + body.deletes
    }

    /// Returns true if only the records that the request names and saves decide about it, besides zones, schemas and
    /// the like; false if any record may.
    ///
    /// - Parameter deletesNothing: true if none of the records to delete exist.
    fileprivate func isDecidedByNamedRecords(deletesNothing: Bool) -> Bool {
        guard case .modifyRecords(let body) = content, body.clientToken == nil,
            !names.recordTypes.contains(ShareState.recordType)
        else { return false }
        if !body.deletes.isEmpty, !deletesNothing || !body.saves.isEmpty { return false }
        return !body.saves.contains { $0.dependsOnOthers }
    }

    /// True if no record decides about the request, in a store without accounts and shares.
    fileprivate var needsNoRecords: Bool {
        switch content {
        case .modifyZones(let body): body.deletes.isEmpty
        case .modifySubscriptions, .declareSchema: true
        default: false
        }
    }

    /// Returns the zones of a state by their ordinals in the request; nil if one of them or a type of the request has
    /// changed since an offset, or began.
    fileprivate func unchangedZones(
        by actor: Actor, since offset: UInt64, in trees: Snapshot
    ) throws -> [UInt64: UInt64]? {
        let database = database.named(for: actor.user)
        guard database.scope != .shared else { return nil }
        var places: [UInt64: UInt64] = [:]
        for (index, zone) in names.zones.enumerated() {
            guard let place = try trees.place(of: zone, in: database, as: actor) else { continue }
            // Rows of deleted zones remain, so a zone without a row never existed.
            if let row = try trees.zoneRow(place.database, place.zone) {
                guard row.status == .alive, row.version.offset <= offset else { return nil }
            }
            places[UInt64(index) + 1] = place.zone
        }
        for type in names.recordTypes {
            guard let ordinal = try trees.ordinal(of: .recordType(type)) else { continue }
            guard let version = try trees.declarationVersion(of: ordinal), version.offset <= offset else { return nil }
        }
        return places
    }
}

extension ModifyRecordsRequest.Save {
    /// True if other records than its own and its parent may decide: those of a share, and all that own a target.
    fileprivate var dependsOnOthers: Bool {
        if share != .kept || sharing != nil { return true }
        return fields.contains { $0.value?.references.contains { $0.action == .deleteSelf } == true }
    }
}
