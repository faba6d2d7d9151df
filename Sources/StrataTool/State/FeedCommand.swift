import StrataModel
import StrataStore
import StrataViews

/// `strata feed`: the changes that a client receives.
enum FeedCommand: Command {
    static let name = "feed"
    static let summary = "print the changes that a client would fetch"
    static let details =
        "With ZONE it prints the changes of that zone: changed records as they are now, and deleted ones. Without ZONE "
        + "it prints which zones of the database have changed, and which were deleted and why. With --database shared "
        + "it prints what the user sees of others' zones: a record that came into view is changed, and one that went "
        + "out of view is deleted. It prints page "
        + "by page, with the change token at the end of each page, from which the next page continues. It can run "
        + "while another program writes to the store. Exits with 1 and prints the reason if the client would be "
        + "refused, for example because its token has expired."

    /// The position from which the client asks for changes.
    enum Start: Sendable {
        case token(TokenText)
        /// After everything up to this point.
        case moment(Moment)
    }

    static let user = Option.text("--user", "NAME", help: "the user who fetches; required")
        .defaulting(to: .user).required
    static let database = Option<InternedName.Scope>(
        name: DatabaseOptions.database.name, valueName: "NAME",
        help: "private or shared; the default is the user's own private database", words: ["private", "shared"]
    ) { text throws(UsageError) in
        let scope = try DatabaseOptions.anyDatabase.convert(text)
        if scope == .public { throw UsageError("--database must be private or shared: the public one has no feed") }
        return scope
    }
    static let owner = Option.text("--owner", "NAME", help: "with --database shared and ZONE: the zone's owner")
    static let device = Option.text("--device", "NAME", help: "the device of that user that fetches")
    static let since = Option<Start>(
        name: "--since", valueName: "TOKEN|OFFSET|TIME",
        help: "a change token, in base64 or hexadecimal; or an offset or a time, for a client that has everything up "
            + "to it; "
            + "without --since, a client that has nothing"
    ) { text throws(UsageError) in
        if let moment = try Moment(text, as: "--since") { return .moment(moment) }
        return .token(try TokenText(text, of: "--since"))
    }
    /// The range that CloudKit allows.
    static let limitRange: ClosedRange<UInt64> = 1...400
    static let limit = Option.limit(
        "--limit", limitRange, help: "results per page; the default is 200, as in CloudKit")
    static let all = Option.flag("--all", help: "print all pages")

    static let operands = [
        Operand.store, Operand(name: "ZONE", help: "the zone to fetch", isRequired: false),
    ]
    static let options: [any OptionDescription] = [
        user, database, owner, device, since, limit, all, Option.at, QueryCommand.reveal, Option.json,
    ]
    static let examples = [
        "strata feed Notes.strata --user anna",
        "strata feed Notes.strata Notes --user anna --since 120 --all",
        "strata feed Notes.strata Notes --user ben --database shared --owner anna",
        "strata feed Notes.strata Notes --user anna --json | jq -r 'select(.token) | .token'",
    ]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        guard let user = arguments[user] else {
            throw UsageError("--user NAME is missing: only private databases keep feeds")
        }
        let (scope, owner) = (arguments[database] ?? .private, arguments[owner])
        let zoneName = arguments.operands.dropFirst().first
        guard (owner != nil) == (scope == .shared && zoneName != nil) else {
            throw UsageError("a zone of the shared database is named with --owner NAME, and no other zone is")
        }
        let actor = arguments[device].map { Actor(user: user, device: $0) } ?? Actor(user: user)
        return try StateAccess.read(arguments, by: name, output) { access in
            for user in [user, owner ?? user] { try NamedPlace(access.store).requireUser(user) }
            let ownerRecord = try owner.map { try access.store.snapshot().recordName(of: $0) } ?? ""
            let zone = zoneName.map { ZoneID($0, owner: ownerRecord) }
            let feed = FeedReading(
                store: access.store, database: DatabaseID(scope), zone: zone, actor: actor,
                limit: Int(arguments[limit] ?? 0))
            let secrets = arguments[QueryCommand.reveal] ? Secrets() : nil
            var pages = FeedPages(
                store: access.store, secrets: secrets, isJSON: arguments[Option.json], output: output)
            try feed.forEachPage(since: try token(arguments[since], of: feed, access)) { page in
                try pages.write(page)
                return arguments[all]
            }
            return try secrets?.reportClosed(by: name, output) ?? .success
        }
    }

    private static func token(
        _ start: Start?, of feed: FeedReading, _ access: StateAccess
    ) throws -> FeedToken? {
        switch start {
        case nil: return nil
        case .token(let token)?: return try access.store.token(from: token.bytes)
        case .moment(let moment)?:
            let offset =
                switch moment {
                case .commit(let commit): commit.offset(upTo: access.store.offset)
                case .time: try Refusal.unlessFound { try moment.offset(in: access.log()) }
                }
            if let token = try feed.token(at: offset, in: access) { return token }
            Diagnostics.remark(
                "the zone did not exist at offset \(offset): a client that had everything then starts with nothing",
                by: name)
            return nil
        }
    }
}

