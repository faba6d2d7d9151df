import StrataModel
import StrataReplay
import StrataStore

/// `strata device`: the changes that a device has received.
enum DeviceCommand: Command {
    static let name = "device"
    static let summary = "tell what a device was given, and what it does not know yet"
    static let details =
        "Zone by zone, up to where the change tokens that the device was given go, how much has changed behind them, "
        + "and whether they would be served. That is in the log only where the store keeps fetches (recordsFetches); "
        + "what the device saved, and how far it was notified, always is. With --record: whether the device knows the "
        + "newest state of a record, and if not, why. The headers of all commits are read. It reads beside a program "
        + "that writes to the store, and ends with 1 for a user or a device that there is not, and for a record that "
        + "the device does not know."

    static let record = Option.text("--record", "NAME", help: "whether the device knows this record's state")
    static let zone = Option.text("--zone", "NAME", help: "with --record: its zone; the default zone if not given")
    static let database = Option<InternedName.Scope>(
        name: "--database", valueName: "NAME", help: "with --record: public or private; private if not given"
    ) { text throws(UsageError) in try DatabaseOptions.database.convert(text) }

    static let operands = [
        Operand.store, Operand(name: "USER", help: "the user's name"),
        Operand(name: "DEVICE", help: "the name of a device of the user"),
    ]
    static let options: [any OptionDescription] = [record, zone, database, Option.at, Option.json]
    static let examples = [
        "strata device Notes.strata anna phone",
        "strata device Notes.strata anna phone --record milk --zone Notes --at 12",
    ]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        let name = arguments[record]
        if name == nil, arguments[zone] != nil || arguments[database] != nil {
            throw UsageError("--zone and --database say where the --record is")
        }
        let actor = Actor(user: arguments.operands[1], device: arguments.operands[2])
        let asked = name.map { name in
            (
                id: RecordID(name, zone: ZoneID(arguments[zone] ?? ZoneID.defaultName)),
                database: DatabaseID(arguments[database] ?? .private)
            )
        }
        return try StateAccess.read(arguments, by: self.name, output) { access in
            let view = try DeviceView.of(actor, in: access.store, record: asked)
            let report = DeviceReport(view)
            try arguments[Option.json] ? report.writeJSON(to: output) : report.write(to: output)
            guard let record = view.record else { return .success }
            return [.madeIt, .given].contains(record.verdict) ? .success : .no
        }
    }
}
