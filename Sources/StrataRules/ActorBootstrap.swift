import StrataModel
import StrataViews

/// The events that accompany the first write of a user, by a device, or to a database (docs/rules.md §9.2, B265).
struct ActorBootstrap {
    let user: UInt64
    let device: UInt64
    private let actor: ActorState
    private let isNewDevice: Bool
    /// The databases in which the user's record is created.
    private var homes: [Home] = []
    private var usersType: UInt64 = 0

    private struct Home {
        var scope: InternedName.Scope
        var database: UInt64
        var zone: UInt64
        var isNew: Bool
    }

    /// Interns the missing names.
    init(_ actor: ActorState, _ view: RulesView, _ names: inout NameWriter) throws {
        user = try actor.user != 0 ? actor.user : names.ordinal(of: .user(actor.actor.user))
        device = try actor.device != 0 ? actor.device : names.ordinal(of: .device(user: user, actor.actor.device))
        self.actor = actor
        isNewDevice = actor.device == 0
        guard try actor.user == 0 || view.ordinal(of: .database(.private, owner: user)) == nil else { return }
        for scope in [InternedName.Scope.private, .public] {
            let owner = scope == .public ? 0 : user
            let isNew = try view.ordinal(of: .database(scope, owner: owner)) == nil
            let database = try names.ordinal(of: .database(scope, owner: owner))
            let zone = try names.ordinal(of: .zone(database: database, owner: owner, ZoneID.defaultName))
            homes.append(Home(scope: scope, database: database, zone: zone, isNew: isNew))
        }
        usersType = try names.ordinal(of: .recordType(UserRecord.type))
    }

    /// - Parameter sparing: the scope in which the request itself saves the user's record.
    func append(to commit: inout CommitBuilder, sparing: InternedName.Scope?) throws {
        if isNewDevice { try commit.append(DeviceSeenEvent(device: device)) }
        for home in homes {
            if home.isNew {
                try commit.append(DatabaseCreatedEvent(database: home.database))
                try commit.append(ZoneSavedEvent(zone: home.zone, database: home.database))
            }
            if home.scope == sparing { continue }
            try commit.append(
                RecordSavedEvent(.create, RecordKey(zone: home.zone, name: try actor.recordName), type: usersType))
        }
    }
}
