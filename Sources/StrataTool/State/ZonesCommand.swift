import StrataModel
import StrataViews

/// `strata zones`: the zones of one or all databases.
enum ZonesCommand: Command {
    static let name = "zones"
    static let summary = "list the zones of a database, or of all databases"
    static let details =
        "Without a user or a database it lists the zones of every database that has been written to. With --database "
        + "shared it lists the zones that others share with --user, as their owners have them. For each zone it prints "
        + "the number of records, the bytes that they count toward the user's quota, and its capabilities. It also "
        + "prints the last commit that changed the zone: a change token from there or later has nothing to fetch. And "
        + "it prints the event that began the zone's life: tokens of an earlier life have expired. It can run while "
        + "another program writes to the store. Exits with 1 if the user does not exist, or if --owner shares nothing "
        + "with the user."

    static let deleted = Option.flag("--deleted", help: "also list deleted zones")

    static let options: [any OptionDescription] = [
        DatabaseOptions.user, DatabaseOptions.anyDatabase, DatabaseOptions.anyOwner, Option.at, deleted, Option.json,
    ]
    static let examples = [
        "strata zones Notes.strata", "strata zones Notes.strata --user anna --at 2026-11-21 --json | jq .records",
    ]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        let options = DatabaseOptions.areGiven(in: arguments) ? try DatabaseOptions(arguments) : nil
        return try StateAccess.read(arguments, by: name, output) { access in
            let state = ContainerState(access.store)
            var count = 0
            func write(_ database: ContainerState.Database) throws {
                let zones = try state.zones(of: database).filter { $0.row.status == .alive || arguments[deleted] }
                count += zones.count
                if arguments[Option.json] {
                    for zone in zones { try output.writeJSON((zone, database.id, nil), as: shape) }
                } else if !zones.isEmpty {
                    try output.writeLine(database.id.shownText, .heading)
                    try Columns.write(zones.map(row), indentation: 2, to: output)
                }
            }
            if let options, options.database.scope == .shared {
                let zones = try state.sharedZones(options)
                count += zones.count
                try writeShared(zones, of: options.actor.user, asJSON: arguments[Option.json], to: output)
            } else if let options {
                if let database = try state.database(options) { try write(database) }
            } else {
                try state.forEachDatabase(write)
            }
            if !arguments[Option.json] { try output.writeLine(count.counted("zone")) }
            return .success
        }
    }

    private static func row(of zone: ContainerState.ZoneEntry) -> [String] {
        let row = zone.row
        let life = row.incarnation
        var properties = row.capabilities.names
        if row.encryptionScope == .zone { properties.append("one key for the zone") }
        if row.status != .alive { properties = [row.status.name] }
        return [
            Printable.escaped(zone.name), row.recordCount.counted("record"),
            row.usedBytes.counted("byte"), "changed by \(row.lastChanged)",
            "life since commit \(life.offset), event \(life.eventIndex)", properties.joined(separator: ", "),
        ]
    }

    private static func writeShared(
        _ zones: [(zone: ContainerState.ZoneEntry, id: ZoneID, owner: String)], of user: String, asJSON: Bool,
        to output: Output
    ) throws {
        let database = DatabaseID(.shared, owner: user)
        if asJSON {
            for zone in zones { try output.writeJSON((zone.zone, database, zone.owner), as: shape) }
        } else if !zones.isEmpty {
            try output.writeLine(database.shownText, .heading)
            let rows = zones.map { zone in
                let row = row(of: zone.zone)
                return ["\(row[0]) of \(Printable.escaped(zone.owner))"] + row.dropFirst()
            }
            try Columns.write(rows, indentation: 2, to: output)
        }
    }

    static let shape = Shape<(zone: ContainerState.ZoneEntry, database: DatabaseID, sharedBy: String?)>("A zone") {
        Key(of: DatabaseID.shape) { $0.database }
        Key("sharedBy", "name of the zone's owner", if: "in the shared database") { $0.sharedBy }
        Key("zone", "its name") { $0.zone.name }
        Key("ordinal", "its ordinal") { $0.zone.ordinal }
        Key("status", "`alive`, or with `--deleted` `deleted`, `purged` or `encrypted data reset`") {
            $0.zone.row.status.name
        }
        Key("records", "how many it has") { $0.zone.row.recordCount }
        Key("bytes", "how many bytes count toward the quota of their user") { $0.zone.row.usedBytes }
        Key("capabilities", "1 fetch changes, 2 atomic, 4 sharing, 8 zone-wide sharing") {
            $0.zone.row.capabilities.rawValue
        }
        Key("encryptionScope", "`record` or `zone`: which of them has its own key") { $0.zone.row.encryptionScope.name }
        Key("version", "of the event that saved or deleted the zone last") { $0.zone.row.version }
        Key("life", "version that began its life") { $0.zone.row.incarnation }
        Key("changed", "the last commit that changed it or its records") { $0.zone.row.lastChanged }
    }
}

extension EncryptionScope {
    var name: String { self == .zone ? "zone" : "record" }
}

extension ZoneRow.Status {
    var name: String {
        switch self {
        case .alive: "alive"
        case .deleted: ZoneDeletedEvent.Reason.deleted.name
        case .purged: ZoneDeletedEvent.Reason.purged.name
        case .encryptedDataReset: ZoneDeletedEvent.Reason.encryptedDataReset.name
        }
    }
}

extension ZoneCapabilities {
    /// The names of the capabilities in bit order; those of a later release by number.
    fileprivate var names: [String] {
        let known: [(Self, String)] = [
            (.fetchChanges, "fetch changes"), (.atomic, "atomic"), (.sharing, "sharing"),
            (.zoneWideSharing, "zone-wide sharing"),
        ]
        let unknown = subtracting(Self(known.map(\.0))).rawValue
        return known.filter { contains($0.0) }.map(\.1) + (unknown == 0 ? [] : ["capabilities \(unknown)"])
    }
}
