import StrataModel
import StrataSystem
import StrataTree
import StrataViews
import TestSupport
import Testing

@testable import StrataRules

/// A store without a log, in which users share records of the zone `Notes` of anna.
final class ShareFixture {
    struct Item {
        var name: String
        var type = "Note"
        var base: Version?
        var parent: String?
        var removesParent = false
        var share: String?
        var sharing: ShareChange?
        var fields: [(key: String, value: FieldValue?)] = []

        init(
            _ name: String, type: String = "Note", base: Version? = nil, parent: String? = nil, share: String? = nil,
            sharing: ShareChange? = nil, fields: [(key: String, value: FieldValue?)] = []
        ) {
            (self.name, self.type, self.base, self.parent) = (name, type, base, parent)
            (self.share, self.sharing, self.fields) = (share, sharing, fields)
        }

        /// The save of a share's record.
        static func share(
            _ name: String, _ sharing: ShareChange?, base: Version? = nil,
            fields: [(key: String, value: FieldValue?)] = []
        ) -> Item {
            Item(name, type: ShareState.recordType, base: base, sharing: sharing, fields: fields)
        }
    }

    static let owner = "anna"
    let view: RulesView
    var rules = {
        var rules = Rules()
        rules.secrets.newSecret = StoreSecret(from: SeededRandom(seed: 1))
        return rules
    }()
    private(set) var offset: UInt64 = 0
    /// The payload of the last commit.
    private(set) var payload: [UInt8] = []
    var time: Int64 { Int64(offset + 1) * 1_000_000 }

    init(users: [String] = ["anna", "ben", "cleo"], zones: [String] = ["Notes"]) throws {
        view = RulesView(Fold(try Views.emptyTrees().fork()))
        for user in users { try administer(.setPerson(Person(), user: user)) }
        try modify(.zones(saving: zones.map { ZoneID($0) }))
    }

    @discardableResult
    func modify(_ request: Request, as user: String = owner) throws -> RequestResult {
        let actor = user.isEmpty ? Actor.service : Actor(user: user, device: "phone")
        let decision = try rules.decide(
            request, view,
            RequestContext(actor: actor, time: time, commitID: Identifier(high: 1, low: offset)))
        guard case .commit(let payload) = decision.outcome else { return decision.unplacedResult }
        offset += 1
        try payload.withUnsafeBytes { try view.fold.apply($0, offset: offset, time: Int64(offset) * 1_000_000) }
        view.adopt(decision)
        self.payload = payload
        return decision.result(at: offset)
    }

