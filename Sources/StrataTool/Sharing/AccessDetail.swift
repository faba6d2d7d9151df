import StrataModel
import StrataRules
import StrataStore
import StrataViews

/// The rights of a user to a record, with the reason for them.
struct AccessDetail {
    private let id: RecordID
    private let database: DatabaseID
    private let user: String
    let mayRead: Bool
    private let mayWrite: Bool
    /// The reasons in words.
    private let readReason: String
    private let writeReason: String
    /// The share that the record belongs to.
    private let share: (event: ShareSavedEvent, membership: Membership?)?
    /// The record and its ancestors, up to the root of the share if there is one.
    private let chain: [String]
    /// The act that took the record out of its shares, in words.
    private let losses: [String]

    /// - Parameter user: empty for a user who is not signed in.
    /// - Throws: ``Refusal`` for a record that does not exist.
    init(_ id: RecordID, in database: DatabaseID, for user: String, _ state: ContainerState) throws {
        (self.id, self.database, self.user) = (id, database, user)
        _ = try state.snapshot.record(id, in: database, as: .service)
        let found = try state.database(database.scope, of: database.owner)
        let zones = try found.map { try state.zones(of: $0) } ?? []
        let zone = zones.first { LogFilter.isSame($0.name, id.zone.name) }
        let key = RecordKey(zone: zone?.ordinal ?? 0, name: id.name)
        let ordinal = try state.trees.ordinal(of: .user(user)) ?? 0
        let account = ordinal == 0 ? Account() : try state.trees.account(of: ordinal)
        let principal = user.isEmpty ? Principal.anonymous : Principal(user: ordinal, account)
        let header = try state.trees.withRecord(key) { try RecordStateView($0, in: 0..<$0.count).header() }
        guard let header else { throw Refusal(.unknownItem, "Record not found: \(id.name)") }
        if database.scope == .public {
            (share, chain, losses) = (nil, [], [])
            let isUserRecord = LogFilter.isSame(try state.recordType(header.type), UserRecord.type)
            let grants = try state.trees.grants(of: header.type)
            func decide(_ action: Action) -> (Bool, String) {
                let isAllowed = principal.may(
                    action, creator: header.createdBy, isUserRecord: isUserRecord, grants: grants, in: .public)
                if isUserRecord { return (isAllowed, "a user record is changed by its user and read by all users") }
                let grant = principal.decisiveGrant(action, creator: header.createdBy, grants: grants)
                return (isAllowed, grant.map { "granted to \($0.role)" } ?? "no grant applies to the user")
            }
            (mayRead, readReason) = decide(.read)
            (mayWrite, writeReason) = decide(.change)
            return
        }
        if LogFilter.isSame(user, database.owner) {
            (share, chain, losses) = (nil, [], [])
            (mayRead, mayWrite) = (principal.isSignedIn, principal.isSignedIn)
            readReason = principal.isSignedIn ? "the user owns the database" : "the user's account is not available"
            writeReason = readReason
            return
        }
        let sharing = try RecordSharing(key, of: ordinal, in: id.zone.name, of: database, state)
        share = sharing.share.map { ($0, sharing.membership) }
        (chain, losses) = (sharing.chain.map(\.name), sharing.losses)
        func may(_ action: Action) -> Bool {
            principal.isSignedIn
                && principal.may(
                    action, creator: header.createdBy, isUserRecord: false, grants: [], in: .shared,
                    right: sharing.right)
        }
        (mayRead, mayWrite) = (may(.read), may(.change))
        readReason = principal.isSignedIn ? sharing.reason : "the user's account is not available"
        writeReason = readReason
    }

    // MARK: For people

    func write(to output: Output) throws {
        var lines = [("zone", "\(Printable.escaped(id.zone.name)), \(database.shownText)")]
        lines.append(("user", user.isEmpty ? "not signed in" : Printable.escaped(user)))
        lines.append(("read", "\(mayRead ? "yes" : "no"): \(Printable.escaped(readReason))"))
        lines.append(("write", "\(mayWrite ? "yes" : "no"): \(Printable.escaped(writeReason))"))
        for loss in losses { lines.append(("why", Printable.escaped(loss))) }
        if !chain.isEmpty { lines.append(("chain", chain.map { Printable.escaped($0) }.joined(separator: " < "))) }
        try Columns.write("record", id.name, lines, to: output)
    }
}

extension AccessDetail: Shaped {
    static let shape = Shape<Self>("The rights of a user to a record") {
        Key("record", "its name") { $0.id.name }
        Key("zone", "name of its zone") { $0.id.zone.name }
        Key(of: DatabaseID.shape) { $0.database }
        Key("user", "name of the user", if: "if one was named") { $0.user.nonempty }
        Key("mayRead", "true if the user may read it") { $0.mayRead }
        Key("mayWrite", "true if the user may change it") { $0.mayWrite }
        Key("readReason", "the reason in words") { $0.readReason }
        Key("writeReason", "the reason in words") { $0.writeReason }
        Key("share", "name of the share that it belongs to", if: "if it belongs to one") { $0.share?.event.record.name }
        Key("permission", "of the user in the share: `none`, `read only` or `read and write`", if: "if a member") {
            $0.share?.membership.flatMap { $0.isGone ? nil : $0.permission.name }
        }
        Key("joined", "version of the event by which the user joined the share", if: "if a member") {
            $0.share?.membership.flatMap { $0.isGone ? nil : $0.joined }
        }
        Key("chain", "names of the record and its ancestors, up to the root of the share if there is one") { $0.chain }
        Key("losses", "what took the record out of its shares, in words", if: "if anything") {
            $0.losses.isEmpty ? nil : $0.losses
        }
    }
}