/// Prints pages of a feed.
struct FeedPages {
    private let store: Store
    private let state: ContainerState
    private let secrets: Secrets?
    private let isJSON: Bool
    private let output: Output
    private var count = 0

    init(store: Store, secrets: Secrets?, isJSON: Bool, output: Output) {
        (self.store, self.secrets, self.isJSON, self.output) = (store, secrets, isJSON, output)
        state = ContainerState(store)
    }

    mutating func write(_ page: FeedReading.Page) throws {
        count += 1
        let token = SealedText.text("token", by: FeedCommand.name, isFirst: count == 1) {
            try store.bytes(of: page.token)
        }
        if isJSON { try writeJSON(page, token) } else { try writeText(page, token) }
    }

    private func detail(_ record: Record) throws -> RecordDetail { try RecordDetail(record, in: state, secrets) }

    // MARK: For people

    private func writeText(_ page: FeedReading.Page, _ token: String?) throws {
        var end = "page \(count): \(page.changedCount) changed, \(page.deletedCount) deleted"
        if page.moreComing { end += ", more to come" }
        if let token { end += "; token \(token)" }
        switch page {
        case .database(let page):
            let rows =
                try page.changed.map { ["changed", try state.shownText(of: $0), ""] }
                + page.deleted.map { ["deleted", try state.shownText(of: $0.zone), $0.reason.name] }
            try Columns.write(rows, to: output)
        case .zone(let page):
            let changed = try page.changed.map { record in
                [
                    "changed", Printable.escaped(record.id.name), Printable.escaped(try record.type),
                    record.version.tag, try detail(record).valuesText(),
                ]
            }
            let deleted = page.deleted.map { deletion in
                ["deleted", Printable.escaped(deletion.id.name), Printable.escaped(deletion.type), "", ""]
            }
            try Columns.write(changed + deleted, to: output)
            if let token = page.clientToken { end += "; client token \(Base64.text(token))" }
        }
        try output.writeLine(end)
    }

    // MARK: For programs

    private func writeJSON(_ page: FeedReading.Page, _ token: String?) throws {
        switch page {
        case .database(let page):
            for zone in page.changed { try output.writeJSON(FeedChange(zone: zone, of: state.owner(of: zone))) }
            for deletion in page.deleted {
                try output.writeJSON(
                    FeedChange(zone: deletion.zone, of: state.owner(of: deletion.zone), reason: deletion.reason))
            }
        case .zone(let page):
            for record in page.changed {
                var detail = try detail(record)
                detail.isChange = true
                try output.writeJSON(detail)
            }
            for deletion in page.deleted {
                try output.writeJSON(
                    FeedChange(deletion.id, type: deletion.type, of: state.owner(of: deletion.id.zone)))
            }
        }
        try output.writeJSON((count, page, token), as: Self.end)
    }

    static let end = Shape<(number: Int, page: FeedReading.Page, token: String?)>("The end of a page of a feed") {
        Key("page", "its number, from 1") { $0.number }
        Key("changed", "how many have changed") { $0.page.changedCount }
        Key("deleted", "how many were deleted") { $0.page.deletedCount }
        Key("moreComing", "true if there is another page") { $0.page.moreComing }
        Key(
            "token",
            "for `--since`: where the next page begins, or the next fetch. Null for a store that has no secret yet"
        ) { $0.token }
        Key("offset", "of the token") { $0.page.token.position.offset }
        Key(
            "clientToken", "the client token that the device sent last with a change of the zone, in base64",
            if: "if it did"
        ) {
            if case .zone(let page) = $0.page { page.clientToken.map { Base64.text($0) } } else { nil }
        }
    }
}

/// A change of a feed other than a changed record.
struct FeedChange: Shaped {
    private let name: String?
    private let zone: ZoneID
    private let type: String?
    private let reason: ZoneDeletedEvent.Reason?
    private let isDeleted: Bool
    /// The name of the zone's owner, in the shared database.
    private var owner: String?

    /// A record that was deleted.
    init(_ id: RecordID, type: String, of owner: String? = nil) {
        self.owner = owner
        (name, zone, self.type, reason, isDeleted) = (id.name, id.zone, type, nil, true)
    }

    /// A zone that has changed, or with a reason one that was deleted.
    init(zone: ZoneID, of owner: String? = nil, reason: ZoneDeletedEvent.Reason? = nil) {
        self.owner = owner
        (name, self.zone, type, self.reason, isDeleted) = (nil, zone, nil, reason, reason != nil)
    }

    static let shape = Shape<Self>(
        "What is gone, or a zone that has changed", "A changed record comes as [a record in full](#a-record-in-full)."
    ) {
        Key("change", "`changed` or `deleted`") { $0.isDeleted ? "deleted" : "changed" }
        Key("name", "of the record", if: "a zone's feed") { $0.name }
        Key("zone", "its name") { $0.zone.name }
        Key("sharedBy", "name of the zone's owner", if: "in the shared database") { $0.owner }
        Key("type", "the type that the record had", if: "a zone's feed") { $0.type }
        Key("reason", "`deleted`, `purged` or `encrypted data reset`", if: "of a zone that is gone") { $0.reason?.name }
    }
}
