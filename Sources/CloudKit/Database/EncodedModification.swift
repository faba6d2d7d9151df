import Foundation
import StrataModel
import StrataStore

/// A request for the store, with the state needed to interpret its answer.
///
/// Records with invalid values cannot be sent; they fail here, alone or with their zone (B84, B270).
struct EncodedModification {
    /// Keeps the asset files until the answer arrives.
    private let modification: RecordsModification
    private let call: DatabaseCall
    /// The error of each item that is not sent.
    private var saveErrors: [Int: CKError] = [:]
    private var deleteErrors: [Int: CKError] = [:]
    private(set) var request: Request

    /// - Parameter errors: The errors of items that the console makes fail, by index, deletes after saves.
    init(
        _ modification: RecordsModification, failing errors: [Int: CKError], _ call: DatabaseCall,
        _ opened: CloudStore
    ) throws {
        self.modification = modification
        self.call = call
        var names = RequestNames()
        var body = ModifyRecordsRequest(
            policy: modification.policy.engine, isAtomic: modification.isAtomic,
            clientToken: modification.clientToken.map { [UInt8]($0) })
        body.saves.reserveCapacity(modification.saves.count)
        request = Request(database: call.database, .modifyRecords(body))
        saveErrors = modification.assets.errors
        fail(errors, opened)
        for index in modification.saves.indices where saveErrors[index] == nil {
            do {
                body.saves.append(
                    try modification.save(index, names: &names, call))
            } catch {
                saveErrors[index] = CKError(engine: error)
            }
        }
        for id in modification.deletes {
            let id = id.model(for: call.client.userRecordName)
            body.deletes.append(RecordKey(zone: names.ordinal(of: id.zone), name: id.name))
        }
        if !saveErrors.isEmpty || !deleteErrors.isEmpty {
            try requireAllowedItems()
            failTogether()
            // The names are kept: an unused one is harmless.
            body.saves = try modification.saves.indices.filter { saveErrors[$0] == nil }.map { index in
                try modification.save(index, names: &names, call)
            }
            body.deletes = body.deletes.indices.filter { deleteErrors[$0] == nil }.map { body.deletes[$0] }
        }
        request = Request(database: call.database, names: names, .modifyRecords(body))
    }

    private mutating func fail(_ errors: [Int: CKError], _ opened: CloudStore) {
        let count = modification.saves.count
        for (index, error) in errors {
            if index < count {
                saveErrors[index] = conflict(error, modification.saves[index], opened)
            } else {
                deleteErrors[index - count] = error
            }
        }
    }

    /// Adds the records of a conflict to a conflict error that the console injects.
    private func conflict(_ error: CKError, _ record: CKRecord, _ opened: CloudStore) -> CKError {
        guard error.code == .serverRecordChanged else { return error }
        let stored = try? opened.store.newest.record(
            model(record.recordID), in: call.database, as: call.client.actor, unreadable: .withoutFields)
        var userInfo = error.userInfo
        userInfo[CKRecordChangedErrorClientRecordKey] = record
        userInfo[CKRecordChangedErrorServerRecordKey] = stored.flatMap { try? serverRecord($0, record.recordID) }
        return CKError(.serverRecordChanged, userInfo: userInfo)
    }

    /// Makes the checks that the store would make if all items were sent.
    private func requireAllowedItems() throws {
        try call.requireItemCount(modification.saves.count + modification.deletes.count)
        var seen: Set<RecordID> = []
        for id in modification.saves.map(\.recordID) + modification.deletes where !seen.insert(model(id)).inserted {
            throw CKError(
                .invalidArguments, message: "You can't save or delete the same record twice: \(id.recordName)")
        }
    }

    /// Returns the store's ID of the record, regardless of the spelling of the zone's owner (B2).
    private func model(_ id: CKRecord.ID) -> RecordID { id.model(for: call.client.userRecordName) }

    /// Returns true if the items of the zone fail together.
    private func isAtomic(_ zone: CKRecordZone.ID) -> Bool {
        modification.isAtomic && call.scope != .public && zone.zoneName != CKRecordZone.ID.defaultZoneName
    }

    private mutating func failTogether() {
        let failed =
            saveErrors.keys.map { modification.saves[$0].recordID } + deleteErrors.keys.map { modification.deletes[$0] }
        let zones = Set(failed.filter { isAtomic($0.zoneID) }.map { model($0).zone })
        func error(_ id: CKRecord.ID) -> CKError {
            CKError(
                .batchRequestFailed,
                message: "Record \(id.recordName) will not be saved because of previous error in atomic zone")
        }
        for (index, record) in modification.saves.enumerated()
        where saveErrors[index] == nil && zones.contains(model(record.recordID).zone) {
            saveErrors[index] = error(record.recordID)
        }
        for (index, id) in modification.deletes.enumerated()
        where deleteErrors[index] == nil && zones.contains(model(id).zone) {
            deleteErrors[index] = error(id)
        }
    }

    // MARK: The answer

