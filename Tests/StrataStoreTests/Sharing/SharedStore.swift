import StrataModel
import StrataSystem
import StrataViews
import Testing

@testable import StrataStore

/// A store in which anna shares records of her zone "Notes" by requests.
struct SharedStore {
    enum Scene {
        /// What ``SharedDoor`` expects: ben may write, cleo may read, dora has no permission, erik left.
        case isolation
        /// A public share that ben joined, with "list" and "note" below it; and "other" outside.
        case publicShare
    }

    /// A record to be saved; the record of a share if it has a change of sharing.
    struct Item {
        var name: String
        var parent: String?
        var share: String?
        var sharing: ShareChange?
        var fields: [String: FieldValue]

        init(
            _ name: String, parent: String? = nil, share: String? = nil, sharing: ShareChange? = nil,
            fields: [String: FieldValue] = [:]
        ) {
            (self.name, self.parent, self.share, self.sharing, self.fields) = (name, parent, share, sharing, fields)
        }
    }

    let store: Store
    let own = ZoneID("Notes")

    init(_ scene: Scene) throws {
        store = try Store.inMemory()
        // Users exist from their first write on.
        for user in ["ben", "cleo", "dora", "erik"] {
            try store.modify(.zones(saving: [ZoneID("Own")]), as: Actor(user: user, device: "phone"))
        }
        try store.modify(.zones(saving: [own]), as: Actor(user: "anna", device: "phone"))
        switch scene {
        case .isolation: try makeIsolated()
        case .publicShare:
            let share = Item("Share-1", sharing: ShareChange(root: "list", publicPermission: .readWrite))
            try save([Item("list", share: "Share-1"), share, Item("note", parent: "list"), Item("other")], as: "anna")
            try join("ben")
        }
    }

    private func makeIsolated() throws {
        let permissions: [(String, SharePermission)] = [
            ("ben", .readWrite), ("cleo", .readOnly), ("dora", .none), ("erik", .readOnly),
        ]
        let participants = permissions.map { user, permission in
            ShareChange.Participant(
                "id-\(user)", .user(recordName: UserRecord.name(of: user)), role: .privateUser, permission: permission)
        }
        let first = Item("Share-1", sharing: ShareChange(root: "r", participants: participants))
        try save([Item("r", share: "Share-1"), first, Item("c", parent: "r"), Item("x")], as: "anna")
        try save([Item("q", share: "Share-2"), Item("Share-2", sharing: ShareChange(root: "q"))], as: "anna")
        for (user, _) in permissions { try join(user) }
        try save([], deleting: ["Share-1"], as: "erik")
    }

    func save(_ items: [Item], deleting: [String] = [], as user: String, on device: String = "phone") throws {
        var names = RequestNames()
        let place = names.ordinal(of: user == "anna" ? own : SharedDoor.zone)
        var body = ModifyRecordsRequest(policy: .allKeys)
        for item in items {
            let type = names.ordinal(ofType: item.sharing == nil ? "Note" : ShareState.recordType)
            var save = ModifyRecordsRequest.Save(
                RecordKey(zone: place, name: item.name), type: type, sharing: item.sharing)
            if let parent = item.parent { save.parent = .set(RecordKey(zone: place, name: parent)) }
            if let share = item.share { save.share = .set(RecordKey(zone: place, name: share)) }
            save.fields = item.fields.map { FieldChange(names.ordinal(ofKey: $0.key), $0.value) }
            body.saves.append(save)
        }
        body.deletes = deleting.map { RecordKey(zone: place, name: $0) }
        let database = user == "anna" ? DatabaseID(.private) : SharedDoor.shared
        let request = Request(database: database, names: names, .modifyRecords(body))
        try requireDone(store.modify(request, as: Actor(user: user, device: device)).result)
    }

    /// Accepts the first share.
    func join(_ user: String) throws {
        let token = try #require(try store.snapshot().trees.share(1)).urlToken
        let request = Request(database: SharedDoor.shared, .joinShares(JoinSharesRequest(.accept, tokens: [token])))
        try requireDone(store.modify(request, as: Actor(user: user, device: "phone")).result)
    }

    private func requireDone(_ result: RequestResult) throws {
        let codes = Result<RequestResult, Refusal>.success(result).codes
        try #require(codes.allSatisfy { $0 == nil }, "\(result)")
    }

    func record(_ name: String, as user: String) throws -> Record {
        let isOwner = user == "anna"
        return try store.snapshot().record(
            RecordID(name, zone: isOwner ? own : SharedDoor.zone),
            in: isOwner ? DatabaseID(.private) : SharedDoor.shared,
            as: Actor(user: user, device: "phone"))
    }
}
