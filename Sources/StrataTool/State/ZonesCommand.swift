import StrataModel
import StrataViews

/// `strata zones`: the zones of one or all databases.
enum ZonesCommand: Command {
    static let name = "zones"
    static let summary = "list the zones of a database, or of all databases"
    static let details =
        "Without a user or a database it lists the zones of every database that has been written to. With --database "
        + "shared it lists the zones that others share with --user, with the records that the user sees. For each "
        + "zone it prints the number of records, the bytes that they count toward its owner's quota (not for shared "
        + "zones), and its capabilities. It also prints the last commit that changed the zone: a change token from "
        + "there or later has nothing to fetch. And it prints the event that began the zone's life: tokens of an "
        + "earlier life have expired. It can run while another program writes to the store. Exits with 1 if the user "
        + "does not exist, or if --owner shares nothing with the user."

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
                    for zone in zones { try output.writeJSON(Line(zone, of: database.id), as: Line.shape) }
                } else if !zones.isEmpty {
                    try output.writeLine(database.id.shownText, .heading)
                    try Columns.write(zones.map { Line($0, of: database.id).row }, indentation: 2, to: output)
                }
            }
            if let options, options.database.scope == .shared {
                let lines = try sharedLines(options.placed(in: state.snapshot), in: state)
                count += lines.count
                try writeShared(lines, of: options.actor.user, asJSON: arguments[Option.json], to: output)
            } else if let options {
                if let database = try state.database(options) { try write(database) }
            } else {
                try state.forEachDatabase(write)
            }
            if !arguments[Option.json] { try output.writeLine(count.counted("zone")) }
            return .success
        }
    }

    private static func sharedLines(_ options: DatabaseOptions, in state: ContainerState) throws -> [Line] {
        let database = DatabaseID(.shared, owner: options.actor.user)
        return try state.sharedZones(options).map { zone, id, owner in
            var line = Line(zone, of: database)
            (line.sharedBy, line.records, line.bytes) = (owner, 0, nil)
            try state.trees.forEachRecord(of: zone.ordinal) { name, _ in
                if try state.sees(String(decoding: name, as: UTF8.self), in: id, options) { line.records += 1 }
                return true
            }
            return line
        }
    }

    private static func writeShared(_ lines: [Line], of user: String, asJSON: Bool, to output: Output) throws {
        if asJSON {
            for line in lines { try output.writeJSON(line, as: Line.shape) }
        } else if !lines.isEmpty {
            try output.writeLine(DatabaseID(.shared, owner: user).shownText, .heading)
            try Columns.write(lines.map(\.row), indentation: 2, to: output)
        }
    }

    /// A zone as it is listed.
    struct Line {
        let zone: ContainerState.ZoneEntry
        let database: DatabaseID
        /// The name of the zone's owner, in the shared database.
        var sharedBy: String?
        /// The number of records, in the shared database only of those that the user sees.
        var records: UInt64
        /// Nil in the shared database, where the records count toward the owner's quota.
        var bytes: UInt64?

        init(_ zone: ContainerState.ZoneEntry, of database: DatabaseID) {
            (self.zone, self.database) = (zone, database)
            (records, bytes) = (zone.row.recordCount, zone.row.usedBytes)
        }

        var row: [String] {
            let row = zone.row
            let life = row.incarnation
            var properties = row.capabilities.names
            if row.encryptionScope == .zone { properties.append("one key for the zone") }
            if row.status != .alive { properties = [row.status.name] }
            return [
                Printable.escaped(zone.name) + (sharedBy.map { " of \(Printable.escaped($0))" } ?? ""),
                records.counted("record"), bytes?.counted("byte"), "changed by \(row.lastChanged)",
                "life since commit \(life.offset), event \(life.eventIndex)", properties.joined(separator: ", "),
            ].compactMap(\.self)
        }

        static let shape = Shape<Line>("A zone") {
            Key(of: DatabaseID.shape) { $0.database }
            Key("sharedBy", "name of the zone's owner", if: "in the shared database") { $0.sharedBy }
            Key("zone", "its name") { $0.zone.name }
            Key("ordinal", "its ordinal") { $0.zone.ordinal }
            Key("status", "`alive`, or with `--deleted` `deleted`, `purged` or `encrypted data reset`") {
                $0.zone.row.status.name
            }
            Key("records", "how many it has, in the shared database only those that the user sees") { $0.records }
            Key(
                "bytes", "how many bytes count toward the quota of their user", if: "not in the shared database"
            ) { $0.bytes }
            Key("capabilities", "1 fetch changes, 2 atomic, 4 sharing, 8 zone-wide sharing") {
                $0.zone.row.capabilities.rawValue
            }
            Key("encryptionScope", "`record` or `zone`: which of them has its own key") {
                $0.zone.row.encryptionScope.name
            }
            Key("version", "of the event that saved or deleted the zone last") { $0.zone.row.version }
            Key("life", "version that began its life") { $0.zone.row.incarnation }
            Key("changed", "the last commit that changed it or its records") { $0.zone.row.lastChanged }
        }
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
