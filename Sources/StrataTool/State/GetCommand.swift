import StrataModel
import StrataStore

/// `strata get`: records by name, with all their details.
enum GetCommand: Command {
    static let name = "get"
    static let summary = "print records by name, with everything known about them"
    static let details =
        "Prints the system fields of each record, and every value with its type. Data values are abbreviated, except "
        + "with --json. It can run while another program writes to the store. Exits with 1 and prints the reason if a "
        + "record does not exist, or which commit deleted it; the other records are still printed."

    static let zone = Option.text("--zone", "NAME", help: "the zone of the records; the default is _defaultZone")

    static let operands = [
        Operand.store, Operand(name: "RECORD", help: "the name of a record; repeat for more", isRepeatable: true),
    ]
    static let options: [any OptionDescription] = [
        zone, DatabaseOptions.user, DatabaseOptions.anyDatabase, DatabaseOptions.anyOwner, Option.at,
        QueryCommand.reveal,
        Option.json,
    ]
    static let examples = [
        "strata get Notes.strata note-1 note-2 --user anna --zone Notes",
        "strata get Notes.strata note-1 --user anna --zone Notes --at 2h --json | jq .fields",
    ]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        _ = try DatabaseOptions(arguments)
        return try StateAccess.read(arguments, by: name, output) { access in
            let state = ContainerState(access.store)
            let options = try NamedPlace(access.store).resolve(arguments, by: name)
            let secrets = arguments[QueryCommand.reveal] ? Secrets() : nil
            var areAllThere = true
            for recordName in arguments.operands.dropFirst() {
                let zone = options.zone ?? ZoneID(ZoneID.defaultName, owner: options.zoneRecord)
                let id = RecordID(recordName, zone: zone)
                for result in try state.snapshot.records([id], in: options.database, as: options.actor) {
                    switch result {
                    case .success(let record):
                        try RecordDetail(record, in: state, secrets).write(asJSON: arguments[Option.json], to: output)
                    case .failure(let refusal):
                        areAllThere = false
                        try output.flush()
                        let problem = try RecordPlaces(state).problem(refusal, with: id, options)
                        Diagnostics.report(
                            problem.text, code: StrataError.Code(refusal.code), advice: problem.advice, by: name)
                    }
                }
            }
            let code = try secrets?.reportClosed(by: name, output) ?? .success
            return areAllThere ? code : .no
        }
    }
}
