import StrataModel
import StrataQuery
import StrataReplay
import StrataStore

/// `strata bisect`: the first commit after which a condition holds.
enum BisectCommand: Command {
    static let name = "bisect"
    static let summary = "find the first commit after which something holds"
    static let details =
        "With --where it finds the first commit after which a record of TYPE, or the record that --record names, "
        + "matches the predicate. The predicate is written as for 'strata query', and looks at no other records. It "
        + "prints that commit and the record that changed, before and after. This is a scan, not a binary search: each "
        + "commit of the range that can matter is read, since a predicate can begin and cease to hold any number of "
        + "times. It reports if it does so more than once, and --all lists each time. With --run it finds the first "
        + "commit after which a shell command reports, by its exit status, that a condition holds: 0 means that it "
        + "does not hold yet; 125 that this state cannot be tested; any other status up to 127 that it holds; a higher "
        + "status ends the search. $STRATA_BISECT_STORE is a directory with a store as it was then, which the command "
        + "may change; $STRATA_BISECT_OFFSET is its last commit. This is a binary search, which assumes that what "
        + "begins to hold continues to hold. The output of the command goes to standard error. Exits with 1 if no "
        + "single commit can be named: the condition never holds, already holds at the start, or a state that matters "
        + "cannot be tested. Exits with 3 if the search is stopped."

    static let predicate = Option.text(
        "--where", "PREDICATE", help: "the predicate that a record must match, such as \"rank > 3\"")
    static let record = Option.text("--record", "NAME", help: "test only the record with this name")
    static let command = Option.text("--run", "COMMAND", help: "test each state with this shell command instead")
    static let from = Option.moment("--from", help: "begin after this commit, or the last one up to that time")
    static let to = Option.moment("--to", help: "end with this commit, or the last one up to that time")
    static let all = Option.flag("--all", help: "print each commit at which it begins or ceases to hold")
    static let verbose = Option.flag(
        "--verbose", help: "report each step of --run on standard error, as on a terminal")

    static let operands = [
        Operand.store,
        Operand(name: "TYPE", help: "the record type, such as Note; not with --run", isRequired: false),
    ]
    /// The options that apply only to a predicate.
    private static let predicateOptions: [any OptionDescription] = [
        record, DatabaseOptions.zone, DatabaseOptions.user, DatabaseOptions.database, DatabaseOptions.owner, all,
    ]
    static let options: [any OptionDescription] =
        [predicate] + predicateOptions + [from, to, command, verbose, Option.json]
    static let examples = [
        "strata bisect Notes.strata Note --where \"rank > 3\" --user anna --record milk",
        "strata bisect Notes.strata Note --where \"title == nil\" --user anna --all --json | jq .offset",
        "strata bisect Notes.strata --run 'strata verify \"$STRATA_BISECT_STORE\"'",
    ]

