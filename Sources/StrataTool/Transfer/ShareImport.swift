import StrataModel
import StrataRules
import StrataStore
import StrataViews

/// Makes the shares of an export again once their records are saved: the owner saves and invites, and the participants
/// join.
struct ShareImport {
    /// A share that waits for its records.
    struct Pending {
        let id: RecordID
        let fields: [(key: String, value: FieldValue)]
        let state: ShareState
    }

    /// The database in which users accept shares.
    private static let shared = DatabaseID(.shared)
    private static let home = DatabaseID(.private)

    private let store: Store
    private let owner: Actor
    private var shares: [Pending] = []
    private var people: [ExactName: (person: Person, recordName: String?)] = [:]
    /// The links of records to shares.
    private var links: [(record: RecordID, share: String)] = []

    init(into store: Store, as owner: Actor) { (self.store, self.owner) = (store, owner) }

    mutating func add(_ share: Pending) { shares.append(share) }
    mutating func add(_ person: Person, named user: String, _ recordName: String?) {
        people[ExactName(text: user)] = (person, recordName)
    }

    /// Gives the owner the record name of the export, so that references to the owner's record stay valid. A user whom
    /// the store has met keeps the present one.
    func nameOwner(_ recordName: String) throws {
        guard try store.snapshot().person(of: owner.user) == nil else { return }
        try store.setPerson(Person(), of: owner.user, recordName: recordName)
    }

    mutating func add(linkOf record: RecordID, to share: String) { links.append((record, share)) }

    /// - Parameter oldOwner: the name that the owner has in the export.
    /// - Throws: ``Refusal`` for a share that cannot be made as it was.
    func run(_ oldOwner: String?) throws {
        var roots: [RecordID: ExactName] = [:]
        for share in shares { roots[share.id] = share.state.root.map { ExactName(text: $0) } }
        for (record, share) in links {
            guard roots[RecordID(share, zone: record.zone)] == ExactName(text: record.name) else {
                throw Refusal(
                    .invalidArguments,
                    "record '\(record.name)' cannot be saved as it was: the export does not have its share '\(share)'")
            }
        }
        guard !shares.isEmpty else { return }
        for share in shares { try check(share, oldOwner) }
        for (name, known) in people.sorted(by: { $0.key.text < $1.key.text }) {
            let isOwner = oldOwner.map { isSameText($0, name.text) } ?? false
            let user = isOwner ? owner.user : name.text
            let isNew = try store.snapshot().person(of: user) == nil
            try store.setPerson(known.person, of: user, recordName: isNew ? known.recordName : nil)
        }
        for share in shares { try make(share) }
    }

    private func check(_ share: Pending, _ oldOwner: String?) throws {
        for user in share.state.users where !(oldOwner.map { isSameText($0, user) } ?? false) {
            guard people[ExactName(text: user)] != nil else {
                throw Self.refusal(share, "the export does not declare the user '\(user)' whom it names")
            }
            guard !isSameText(user, owner.user) else {
                throw Self.refusal(share, "'\(user)' is named in it, and cannot own it as well")
            }
        }
    }

    private static func refusal(_ share: Pending, _ reason: String) -> Refusal {
        Refusal(.invalidArguments, "share '\(share.id.name)' cannot be made as it was: \(reason)")
    }

    // MARK: Steps

    private func make(_ share: Pending) throws {
        let old = share.state
        let invited = old.participants.filter { $0.role == .privateUser || $0.role == .administrator }
        // Those who had asked for access ask before they are invited.
        let asking = invited.filter(\.isApprovedRequester).map(\.user)
        var first = ShareChange(root: old.root, participants: asking.isEmpty ? try invited.map(change) : [])
        first.allowsAccessRequests = old.allowsAccessRequests || !asking.isEmpty || !old.requesters.isEmpty
        try save(share, first, isNew: true)
        if !asking.isEmpty {
            for user in asking { try join(share, .requestAccess, as: user) }
            try save(share, ShareChange(participants: try invited.map(change)))
        }
        for entry in invited where entry.hasAccepted { try join(share, .accept, as: entry.user, entry) }
        if old.publicPermission != .none {
            try save(share, ShareChange(publicPermission: old.publicPermission))
            for entry in old.participants where entry.role == .publicUser { try join(share, .accept, as: entry.user) }
        }
        for user in old.requesters { try join(share, .requestAccess, as: user) }
        var last = ShareChange()
        if old.allowsAccessRequests != first.allowsAccessRequests {
            last.allowsAccessRequests = old.allowsAccessRequests
        }
        let snapshot = store.snapshot()
        last.blocked = try old.blockedUsers.map { try snapshot.recordName(of: $0) }
        if last.changesParticipation { try save(share, last) }
        let (wanted, made) = (Self.compared(old), Self.compared(try state(of: share)))
        guard wanted != made else { return }
        let difference = ShareStateText.changes(from: wanted, to: made).first.map {
            "\($0.name): \($0.new ?? "nothing") instead of \($0.old ?? "nothing")"
        }
        throw Self.refusal(share, difference ?? "its participants or requests for access differ")
    }

