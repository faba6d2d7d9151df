import Glibc
import StrataLog
import StrataModel
import StrataReplay
import StrataRules
import StrataStore

/// `strata play`: a replay of a store's history.
enum PlayCommand: Command {
    static let name = "play"
    static let summary = "play back a store's history as a device would have seen it"
    static let details =
        "Prints each commit, all of them or one for each line of input. With --user it also prints the changes and "
        + "notifications that a client of that user would receive; the client starts with everything up to the first "
        + "commit played. Without --device it is a device that has made no change itself. The store is only read, "
        + "even while another program writes to it; later commits are not played. Exits with 1 if the store does not "
        + "have a given point or user."

    static let user = Option.text(
        "--user", "NAME", help: "print the changes and notifications that this user would receive"
    ).defaulting(to: .user)
    static let device = Option.text("--device", "NAME", help: "on this device, not notified of its own changes")
    static let from = Option.moment(
        "--from", help: "begin with the state as it was then: an offset, or a time as for --at elsewhere")
    static let to = Option.moment(
        "--to", help: "end with the last commit up to then: an offset, or a time as for --at elsewhere")
    static let step = Option.flag("--step", help: "play one commit for each line of input; a line 'q' ends it")

    static let options: [any OptionDescription] = [user, device, from, to, step, Option.json]
    static let examples = [
        "strata play Notes.strata --from 1200",
        "strata play Notes.strata --user anna --device phone --from 1200 --step",
        "strata play Notes.strata --user anna --json | jq -r 'select(.push) | .subscription'",
    ]

    /// The number of commits that are played at a time if no device looks at each state.
    private static let mostTogether = 4_096

    /// Output that arrives over time is not paged.
    static func isPaged(_ arguments: Arguments) -> Bool { !arguments[step] }
    static func showsProgress(_ arguments: Arguments) -> Bool { !arguments[step] }

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        if arguments[user] == nil, arguments[device] != nil {
            throw UsageError("--device needs --user, whose device it is")
        }
        return try StateAccess.read(arguments.store, by: name, output) { access in
            let playback = try Refusal.unlessFound {
                let log = try access.log()
                return try Playback(
                    of: access.store, from: try arguments[from]?.offset(in: log),
                    through: try arguments[to]?.offset(in: log))
            }
            defer { try? playback.close() }
            if let user = arguments[user] { try NamedPlace(access.store).requireUser(user) }
            try play(playback, arguments, output)
            return .success
        }
    }

    private static func play(_ playback: Playback, _ arguments: Arguments, _ output: Output) throws {
        let actor = arguments[user].map { user in
            arguments[device].map { Actor(user: user, device: $0) } ?? Actor(user: user)
        }
        var report = try PlayReport(playback, as: actor, isJSON: arguments[Option.json], to: output)
        if arguments[step], isatty(STDIN_FILENO) == 1, Diagnostics.isTerminal {
            Diagnostics.remark("Enter plays the next commit, q ends", by: name)
        }
        if !arguments[step], actor == nil { return try playTogether(playback, report: &report) }
        while true {
            if arguments[step] { guard let line = readLine(), line != "q" else { return } }
            guard let commit = try playback.step() else { return }
            try report.write(commit)
            if arguments[step] { try output.flushToListener() }
            if playback.isAtEnd { return }
        }
    }

    /// Plays more and more commits at a time, since no device is to see each state.
    private static func playTogether(_ playback: Playback, report: inout PlayReport) throws {
        let end = playback.last ?? 0
        var count = 1
        while true {
            let commits = try playback.steps(atMost: count)
            for commit in commits { try report.write(commit) }
            if commits.isEmpty || playback.isAtEnd { return }
            Progress.note(playback.offset, of: end)
            count = min(count * 2, mostTogether)
        }
    }
}
