import StrataModel
import StrataStore

/// `strata access`: the rights of a user to a record, and their reason.
enum AccessCommand: Command {
    static let name = "access"
    static let summary = "say if a user may read or write a record, and why"
    static let details =
        "Prints the rights of a user to a record. In the public database it also prints the grant of the schema that "
        + "decides. In the private database of another user it prints the share, the user's permission in it, and the "
        + "chain of parents from the record up to the root of the share. Of a record that is not shared any more it "
        + "prints which commit ended the share or changed a parent, and of a former member who removed them. Exits "
        + "with 0 if the user may read the record, and with 1 if not or if the record does not exist. It can run "
        + "while another program writes to the store."

    static let user = Option.text("--user", "NAME", help: "the user; omit for a signed-out caller")
        .defaulting(to: .user)
    static let owner = Option.text("--owner", "NAME", help: "the owner of the record's private database")

    static let operands = [Operand.store, Operand(name: "RECORD", help: "the name of a record")]
    static let options: [any OptionDescription] = [user, owner, GetCommand.zone, Option.at, Option.json]
    static let examples = [
        "strata access Notes.strata note-1 --user ben --owner anna --zone Notes",
        "strata access Notes.strata note-1 --user ben --owner anna --zone Notes --at 2h --json | jq .mayWrite",
    ]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        try StateAccess.read(arguments, by: name, output) { access in
            let state = ContainerState(access.store)
            let place = NamedPlace(access.store)
            let user = try arguments[user].map { try place.requireUser($0) } ?? ""
            let owner = try arguments[owner].map { try place.requireUser($0) }
            let id = RecordID(
                arguments.operands[1], zone: ZoneID(arguments[GetCommand.zone] ?? ZoneID.defaultName))
            let database = owner.map { DatabaseID(.private, owner: $0) } ?? DatabaseID(.public)
            do { try place.requireRecord(id, in: database) } catch let refusal as Refusal {
                let zone = arguments[GetCommand.zone].map { ZoneID($0) }
                let problem = try RecordPlaces(state, owner: Self.owner.name)
                    .problem(refusal, with: id, DatabaseOptions(in: database, zone: zone))
                return Diagnostics.refuse(problem.text, advice: problem.advice, by: name)
            }
            let detail = try AccessDetail(id, in: database, for: user, state)
            if arguments[Option.json] { try output.writeJSON(detail) } else { try detail.write(to: output) }
            return detail.mayRead ? .success : .no
        }
    }
}
