import StrataModel
import StrataReplay
import StrataStore
import StrataViews

/// `strata device`: the changes that a device has received.
enum DeviceCommand: Command {
    static let name = "device"
    static let summary = "show what a device was given, and what it does not know yet"
    static let details =
        "For each zone: the newest change token that the device received, the changes since, and whether the store "
        + "would still accept the token. Requires recordFetches (recordsFetches in StoreOptions), with which the store "
        + "keeps fetches in the log; what "
        + "the device saved, and how far it was notified, is always in the log. With --record: whether the device "
        + "knows the newest state of a record, and if not, why. The headers of all commits are read. It can run while "
        + "another program writes to the store. With --state: what the device's CKSyncEngine has to send, how far its "
        + "change tokens lag, and what its next fetch would bring; the device need not be in the log. Exits with 1 if "
        + "the user or, without --state, the device does not exist, if the device does not know the record, or if an "
        + "engine would not use the state."

    static let record = Option.text("--record", "NAME", help: "report whether the device knows this record's state")
    static let zone = Option.text("--zone", "NAME", help: "with --record: its zone; the default zone by default")
    static let state = Option.text(
        "--state", "FILE",
        help: "show this state of the device's CKSyncEngine, as the app encoded it: JSON, a property list or bytes")
    static let database = Option<InternedName.Scope>(
        name: "--database", valueName: "NAME",
        help: "with --record: public, private or shared; private by default; with --state: the database of the state "
            + "to show, if FILE has several", words: DatabaseOptions.anyDatabase.words
    ) { text throws(UsageError) in try DatabaseOptions.anyDatabase.convert(text) }
    static let owner = Option.text("--owner", "NAME", help: "with --database shared: the owner of the record's zone")

    static let operands = [
        Operand.store, Operand(name: "USER", help: "the user's name", variable: .user),
        Operand(name: "DEVICE", help: "the name of a device of the user"),
    ]
    static let options: [any OptionDescription] = [record, zone, database, owner, state, Option.at, Option.json]
    static let examples = [
        "strata device Notes.strata anna phone",
        "strata device Notes.strata anna phone --record milk --zone Notes --at 12",
        "strata device Notes.strata anna phone --state engine.json",
    ]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        if let file = arguments[state] { return try run(arguments, stateIn: file, output) }
        let name = arguments[record]
        if name == nil, arguments[zone] != nil || arguments[database] != nil {
            throw UsageError("--zone is for --record, and --database for --record or --state")
        }
        guard (arguments[owner] != nil) == (arguments[database] == .shared) else {
            throw UsageError(
                "--database shared needs --owner NAME, the user who shares the zone, and nothing else does")
        }
        let actor = Actor(user: arguments.operands[1], device: arguments.operands[2])
        return try StateAccess.read(arguments, by: self.name, output) { access in
            if let owner = arguments[owner] { try NamedPlace(access.store).requireUser(owner) }
            let zoneOwner = try arguments[owner].map { try access.store.snapshot().recordName(of: $0) } ?? ""
            let asked = name.map { name in
                (
                    id: RecordID(name, zone: ZoneID(arguments[zone] ?? ZoneID.defaultName, owner: zoneOwner)),
                    database: DatabaseID(arguments[database] ?? .private)
                )
            }
            let view = try DeviceView.of(actor, in: access.store, record: asked)
            try arguments[Option.json] ? output.writeJSON(view) : view.write(to: output)
            guard let record = view.record else { return .success }
            return [.madeIt, .given].contains(record.verdict) ? .success : .no
        }
    }

    private static func run(_ arguments: Arguments, stateIn file: String, _ output: Output) throws -> ExitCode {
        if arguments[record] != nil || arguments[zone] != nil || arguments[owner] != nil {
            throw UsageError("--record, --zone and --owner are not for --state")
        }
        let state = try SyncStateFile.read(file, scope: arguments[database])
        return try StateAccess.read(arguments, by: name, output) { access in
            // A device that has only fetched is in no commit.
            let user = try NamedPlace(access.store).requireUser(arguments.operands[1])
            let actor = Actor(user: user, device: arguments.operands[2])
            if try access.store.snapshot().trees.device(actor) == nil {
                Diagnostics.note("the log has no device '\(actor.device)' of \(user)", by: name)
            }
            let report = try SyncStateReport(state, of: actor, in: access)
            try arguments[Option.json] ? output.writeJSON(report) : report.write(to: output)
            return report.reasonUnused == nil ? .success : .no
        }
    }
}
