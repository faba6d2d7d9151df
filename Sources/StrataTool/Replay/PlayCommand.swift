import Glibc
import StrataLog
import StrataModel
import StrataReplay
import StrataRules
import StrataStore

/// `strata play`: a replay of a store's history at its original pace.
enum PlayCommand: Command {
    static let name = "play"
    static let summary = "play back a store's history as a device would have seen it"
    static let details =
        "Prints each commit at its turn, with the original pauses between commits, shorter or longer ones, or one "
        + "commit for each line of input. With --user it also prints the changes and notifications that a client of "
        + "that user would receive; the client starts with everything up to the first commit played. Without --device "
        + "it is a device that has made no change itself. The store is only read, even while another program writes to "
        + "it; later commits are not played. Exits with 1 if the store does not have a given point or user."

    static let user = Option.text(
        "--user", "NAME", help: "print the changes and notifications that this user would receive")
    static let device = Option.text("--device", "NAME", help: "on this device, not notified of its own changes")
    static let from = Option.moment(
        "--from", help: "begin with the state as it was then: an offset, or a time as for --at elsewhere")
    static let to = Option.moment(
        "--to", help: "end with the last commit up to then: an offset, or a time as for --at elsewhere")
    static let speed = Option<Double>(
        name: "--speed", valueName: "FACTOR", help: "play this many times as fast: 10x, 0.5x"
    ) { text throws(UsageError) in
        guard let factor = number(text, unit: "x"), factor > 0 else {
            throw UsageError("--speed takes a factor such as 10x or 0.5x, not '\(text)'")
        }
        return factor
    }
    static let step = Option.flag("--step", help: "play one commit for each line of input; a line 'q' ends it")
    static let unpaced = Option.flag("--as-fast-as-possible", help: "play without pauses")
    static let maximumGap = Option<Double>(
        name: "--max-gap", valueName: "SECONDS", help: "limit each pause to this many seconds"
    ) { text throws(UsageError) in
        guard let seconds = number(text, unit: "s"), seconds >= 0 else {
            throw UsageError("--max-gap takes seconds such as 5 or 0.5, not '\(text)'")
        }
        return seconds
    }

    static let options: [any OptionDescription] = [
        user, device, from, to, speed, step, unpaced, maximumGap, Option.json,
    ]
    static let examples = [
        "strata play Notes.strata --max-gap 5",
        "strata play Notes.strata --user anna --device phone --from 1200 --step",
        "strata play Notes.strata --user anna --speed 10x --json | jq -r 'select(.push) | .subscription'",
    ]

    /// An upper bound of the gap between any two commits, whatever their timestamps.
    private static let longestGapSeconds = 1e14
    /// The number of commits that are played at a time if no device looks at each state.
    private static let mostTogether = 4_096
    /// The interval for checking that the output still has a reader.
    private static let listenerMilliseconds: Int64 = 100

    /// Returns nil for text that is not a finite number, with or without its unit.
    private static func number(_ text: String, unit: Character) -> Double? {
        let digits = text.last == unit ? text.dropLast() : text[...]
        // Swift also accepts numbers such as 0x10, nan and -1.
        guard let first = digits.first, first.isNumber || first == ".",
            digits.allSatisfy({ $0.isNumber || ".eE+-".contains($0) }), let number = Double(digits), number.isFinite
        else { return nil }
        return number
    }

    /// Output that arrives over time is not paged.
    static func isPaged(_ arguments: Arguments) -> Bool { arguments[unpaced] }
    static func showsProgress(_ arguments: Arguments) -> Bool { arguments[unpaced] }

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        let ways: [any OptionDescription] = [speed, step, unpaced]
        let given = ways.filter { arguments.has($0) }
        if given.count > 1 { throw UsageError("\(given[0].name) and \(given[1].name) cannot be combined") }
        if arguments.has(maximumGap), let way = given.first, way.name != speed.name {
            throw UsageError("\(maximumGap.name) and \(way.name) cannot be combined")
        }
        if arguments[user] == nil, arguments[device] != nil {
            throw UsageError("--device needs --user, whose device it is")
        }
        return try StateAccess.read(arguments.store, by: name, output) { access in
            let playback: Playback
            do { playback = try open(arguments, access) } catch let error as StrataError
                where error.code == .outOfRange
            {
                return Diagnostics.refuse("\(error)", by: name)
            }
            defer { try? playback.close() }
            if let user = arguments[user] { try NamedPlace(access.store).requireUser(user) }
            try play(playback, arguments, output)
            return .success
        }
    }

    private static func open(_ arguments: Arguments, _ access: StateAccess) throws -> Playback {
        let log = try access.log()
        let speed: PlaybackSpeed =
            if arguments[step] {
                .stepped
            } else if arguments[unpaced] {
                .unpaced
            } else {
                arguments[speed].map { .multiplied($0) } ?? .original
            }
        return try Playback(
            of: access.store, from: try arguments[from]?.offset(in: log), through: try arguments[to]?.offset(in: log),
            speed: speed, maximumPause: arguments[maximumGap].map { .seconds(min($0, longestGapSeconds)) })
    }

    private static func play(_ playback: Playback, _ arguments: Arguments, _ output: Output) throws {
        let actor = arguments[user].map { user in
            arguments[device].map { Actor(user: user, device: $0) } ?? Actor(user: user)
        }
        var report = try PlayReport(playback, as: actor, isJSON: arguments[Option.json], to: output)
        if arguments[step], isatty(STDIN_FILENO) == 1, Diagnostics.isTerminal {
            Diagnostics.report("Enter plays the next commit, q ends", by: name)
        }
        if arguments[unpaced], actor == nil { return try playTogether(playback, report: &report) }
        while true {
            if arguments[step] {
                guard let line = readLine(), line != "q" else { return }
            } else {
                try wait(for: playback, output)
            }
            guard let commit = try playback.step() else { return }
            try report.write(commit)
            if !arguments[unpaced] { try output.flushToListener() }
            if playback.isAtEnd { return }
        }
    }

    /// Plays without pauses, more and more commits at a time, since no device is to see each state.
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

    /// Waits until the next commit is due, or the output has no reader.
    private static func wait(for playback: Playback, _ output: Output) throws {
        while let rest = try playback.remaining(), rest > .zero {
            try output.flushToListener()
            usleep(UInt32(min(rest, .milliseconds(listenerMilliseconds)) / .microseconds(1)))
        }
    }
}