    /// Returns the outcome for all items. The records are read from the answer's own state, as this commit left them.
    func outcome(of answer: Answer, _ options: CloudStore.Options) throws -> RecordsOutcome {
        guard answer.result.saves.count == modification.saves.count - saveErrors.count,
            answer.result.deletes.count == modification.deletes.count - deleteErrors.count
        else {
            // An earlier process did not send all of the items.
            throw CKError(
                .serverResponseLost, message: "The operation was applied, but the results of its items are not known.")
        }
        var outcome = RecordsOutcome()
        outcome.saves.reserveCapacity(modification.saves.count)
        var answered = answer.result.saves.makeIterator()
        var stored = stored(answer).makeIterator()
        for (index, record) in modification.saves.enumerated() {
            let result: Result<CKRecord, CKError>
            if let error = saveErrors[index] {
                result = .failure(error)
            } else {
                switch answered.next() {
                case .success?: result = stored.next().map { .success($0) } ?? .failure(.noResult)
                case .failure(let refusal)?: result = .failure(try error(refusal, record, answer))
                case nil: result = .failure(.noResult)
                }
            }
            outcome.saves.append((record.recordID, result))
        }
        var deleted = answer.result.deletes.makeIterator()
        for (index, id) in modification.deletes.enumerated() {
            outcome.deletes.append((id, deleteErrors[index] ?? deleted.next()?.map { CKError($0) }))
        }
        outcome.isThrown = try options.atomicFailures == .throwing && isAtomicFailure(outcome, answer)
        outcome.nameItems { $0.of($1, $2) }
        return outcome
    }

    /// Returns true if an item of an existing atomic zone failed (B87). The items of a zone that does not exist fail
    /// each on its own.
    private func isAtomicFailure(_ outcome: RecordsOutcome, _ answer: Answer) throws -> Bool {
        var failed: Set<ZoneID> = []
        func add(_ id: CKRecord.ID, _ error: CKError) {
            guard isAtomic(id.zoneID), error.code != .zoneNotFound, error.code != .userDeletedZone else { return }
            failed.insert(model(id).zone)
        }
        for case (let id, .failure(let error)) in outcome.saves { add(id, error) }
        for case (let id, let error?) in outcome.deletes { add(id, error) }
        return try failed.contains { zone in
            // An item that cannot be sent fails before its zone is looked up.
            do {
                _ = try answer.snapshot.zone(zone, in: call.database, as: call.client.actor)
                return true
            } catch is Refusal { return false }
        }
    }

    /// Returns the records after the successful saves. The state that they are read from may be later than the saves: a
    /// record may have been saved again or deleted since, and the user may have lost the right to read it.
    private func stored(_ answer: Answer) -> [CKRecord] {
        let client = call.client
        var sent = modification.saves.indices.lazy.filter { saveErrors[$0] == nil }.makeIterator()
        var saved: [(index: Int, id: RecordID, version: Version)] = []
        saved.reserveCapacity(answer.result.saves.count)
        for result in answer.result.saves {
            guard let index = sent.next() else { break }
            guard case .success(let version) = result else { continue }
            saved.append((index, model(modification.saves[index].recordID), version))
        }
        let records = try? answer.snapshot.records(
            saved.map(\.id), in: call.database, as: client.actor, unreadable: .withoutFields)
        return saved.enumerated().map { place, saved in
            let id = modification.saves[saved.index].recordID
            func made(_ record: Record?) -> CKRecord? {
                record.flatMap {
                    try? CKRecord.stored($0, id: id, for: client, isPartial: $0.isHidden, unreadable: .leaveOut)
                }
            }
            let newest = records.flatMap { try? $0[place].get() }
            if newest?.version == saved.version, let record = made(newest) { return record }
            // The log still has the record's state after this save.
            let past = try? answer.snapshot.recordIfKept(
                saved.id, at: saved.version, in: call.database, as: client.actor, unreadable: .withoutFields)
            if let record = made(past) ?? made(newest) { return record }
            let author = try? answer.snapshot.savedRecord(
                saved.id, at: saved.version, in: call.database, as: client.actor)
            return modification.sent(saved.index, as: author, saved.version, for: client)
        }
    }

    /// Returns the stored record of a conflict. Its assets have no files: only a fetch provides those (B64).
    private func serverRecord(_ record: Record, _ id: CKRecord.ID) throws -> CKRecord {
        try CKRecord.stored(
            record, id: id, for: call.client, isPartial: record.isHidden, hasAssetFiles: false,
            unreadable: .leaveOut)
    }

    /// Returns the error for a refusal. A conflict has the record that was sent, the stored one, and the one that the
    /// client started from (B62).
    private func error(_ refusal: Refusal, _ record: CKRecord, _ answer: Answer) throws -> CKError {
        guard refusal.code == .serverRecordChanged else { return CKError(refusal) }
        let client = call.client
        let id = record.recordID.model(for: client.userRecordName)
        func version(_ version: Version?) throws -> Record? {
            guard let version else { return nil }
            return try answer.snapshot.recordIfKept(
                id, at: version, in: call.database, as: client.actor, unreadable: .withoutFields)
        }
        let stored =
            try version(refusal.serverVersion)
            ?? (try? answer.snapshot.record(
                id, in: call.database, as: client.actor, unreadable: .withoutFields))
        let server = try stored.map { try serverRecord($0, record.recordID) }
        // A record that was never fetched started empty (B63).
        let ancestor =
            try version(refusal.baseVersion).map {
                try CKRecord.stored(
                    $0, id: record.recordID, for: client, isPartial: $0.isHidden, unreadable: .leaveOut)
            } ?? CKRecord(recordType: record.recordType, recordID: record.recordID)
        return CKError(refusal, clientRecord: record, serverRecord: server, ancestorRecord: ancestor)
    }
}

extension CKModifyRecordsOperation.RecordSavePolicy {
    var engine: SavePolicy {
        switch self {
        case .ifServerRecordUnchanged: .ifServerRecordUnchanged
        case .changedKeys: .changedKeys
        case .allKeys: .allKeys
        }
    }
}