    static func isPaged(_ arguments: Arguments) -> Bool { !arguments.has(command) }
    /// The command uses the terminal.
    static func showsProgress(_ arguments: Arguments) -> Bool { !arguments.has(command) }

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        try check(arguments)
        let asked = try arguments[predicate].map { text throws(UsageError) in
            _ = try DatabaseOptions(arguments)
            return try QueryRequest.predicate(text, of: "--where")
        }
        return try StateAccess.read(arguments.store, options: .embedded, by: name, output) { access in
            let store = access.store
            let range = try Refusal.unlessFound { try self.range(arguments, store) }
            guard let asked else { return try search(store, in: range, arguments, output) }
            var question = try NamedPlace(store).question(arguments, asked, of: predicate.name, by: name)
            question.record = arguments[record]
            return try answer(question, of: store, in: range, arguments, output)
        }
    }

    private static func check(_ arguments: Arguments) throws(UsageError) {
        switch (arguments.has(predicate), arguments.has(command)) {
        case (true, true): throw UsageError("--where and --run cannot be combined")
        case (false, false): throw UsageError("there is nothing to search for: give --where PREDICATE or --run COMMAND")
        case (true, false):
            guard arguments.operands.count > 1 else { throw UsageError("--where needs the record type: give TYPE") }
            if arguments[verbose] { throw UsageError("--verbose is for --run") }
        case (false, true):
            if arguments.operands.count > 1 {
                throw UsageError("--run tests the whole store and takes no TYPE: '\(arguments.operands[1])'")
            }
            if let option = predicateOptions.first(where: { arguments.isTyped($0) }) {
                throw UsageError("\(option.name) is for --where; --run tests the whole store")
            }
        }
    }

    private static func range(_ arguments: Arguments, _ store: Store) throws -> ClosedRange<UInt64> {
        let first = try arguments[from]?.offset(in: store.log) ?? store.log.floor.offset
        let last = try arguments[to]?.offset(in: store.log) ?? store.offset
        guard first <= last else {
            throw UsageError("--from is after --to: commit \(first) and commit \(last)")
        }
        // The log may continue after the state while another process writes to the store.
        return min(first, store.offset)...min(last, store.offset)
    }

    // MARK: A predicate

    private static func answer(
        _ question: BisectionQuestion, of store: Store, in range: ClosedRange<UInt64>, _ arguments: Arguments,
        _ output: Output
    ) throws -> ExitCode {
        let answer: Bisection.Answer
        do {
            let bisection = try Bisection(of: store, question, from: range.lowerBound, to: range.upperBound)
            answer = try bisection.answer(limit: arguments[all] ? Int.max : 1)
        } catch let error as StrataError where error.code == .invalidArgument {
            throw Refusal(.invalidArguments, "\(error)")
        }
        let report = try BisectionReport(store, range, asJSON: arguments[Option.json], output)
        if arguments[all] || !answer.holdsAtStart { for flip in answer.flips { try report.write(flip) } }
        try report.writeEnd(answer, listsAll: arguments[all])
        try output.flush()
        if answer.holdsAtStart {
            var problem = "it already holds after commit \(range.lowerBound)"
            if range.lowerBound == range.upperBound { problem += "; there are no later commits to search" }
            let advice = answer.flips.first.map {
                "It ceases to hold after commit \($0.offset): --from \($0.offset) finds when it begins again."
            }
            return Diagnostics.refuse(problem, advice: advice, by: name)
        }
        guard answer.flipCount == 0 else { return .success }
        return Diagnostics.refuse("no record matches after any of commits \(text(of: range))", by: name)
    }

    private static func text(of range: ClosedRange<UInt64>) -> String {
        "\(range.lowerBound + 1) to \(range.upperBound)"
    }

    // MARK: A command

    private static func search(
        _ store: Store, in range: ClosedRange<UInt64>, _ arguments: Arguments, _ output: Output
    ) throws -> ExitCode {
        let trials = try BisectionTrials(
            arguments[command] ?? "", of: store, at: arguments.store,
            reportsSteps: arguments[verbose] || Diagnostics.isTerminal)
        let outcome: BisectionOutcome
        do {
            defer { trials.removeFiles() }
            outcome = try Bisection.search(from: range.lowerBound, to: range.upperBound) { try trials.run(at: $0) }
        } catch let stop as BisectionTrials.Stop {
            try output.flush()
            Diagnostics.report("\(stop)", code: .interrupted, by: name)
            return .unreadable
        }
        let report = try BisectionReport(store, range, asJSON: arguments[Option.json], output)
        try report.write(outcome, steps: trials.count)
        try output.flush()
        switch outcome {
        case .found: return .success
        case .oneOf(let offsets):
            return Diagnostics.refuse(
                "it is one of the commits \(offsets.lowerBound) to \(offsets.upperBound): the command could not test "
                    + "the states between them", by: name)
        case .never:
            return Diagnostics.refuse("it does not hold after commit \(range.upperBound)", by: name)
        case .fromStart:
            return Diagnostics.refuse("it already holds after commit \(range.lowerBound)", by: name)
        case .cannotTell(let offset):
            return Diagnostics.refuse("the command could not test the state after commit \(offset)", by: name)
        }
    }
}
