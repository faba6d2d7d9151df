import Foundation
import StrataModel
import StrataSystem
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

/// A store in which anna shares records of her zone "Notes" by requests.
struct SharedStore {
    enum Scene {
        /// The records and users of ``SharedDoor`` and ``SharedPerson``.
        case isolation
        /// A public share that ben joined, with "list" and "note" below it; and "other" outside.
        case publicShare
    }

    /// A record to be saved; the record of a share if it has a change of sharing.
    struct Item {
        var name: String
        var parent: String?
        var share: String?
        var base: Version?
        var sharing: ShareChange?
        var fields: [String: FieldValue]

        init(
            _ name: String, parent: String? = nil, share: String? = nil, base: Version? = nil,
            sharing: ShareChange? = nil, fields: [String: FieldValue] = [:]
        ) {
            (self.name, self.parent, self.share) = (name, parent, share)
            (self.base, self.sharing, self.fields) = (base, sharing, fields)
        }
    }

    let store: Store
    let own = ZoneID("Notes")

    init(_ scene: Scene) throws {
        store = try Store.inMemory()
        try store.setPerson(Person(), of: "anna", recordName: SharedDoor.zone.owner)
        // Users exist from their first write on.
        for user in ["adam", "ben", "cleo", "dora", "erik", "fred", "paul", "rita"] {
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
        let people: [(name: String, role: ShareRole, permission: SharePermission)] = [
            ("adam", .administrator, .readWrite), ("ben", .privateUser, .readWrite), ("cleo", .privateUser, .readOnly),
            ("dora", .privateUser, .none), ("erik", .privateUser, .readOnly), ("rita", .privateUser, .readWrite),
        ]
        let participants = people.map { person in
            ShareChange.Participant(
                "id-\(person.name)", .user(recordName: store.recordName(of: person.name)), role: person.role,
                permission: person.permission)
        }
        // Held until the records are saved.
        var pins: [PinnedAsset] = []
        let first = Item("Share-1", sharing: ShareChange(root: "r", participants: participants))
        let notes = [
            try note("r", share: "Share-1", &pins), try note("c", parent: "r", &pins), try note("x", &pins),
        ]
        try save(notes + [first], as: "anna")
        let second = Item("Share-2", sharing: ShareChange(root: "q"))
        try save([note("q", share: "Share-2", &pins), second], as: "anna")
        let third = Item("Share-3", sharing: ShareChange(root: "p", publicPermission: .readOnly))
        try save([note("p", share: "Share-3", &pins), third], as: "anna")
        for (user, _, _) in people { try join(user) }
        try join("paul", share: 3)
        try save([], deleting: ["Share-1"], as: "erik")
        let rest = participants.filter { !["id-erik", "id-rita"].contains($0.id) }
        let stored = try record("Share-1", as: "anna")
        try save([Item("Share-1", base: stored.version, sharing: ShareChange(participants: rest))], as: "anna")
    }

    /// Returns a record with an asset and an encrypted value of its own.
    private func note(
        _ name: String, parent: String? = nil, share: String? = nil, _ pins: inout [PinnedAsset]
    ) throws -> Item {
        let directory = try TestDirectory()
        let path = directory.path(name)
        try Data("photo of \(name)".utf8).write(to: URL(fileURLWithPath: path))
        let anna = Actor(user: "anna", device: "phone")
        let pin = try store.seal(
            .string("pin of \(name)"), for: "pin", of: RecordID(name, zone: own), in: DatabaseID(.private), as: anna)
        let photo = try store.importAsset(at: path)
        pins.append(photo)
        return Item(
            name, parent: parent, share: share, fields: ["photo": .asset(photo.value), "pin": pin, "n": .int64(1)])
    }

    @discardableResult
    func save(
        _ items: [Item], deleting: [String] = [], as user: String, on device: String = "phone"
    ) throws -> RequestResult {
        var names = RequestNames()
        let place = names.ordinal(of: user == "anna" ? own : SharedDoor.zone)
        var body = ModifyRecordsRequest(policy: .allKeys)
        for item in items {
            let type = names.ordinal(ofType: item.sharing == nil ? "Note" : ShareState.recordType)
            var save = ModifyRecordsRequest.Save(
                RecordKey(zone: place, name: item.name), type: type, base: item.base, sharing: item.sharing)
            if let parent = item.parent { save.parent = .set(RecordKey(zone: place, name: parent)) }
            if let share = item.share { save.share = .set(RecordKey(zone: place, name: share)) }
            save.fields = item.fields.map { FieldChange(names.ordinal(ofKey: $0.key), $0.value) }
            body.saves.append(save)
        }
        body.deletes = deleting.map { RecordKey(zone: place, name: $0) }
        let database = user == "anna" ? DatabaseID(.private) : SharedDoor.shared
        let request = Request(database: database, names: names, .modifyRecords(body))
        let result = try store.modify(request, as: Actor(user: user, device: device)).result
        try requireDone(result)
        return result
    }

    /// Accepts a share, the first one by default.
    func join(_ user: String, share: UInt64 = 1) throws {
        let token = try #require(try store.snapshot().trees.share(share)).urlToken
        let request = Request(database: SharedDoor.shared, .joinShares(JoinSharesRequest(.accept, tokens: [token])))
        try requireDone(store.modify(request, as: Actor(user: user, device: "phone")).result)
    }

    /// Returns the change that invites another user to the first share, to read.
    func inviting(_ user: String) throws -> ShareChange {
        let state = try #require(try record("Share-1", as: "anna").shareState)
        var participants = state.participants.filter { $0.role != .owner }.map {
            ShareChange.Participant(
                $0.id, .user(recordName: store.recordName(of: $0.user)), role: $0.role, permission: $0.permission)
        }
        participants.append(
            .init(
                "id-\(user)", .user(recordName: store.recordName(of: user)), role: .privateUser, permission: .readOnly))
        return ShareChange(participants: participants)
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
