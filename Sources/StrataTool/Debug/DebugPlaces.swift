import StrataLog
import StrataModel
import StrataRules
import StrataStore

/// The database and zone of a line in a debugger session: its own, or those of the command line.
struct DebugPlaces {
    /// With more zones, a record's place must be named.
    private static let maximumZones = 1_000

    struct Target {
        let id: RecordID
        let database: DatabaseID
        let actor: Actor
    }

    private let defaults: Arguments

    init(_ arguments: Arguments) { defaults = arguments }

    /// - Parameter options: the options that the line accepts.
    func complete(_ arguments: Arguments, _ options: [any OptionDescription]) -> Arguments {
        var arguments = arguments
        let isAsked = options.contains { $0.name == DatabaseOptions.user.name }
        if isAsked, !DatabaseOptions.areGiven(in: arguments) {
            if let user = defaults[DatabaseOptions.user] { arguments.add(DatabaseOptions.user, user) }
            if let scope = defaults[DatabaseOptions.database] { arguments.add(DatabaseOptions.database, scope) }
            if let owner = defaults[DatabaseOptions.owner] { arguments.add(DatabaseOptions.owner, owner) }
        }
        if isAsked, arguments[DatabaseOptions.zone] == nil, let zone = defaults[DatabaseOptions.zone] {
            arguments.add(DatabaseOptions.zone, zone)
        }
        return arguments
    }

    /// The place given on the command line, for lines without options of their own.
    var options: DatabaseOptions { get throws(UsageError) { try DatabaseOptions(defaults) } }

    /// Returns the record of a name, which is looked for in all zones unless a place is named.
    ///
    /// - Throws: ``UsageError`` if several records have the name; ``Refusal`` if none has.
    static func target(
        _ name: String, _ arguments: Arguments, in store: Store, _ names: KnownNames
    ) throws -> Target {
        let filter = try LogFilter(placesOf: arguments)
        let actor = try arguments.has(DatabaseOptions.user) ? DatabaseOptions(arguments).actor : .service
        if let problem = filter.unknownName(names) { throw Refusal(.unknownItem, problem) }
        var zones = filter.zones(names)
        guard zones.count <= maximumZones else {
            throw UsageError("there are \(zones.count) zones: choose the zone of '\(name)' with --zone and --user")
        }
        if zones.count > 1 {
            zones = try zones.filter { zone in
                let page = try store.log.touches(
                    record: Array(name.utf8), in: zone, after: store.log.floor.offset, limit: 1)
                return try !page.touches.isEmpty || isInBase(target(name, in: zone, names, as: .service), store)
            }
        }
        guard zones.count < 2 else {
            throw RecordTimelineTarget.ambiguity(of: name, in: zones, names)
        }
        guard let zone = zones.first else { throw Refusal(.unknownItem, "the log does not have a record '\(name)'") }
        return target(name, in: zone, names, as: actor)
    }

    private static func target(_ name: String, in zone: UInt64, _ names: KnownNames, as actor: Actor) -> Target {
        let database = names.databaseID(ofZone: zone) ?? DatabaseID(.public)
        return Target(id: RecordID(name, zone: ZoneID(names.zone(zone) ?? "")), database: database, actor: actor)
    }

    private static func isInBase(_ target: Target, _ store: Store) throws -> Bool {
        let floor = store.log.floor.offset
        guard floor > 0 else { return false }
        return try store.snapshot().record(target.id, asOf: floor, in: target.database, as: target.actor) != nil
    }
}
