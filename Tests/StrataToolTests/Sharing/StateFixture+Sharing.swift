import StrataModel
import StrataStore
import StrataViews
import Testing

/// Shares in the store of the fixture.
extension StateFixture {
    /// Shares `list` and the notes below it with bert and an address, as `Share-1` of commit 7; commit 6 makes cleo
    /// known. Bert accepts with commit 8, unless `isAccepted` is false.
    func share(_ permission: SharePermission = .readWrite, isAccepted: Bool = true) throws {
        try change { store in
            try step { try store.setPerson(Person(), of: "cleo") }
            let id = RecordID("list", zone: Self.notes)
            let base = try store.snapshot().record(id, in: DatabaseID(.private), as: Self.phone).version
            let bert = ShareChange.Participant(
                "id-bert", .user(recordName: store.recordName(of: "bert")), role: .privateUser, permission: permission)
            let invited = ShareChange.Participant(
                "id-c", .address(.email("c@example.com")), role: .privateUser, permission: .readOnly)
            let change = ShareChange(root: "list", participants: [bert, invited])
            try requireAccepted(saveShare(change, base: nil, root: ("list", base), to: store))
            if isAccepted { try join(Self.bert, to: store) }
        }
    }

    /// Returns the ID of the zone for bert.
    func sharedNotes(in store: Store) -> ZoneID { ZoneID("Notes", owner: store.recordName(of: "anna")) }

    /// Accepts `Share-1`.
    func join(_ actor: Actor, to store: Store) throws {
        let token = try #require(try store.snapshot().trees.share(1)).urlToken
        let request = Request(database: DatabaseID(.shared), .joinShares(JoinSharesRequest(.accept, tokens: [token])))
        try step { try requireAccepted(store.modify(request, as: actor).result) }
    }

    /// One commit of anna that changes `Share-1`.
    func edit(_ change: ShareChange, to store: Store) throws {
        let id = RecordID("Share-1", zone: Self.notes)
        let base = try store.snapshot().record(id, in: DatabaseID(.private), as: Self.phone).version
        try requireAccepted(saveShare(change, base: base, to: store))
    }

    private func saveShare(
        _ change: ShareChange, base: Version?, root: (name: String, base: Version)? = nil, to store: Store
    ) throws -> RequestResult {
        var names = RequestNames()
        let zone = names.ordinal(of: Self.notes)
        var body = ModifyRecordsRequest(policy: .ifServerRecordUnchanged, isAtomic: true)
        if let root {
            var save = ModifyRecordsRequest.Save(
                RecordKey(zone: zone, name: root.name), type: names.ordinal(ofType: "List"), base: root.base)
            save.share = .set(RecordKey(zone: zone, name: "Share-1"))
            body.saves.append(save)
        }
        body.saves.append(
            ModifyRecordsRequest.Save(
                RecordKey(zone: zone, name: "Share-1"), type: names.ordinal(ofType: ShareState.recordType), base: base,
                sharing: change))
        let request = Request(database: DatabaseID(.private), names: names, .modifyRecords(body))
        var result = RequestResult()
        try step { result = try store.modify(request, as: Self.phone).result }
        return result
    }

    private func requireAccepted(_ result: RequestResult) throws {
        for save in result.saves { _ = try save.get() }
    }

    /// One commit, or a refusal, of a user who changes a record of anna's zone in the shared database.
    @discardableResult
    func saveShared(_ record: String, rank: Int64, as actor: Actor = bert, to store: Store) throws -> RequestResult {
        var names = RequestNames()
        let zone = names.ordinal(of: sharedNotes(in: store))
        var body = ModifyRecordsRequest(policy: .changedKeys, isAtomic: true)
        var save = ModifyRecordsRequest.Save(RecordKey(zone: zone, name: record), type: names.ordinal(ofType: "Note"))
        save.fields = [FieldChange(names.ordinal(ofKey: "rank"), .int64(rank))]
        body.saves.append(save)
        let request = Request(database: DatabaseID(.shared), names: names, .modifyRecords(body))
        var result = RequestResult()
        try step { result = try store.modify(request, as: actor).result }
        return result
    }
}