    /// Applies events that no request makes.
    func commit(as user: String, _ body: (inout CommitBuilder) throws -> Void) throws {
        var commit = CommitBuilder()
        try body(&commit)
        let payload = commit.payload(EnvelopeHeader(user: try #require(try view.ordinal(of: .user(user)))))
        offset += 1
        try payload.withUnsafeBytes { try view.fold.apply($0, offset: offset, time: Int64(offset) * 1_000_000) }
    }

    func administer(_ request: AdministerRequest) throws {
        try modify(Request(database: DatabaseID(.private, owner: Self.owner), .administer(request)), as: "")
    }

    @discardableResult
    func save(
        _ items: [Item], deleting deletes: [String] = [], policy: SavePolicy = .ifServerRecordUnchanged,
        isAtomic: Bool = true, zone: String = "Notes", scope: InternedName.Scope = .private, as user: String = owner
    ) throws -> RequestResult {
        var names = RequestNames()
        let place = names.ordinal(
            of: ZoneID(zone, owner: scope == .shared ? UserRecord.earlierName(of: Self.owner) : ""))
        var body = ModifyRecordsRequest(policy: policy, isAtomic: isAtomic)
        for item in items {
            var save = ModifyRecordsRequest.Save(
                RecordKey(zone: place, name: item.name), type: names.ordinal(ofType: item.type), base: item.base,
                sharing: item.sharing)
            if item.removesParent { save.parent = .removed }
            if let parent = item.parent { save.parent = .set(RecordKey(zone: place, name: parent)) }
            if let share = item.share { save.share = .set(RecordKey(zone: place, name: share)) }
            save.fields = item.fields.map { FieldChange(names.ordinal(ofKey: $0.key), $0.value) }
            body.saves.append(save)
        }
        body.deletes = deletes.map { RecordKey(zone: place, name: $0) }
        return try modify(Request(database: DatabaseID(scope), names: names, .modifyRecords(body)), as: user)
    }

    /// Shares a new record named `list` as `Share-1`.
    func shareList(_ change: ShareChange = ShareChange(root: "list")) throws {
        let result = try save([Item("list", share: "Share-1"), .share("Share-1", change)])
        try #require(result.saves.allSatisfy { $0.code == nil }, "\(result)")
    }

    /// Saves the share again, with its current tag.
    @discardableResult
    func edit(
        _ change: ShareChange, of share: String = "Share-1", scope: InternedName.Scope = .private,
        as user: String = owner
    ) throws -> Refusal.Code? {
        let base = try version(of: share)
        return try save([.share(share, change, base: base)], scope: scope, as: user).saves[0].code
    }

    @discardableResult
    func join(_ tokens: [String], as user: String) throws -> [Refusal.Code?] { try join(.accept, tokens, as: user) }

    @discardableResult
    func join(_ action: JoinSharesRequest.Action, _ tokens: [String], as user: String) throws -> [Refusal.Code?] {
        let request = Request(database: DatabaseID(.shared), .joinShares(JoinSharesRequest(action, tokens: tokens)))
        return try modify(request, as: user).saves.map(\.code)
    }

    // MARK: The state

    func key(_ name: String, zone: String = "Notes") throws -> RecordKey {
        let owner = try #require(try view.ordinal(of: .user(Self.owner)))
        let database = try #require(try view.ordinal(of: .database(.private, owner: owner)))
        return RecordKey(
            zone: try #require(try view.ordinal(of: .zone(database: database, owner: owner, zone))), name: name)
    }

    func version(of name: String) throws -> Version? { try view.header(key(name))?.version }

    func state(_ name: String = "Share-1") throws -> ShareState {
        try view.shareState(of: #require(try view.record(key(name))))
    }

    func record(_ name: String) throws -> RecordState {
        try RecordState(decoding: try #require(try view.record(key(name))).bytes[...])
    }

    /// Returns the number of events of a kind in the last commit.
    func events(ofKind kind: EventKind) throws -> Int {
        try Envelope(decoding: payload[...]).events.count { $0.kind == kind }
    }

    func memberships(of user: String) throws -> [Membership] {
        try view.fold.fork.memberships(of: try #require(try view.ordinal(of: .user(user))))
    }

    func person(_ emails: String..., phones: [String] = []) -> Person {
        var person = Person()
        (person.emails, person.phones) = (emails, phones)
        return person
    }
}

extension Result<Version, Refusal> {
    /// The code of a refusal; nil for a success.
    var code: Refusal.Code? {
        if case .failure(let refusal) = self { refusal.code } else { nil }
    }
}

extension ShareChange.Participant {
    /// A participant who is found by the record of a user.
    static func user(
        _ name: String, _ permission: SharePermission = .readOnly, role: ShareRole = .privateUser, id: String? = nil
    ) -> Self {
        Self(
            id ?? "id-\(name)", .user(recordName: UserRecord.earlierName(of: name)), role: role, permission: permission)
    }

    static func email(_ address: String, _ permission: SharePermission = .readOnly, id: String? = nil) -> Self {
        Self(id ?? "id-\(address)", .address(.email(address)), role: .privateUser, permission: permission)
    }

    static func oneTime(_ id: String) -> Self {
        Self(id, .oneTimeURL, role: .privateUser, permission: .readOnly)
    }
}
