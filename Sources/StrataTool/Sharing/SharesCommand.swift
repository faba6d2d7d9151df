import StrataModel
import StrataStore
import StrataViews

/// `strata shares`: the shares of a store, with their participants.
enum SharesCommand: Command {
    static let name = "shares"
    static let summary = "list the shares of a store, with their participants"
    static let details =
        "Prints each share: its owner, the zone or root record that it shares, its URL's token and public permission, "
        + "and its participants, each with role and permission and the commit with which the user joined. Without "
        + "--user it prints the shares of all users. It can run while another program writes to the store. Exits with "
        + "1 if the user does not exist."

    static let user = Option.text("--user", "NAME", help: "only shares that this user owns or participates in")
        .defaulting(to: .user)
    static let ended = Option.flag("--ended", help: "also list shares that have ended")

    static let options: [any OptionDescription] = [user, ended, Option.at, Option.json]
    static let examples = [
        "strata shares Notes.strata", "strata shares Notes.strata --user ben --json | jq '[.share, .root]'",
    ]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        try StateAccess.read(arguments, by: name, output) { access in
            let state = ContainerState(access.store)
            let user = try arguments[Self.user].map { try NamedPlace(access.store).requireUser($0) }
            var count = 0
            for number in 1..<(try state.trees.shareCount()) + 1 {
                guard let share = try ShareDetail(number, in: state), !share.isEnded || arguments[ended],
                    user.map({ share.concerns($0) }) ?? true
                else { continue }
                count += 1
                if arguments[Option.json] { try output.writeJSON(share) } else { try share.write(to: output) }
            }
            if !arguments[Option.json] { try output.writeLine(count.counted("share")) }
            return .success
        }
    }
}
