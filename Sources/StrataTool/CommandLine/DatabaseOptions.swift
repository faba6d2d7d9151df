import StrataModel
import StrataStore

/// The database, the zone and the actor of a command line.
struct DatabaseOptions {
    /// ``user`` for commands in which no variable stands for it.
    static let typedUser = Option.text(
        "--user", "NAME", help: "the user who makes the request; the private database is this user's")
    static let user = typedUser.defaulting(to: .user)
    static let database = Option<InternedName.Scope>.choice(
        "--database", "NAME", [("public", .public), ("private", .private)],
        help: "public or private; the default is private with --user or --owner, else public or, if exactly one "
            + "private database contains a match, that one")
    /// ``database`` for the commands that also read what other users share with the user.
    static let anyDatabase = Option<InternedName.Scope>.choice(
        database.name, "NAME", scopes,
        help: "public, private or shared; shared is what others share with --user. The default is private with "
            + "--user or --owner, else public or, if exactly one private database contains a match, that one")
    static let scopes: [(word: String, value: InternedName.Scope)] = [
        ("public", .public), ("private", .private), ("shared", .shared),
    ]
    static let owner = Option.text(
        "--owner", "NAME",
        help: "the owner of the private database, if not the user who makes the request; without --user it is read "
            + "with the rights of the service")
    /// ``owner`` for the same commands.
    static let anyOwner = Option.text(
        owner.name, "NAME",
        help: "the owner of the private database, if not the user who makes the request; without --user it is read "
            + "with the rights of the service; with --database shared, the owner of the zone")
    static let zone = Option.text("--zone", "NAME", help: "look in this zone only")

    let database: DatabaseID
    let actor: Actor
    /// Nil if none is named.
    private(set) var zone: ZoneID?
    /// The user who shares the zones to read; empty for zones of the database's user, and for the zones of all others.
    private(set) var zoneOwner = ""
    /// The name of the record of ``zoneOwner``, once the options are placed in a store; empty for the same zones.
    private(set) var zoneRecord = ""

    init(_ arguments: Arguments) throws(UsageError) {
        let user = arguments[Self.user]
        let owner = arguments[Self.owner]
        let scope = arguments[Self.database] ?? (user == nil && owner == nil ? .public : .private)
        if scope == .public, owner != nil {
            throw UsageError("--owner and --database public cannot be combined: the public database has no owner")
        }
        if scope == .private, user == nil, owner == nil {
            throw UsageError("--database private needs --user NAME: every user has a private database")
        }
        let zone = arguments[Self.zone]
        if scope == .shared {
            guard let user else {
                throw UsageError("--database shared needs --user NAME: every user has a shared database")
            }
            if owner == nil, zone != nil {
                throw UsageError("--database shared with --zone needs --owner NAME, the user who shares the zone")
            }
            (database, actor) = (DatabaseID(.shared), Actor(user: user))
            zoneOwner = owner ?? ""
            self.zone = zone.map { ZoneID($0) }
            return
        }
        actor = user.map { Actor(user: $0) } ?? (owner == nil ? Actor(user: "") : .service)
        let isOwn = user.map { LogFilter.isSame(owner, $0) } ?? false
        database = DatabaseID(scope, owner: isOwn ? "" : owner ?? "")
        self.zone = zone.map { ZoneID($0) }
    }

    /// Returns the options with the owner of the zone as the store names the owner's record.
    func placed(in snapshot: StoreSnapshot) throws -> DatabaseOptions {
        guard !zoneOwner.isEmpty else { return self }
        var options = self
        options.zoneRecord = try snapshot.recordName(of: zoneOwner)
        options.zone = zone.map { ZoneID($0.name, owner: options.zoneRecord) }
        return options
    }

    /// The private database of the acting user.
    init(of user: String, zone: ZoneID?) {
        (database, actor, self.zone) = (DatabaseID(.private), Actor(user: user), zone)
    }

    /// A database for the service.
    init(in database: DatabaseID, zone: ZoneID?) {
        (self.database, actor, self.zone) = (database, Actor.service, zone)
    }

    /// The owner of the database; empty for the public one.
    var ownerName: String {
        if database.scope == .public { return "" }
        return database.owner.isEmpty ? actor.user : database.owner
    }

    /// Returns true if a command line names a database.
    static func areGiven(in arguments: Arguments) -> Bool {
        arguments.has(user) || arguments.has(database) || arguments.has(owner)
    }
}

extension DatabaseID {
    /// `private of anna`, escaped for display.
    var shownText: String { scope.name + (owner.isEmpty ? "" : " of \(Printable.escaped(owner))") }
}