    /// The parts of a state that do not depend on the store, on its owner or on the time.
    private static func compared(_ state: ShareState) -> ShareState {
        var state = state
        (state.number, state.urlToken) = (0, "")
        state.participants.removeAll { $0.role == .owner }
        for index in state.participants.indices {
            state.participants[index].added = 0
            // The name of the user's record, which exports of earlier releases lack.
            if state.participants[index].role == .publicUser { state.participants[index].id = "" }
            if !state.participants[index].oneTimeToken.isEmpty { state.participants[index].oneTimeToken = "-" }
            // An address may have a user by now.
            let isOpen = !state.participants[index].hasAccepted && state.participants[index].address != nil
            if isOpen { state.participants[index].user = "" }
        }
        state.participants.sort { ($0.id, $0.user) < ($1.id, $1.user) }
        return state
    }

    private func change(_ entry: ShareParticipant) throws -> ShareChange.Participant {
        let subject: ShareChange.Participant.Subject =
            if let address = entry.address {
                .address(address)
            } else if entry.oneTimeToken.isEmpty {
                .user(recordName: try store.snapshot().recordName(of: entry.user))
            } else {
                .oneTimeURL
            }
        return .init(entry.id, subject, role: entry.role, permission: entry.permission)
    }

    private func record(_ id: RecordID) throws -> Record { try store.snapshot().record(id, in: Self.home, as: owner) }

    private func state(of share: Pending) throws -> ShareState {
        guard let state = try record(share.id).shareState else { throw Self.refusal(share, "it has ended") }
        return state
    }

    private func save(_ share: Pending, _ change: ShareChange, isNew: Bool = false) throws {
        var names = RequestNames()
        let zone = names.ordinal(of: share.id.zone)
        let key = RecordKey(zone: zone, name: share.id.name)
        var body = ModifyRecordsRequest()
        if isNew, let root = change.root {
            let stored = try record(RecordID(root, zone: share.id.zone))
            body.saves.append(
                ModifyRecordsRequest.Save(
                    RecordKey(zone: zone, name: root), type: names.ordinal(ofType: try stored.type),
                    base: stored.version, share: .set(key)))
        }
        var save = ModifyRecordsRequest.Save(
            key, type: names.ordinal(ofType: ShareState.recordType), base: isNew ? nil : try record(share.id).version,
            sharing: change)
        if isNew {
            save.fields = share.fields.map { FieldChange(names.ordinal(ofKey: $0.key), $0.value) }
            save.fields.sort { $0.field < $1.field }
        }
        body.saves.append(save)
        try modify(Request(database: Self.home, names: names, .modifyRecords(body)), as: owner, of: share)
    }

    /// - Parameter participant: the participant whom an own URL makes of the user; nil to use the URL of everybody.
    private func join(
        _ share: Pending, _ action: JoinSharesRequest.Action, as user: String, _ participant: ShareParticipant? = nil
    ) throws {
        let state = try state(of: share)
        let own = participant.flatMap { entry in state.participants.first { isSameText($0.id, entry.id) } }
        let token = own?.oneTimeToken.nonempty ?? state.urlToken
        let request = Request(database: Self.shared, .joinShares(JoinSharesRequest(action, tokens: [token])))
        try modify(request, as: Actor(user: user), of: share)
    }

    private func modify(_ request: Request, as actor: Actor, of share: Pending) throws {
        do {
            let failures = try store.modify(request, as: actor).result.saves.compactMap { result -> Refusal? in
                if case .failure(let refusal) = result { refusal } else { nil }
            }
            // The saves fail together, each of the others with an error that has no reason.
            let failure = failures.first { $0.code != .batchRequestFailed } ?? failures.first
            if let failure { throw failure }
        } catch let refusal as Refusal { throw Self.refusal(share, refusal.message) }
    }
}
