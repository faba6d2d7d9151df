import StrataModel
import StrataSystem
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

/// A store of anna's with shares of every kind, and without values that an export of records cannot have.
final class SharingStore {
    let directory: TestDirectory
    let path: String
    private let store: Store
    private let anna = Actor(user: "anna", device: "phone")
    private let zone: ZoneID

    /// - Parameter zone: the zone of the shares.
    init(zone: String = "Lists") throws {
        directory = try TestDirectory()
        path = directory.path("Lists.strata")
        self.zone = ZoneID(zone)
        let platform = Platform(time: ManualTime(microseconds: StateFixture.startTime), random: SeededRandom(seed: 4))
        store = try Store.open(at: path, options: .service, platform: platform)
        for user in ["anna", "ben", "cleo", "dora", "erik", "fred", "gina"] {
            var person = Person()
            (person.givenName, person.emails) = (user.uppercased(), ["\(user)@example.com"])
            if user == "erik" { person.phones = ["+1 415 555 0100"] }
            try store.setPerson(person, of: user)
        }
        try store.modify(.zones(saving: [self.zone, ZoneID("Whole")]), as: anna)
    }

    deinit { try? store.close() }

    func close() throws { try store.close() }

    private func guest(
        _ user: String, _ permission: SharePermission = .readOnly, role: ShareRole = .privateUser
    ) -> ShareChange.Participant {
        .init("id-\(user)", .user(recordName: store.recordName(of: user)), role: role, permission: permission)
    }

    private func guest(_ id: String, _ subject: ShareChange.Participant.Subject) -> ShareChange.Participant {
        .init(id, subject, role: .privateUser, permission: .readWrite)
    }

    /// Saves records; one with a change of sharing is a share.
    private func save(
        _ items: [(name: String, parent: String?, share: String?, sharing: ShareChange?)], in zone: ZoneID? = nil
    ) throws {
        let zone = zone ?? self.zone
        var names = RequestNames()
        let place = names.ordinal(of: zone)
        var body = ModifyRecordsRequest()
        for item in items {
            let isShare = item.sharing != nil
            let stored = try store.snapshot().records(
                [RecordID(item.name, zone: zone)], in: DatabaseID(.private), as: anna)
            var save = ModifyRecordsRequest.Save(
                RecordKey(zone: place, name: item.name),
                type: names.ordinal(ofType: isShare ? ShareState.recordType : "Item"), sharing: item.sharing)
            if case .success(let record)? = stored.first { save.base = record.version }
            if let parent = item.parent { save.parent = .set(RecordKey(zone: place, name: parent)) }
            if let share = item.share { save.share = .set(RecordKey(zone: place, name: share)) }
            if isShare, save.base == nil {
                save.fields = [FieldChange(names.ordinal(ofKey: "cloudkit.title"), .string("Title of \(item.name)"))]
            }
            body.saves.append(save)
        }
        try require(Request(database: DatabaseID(.private), names: names, .modifyRecords(body)), as: anna)
    }

    private func edit(_ share: String, _ change: ShareChange) throws { try save([(share, nil, nil, change)]) }

    private func state(of share: String) throws -> ShareState {
        let record = try store.snapshot().record(
            RecordID(share, zone: zone), in: DatabaseID(.private), as: anna)
        return try #require(try record.shareState)
    }

    private func join(
        _ share: String, as user: String, _ action: JoinSharesRequest.Action = .accept, participant: String? = nil
    ) throws {
        let state = try state(of: share)
        let own = state.participants.first { $0.id == participant }?.oneTimeToken
        let request = JoinSharesRequest(action, tokens: [own ?? state.urlToken])
        try require(Request(database: DatabaseID(.shared), .joinShares(request)), as: Actor(user: user))
    }

    private func require(_ request: Request, as actor: Actor) throws {
        for result in try store.modify(request, as: actor).result.saves { _ = try result.get() }
    }

    /// Invitations by user, address and one-time URL, accepted and not; an approved request for access, one that waits,
    /// and a user who may not ask.
    func shareHierarchy() throws {
        let asking = ShareChange(root: "list", participants: [], allowsAccessRequests: true)
        try save([("list", nil, "Share-1", nil), ("Share-1", nil, nil, asking)])
        try save([("milk", "list", nil, nil)])
        try join("Share-1", as: "erik", .requestAccess)
        let guests = [
            guest("id-ben", .address(.email("ben@example.com"))), guest("cleo", .readOnly, role: .administrator),
            guest("erik"), guest("id-open", .address(.email("nobody@example.com"))), guest("id-once", .oneTimeURL),
            guest("id-dora", .oneTimeURL),
        ]
        try edit("Share-1", ShareChange(participants: guests))
        try join("Share-1", as: "ben")
        try join("Share-1", as: "erik")
        try join("Share-1", as: "dora", participant: "id-dora")
        try join("Share-1", as: "fred", .requestAccess)
        var last = ShareChange(allowsAccessRequests: false)
        last.blocked = [store.recordName(of: "gina")]
        try edit("Share-1", last)
    }

    /// A public share that cleo had been invited to before it became public, and that ben joined.
    func sharePublicly() throws {
        let change = ShareChange(root: "open", participants: [guest("cleo", .readWrite)])
        try save([("open", nil, "Share-2", nil), ("Share-2", nil, nil, change)])
        try join("Share-2", as: "cleo")
        try edit("Share-2", ShareChange(publicPermission: .readOnly))
        try join("Share-2", as: "ben")
    }

    func shareZone() throws {
        try save([("note", nil, nil, nil)], in: ZoneID("Whole"))
        try save(
            [(ShareState.zoneWideName, nil, nil, ShareChange(participants: [guest("ben")]))], in: ZoneID("Whole"))
    }

    /// A share that has ended, whose number no other one gets.
    func shareAndEnd() throws {
        try save([("gone", nil, "Share-0", nil), ("Share-0", nil, nil, ShareChange(root: "gone"))])
        var request = RequestBuilder(DatabaseID(.private))
        request.delete(RecordID("Share-0", zone: zone))
        try store.modify(request.request, as: anna)
    }

    /// A record of ben's own.
    func saveOfMember() throws {
        var request = RequestBuilder(DatabaseID(.private), policy: .allKeys)
        request.save(RecordID("own", zone: ZoneID("_defaultZone")), type: "Item")
        try store.modify(request.request, as: Actor(user: "ben"))
    }
}
