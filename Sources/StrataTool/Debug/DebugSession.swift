import StrataLog
import StrataModel
import StrataReplay
import StrataRules
import StrataStore

/// A debugger session on one store: its current place, and the actions of its lines.
final class DebugSession {
    let access: StateAccess
    let output: Output
    let asJSON: Bool
    let state: ContainerState
    let names: KnownNames
    let places: DebugPlaces
    let report: DebugReport
    var stepper: Stepper
    private(set) var hasEnded = false
    /// True if a user watches the session, sees its progress and may interrupt it.
    let isWatched: Bool
    private let path: String
    private var past: Store?
    /// The line that an empty line repeats.
    private var repeated: String?

    var store: Store { access.store }

    init(_ access: StateAccess, _ arguments: Arguments, isWatched: Bool, _ output: Output) throws {
        (self.access, self.output, self.isWatched) = (access, output, isWatched)
        asJSON = arguments[Option.json]
        path = arguments.store
        state = ContainerState(access.store)
        names = try BisectionReport.names(in: state)
        places = DebugPlaces(arguments)
        _ = try places.options
        stepper = try Stepper(of: access.store)
        report = DebugReport(state, names, asJSON: asJSON, output)
    }

    deinit { try? past?.close() }

    func end() { hasEnded = true }

    // MARK: Lines

    /// Executes a line. An empty one repeats the last move.
    ///
    /// - Throws: ``UsageError`` and ``Refusal`` for a line that cannot be executed, ``StrataError`` for a read error.
    func run(_ line: String) throws {
        var words = DebugWords(line)
        if words.words.isEmpty, let repeated { words = DebugWords(repeated) }
        guard let first = words.words.first, !first.text.hasPrefix("#") else { return }
        guard !words.isOpen else { throw UsageError("a quote is never closed") }
        let verb = try DebugVerb.verb(named: first.text)
        if !line.isEmpty { repeated = verb.isRepeated ? line : nil }
        var arguments = try verb.arguments(words.words.dropFirst(), store: "store")
        if arguments[Option.help] { return report.writeHelp(of: verb) }
        if asJSON { arguments.add(Option.json, true) }
        arguments = places.complete(arguments, verb.options)
        try verb.run(arguments, self)
    }

    /// The prompt: `strata 4> `.
    var prompt: String { "strata \(stepper.offset)> " }

    // MARK: Moving

    func step(_ direction: Stepper.Direction, _ arguments: Arguments) throws {
        let count = try arguments.operands.dropFirst().first.map { text in
            Int(clamping: try Option.number("N", "", 1...UInt64(Int.max), help: "").convert(text))
        }
        try report.write(try stepper.step(direction, count: count ?? 1), of: stepper)
    }

    func go(_ direction: Stepper.Direction, until wanted: Breakpoint?, _ arguments: Arguments) throws {
        let stop = try watched { pulse in try stepper.go(direction, until: wanted, pulse: pulse) }
        try report.write(stop, of: stepper, wanted: wanted)
    }

    func until(_ direction: Stepper.Direction, _ arguments: Arguments) throws {
        var question = try NamedPlace(store).question(
            arguments, try QueryRequest.predicate(arguments.operands[2]), of: QueryRequest.argument,
            by: DebugCommand.name)
        question.record = arguments[BisectCommand.record]
        var wanted = Breakpoint()
        wanted.question = question
        try go(direction, until: wanted, arguments)
    }

    func jump(_ arguments: Arguments) throws {
        let text = arguments.operands[1]
        let offset: UInt64 =
            switch text {
            case "start": stepper.floor
            case "end": stepper.end
            default: try self.offset(text)
            }
        try report.write(try stepper.jump(to: offset), of: stepper)
    }

    private func offset(_ text: String) throws -> UInt64 {
        guard let moment = try Moment(text, as: "OFFSET") else {
            throw UsageError("a place is an offset, or a time such as \(Moment.timeExamples), not '\(text)'")
        }
        return min(try moment.offset(in: store.log), max(stepper.end, stepper.floor))
    }

    /// Runs an action that may take long. It shows progress and can be interrupted.
    private func watched<Result>(_ body: (@escaping StepperPulse) throws -> Result) throws -> Result {
        guard isWatched else { return try body { _ in true } }
        Progress.begin(DebugCommand.name, isInterruptible: false)
        defer { Progress.end() }
        let (first, last) = (stepper.floor, stepper.end)
        return try body { offset in
            Progress.note(offset - min(offset, first), of: last - first)
            return !StopRequest.hasCome
        }
    }

    // MARK: Breakpoints and watches

    func setBreakpoint(_ arguments: Arguments) throws {
        var breakpoint = try DebugBreakpoint.parse(Array(arguments.operands.dropFirst()), in: try places.options)
        try requireKnown(breakpoint)
        if let question = breakpoint.question {
            breakpoint.question?.predicate = try NamedPlace(store).fit(question, of: "where")
        }
        guard let number = try watched({ try stepper.add(breakpoint, pulse: $0) }) else {
            return try report.say("interrupted: the breakpoint was not set")
        }
        try report.write(.breakpoint(breakpoint), number)
    }

    /// Checks the names like the library, but suggests similar ones.
    private func requireKnown(_ breakpoint: Breakpoint) throws {
        var filter = LogFilter()
        (filter.user, filter.device, filter.owner) = (breakpoint.user, breakpoint.device, breakpoint.owner)
        (filter.zone, filter.type) = (breakpoint.zone, breakpoint.question?.type ?? breakpoint.type)
        if let problem = filter.unknownName(names) { throw Refusal(.unknownItem, problem) }
        if let question = breakpoint.question {
            try NamedPlace(store).requireFields(of: question.type, question.predicate.namedKeys)
        }
        if let problem = names.problem("field", breakpoint.field, .field) { throw Refusal(.unknownItem, problem) }
    }

    func watch(_ arguments: Arguments) throws {
        let target = try DebugPlaces.target(arguments.operands[1], arguments, in: store, names)
        let field = arguments.operands.count > 2 ? arguments.operands[2] : nil
        if let problem = names.problem("field", field, .field) { throw Refusal(.unknownItem, problem) }
        let watch = Watch(target.id, field: field, in: target.database, as: target.actor)
        try report.write(.watch(watch), try stepper.add(watch))
    }

    func listMarks() throws {
        if stepper.marks.isEmpty { return try report.say("no breakpoints and no watches") }
        for (number, mark) in stepper.marks.sorted(by: { $0.key < $1.key }) { try report.write(mark, number) }
    }

    func delete(_ arguments: Arguments) throws {
        let numbers = try arguments.operands.dropFirst().map { text in
            Int(clamping: try Option.number("N", "", 1...UInt64(Int.max), help: "").convert(text))
        }
        if let unknown = numbers.first(where: { stepper.marks[$0] == nil }) {
            throw UsageError("there is no breakpoint or watch \(unknown)")
        }
        for number in numbers { stepper.remove(number) }
    }

    // MARK: Looking

    func printPlace() throws { try report.writePlace(of: stepper) }

    func print(_ arguments: Arguments) throws {
        guard arguments.operands.count > 1 else { return try report.writeCommit(of: stepper) }
        let target = try DebugPlaces.target(arguments.operands[1], arguments, in: store, names)
        let record = try store.snapshot().record(
            target.id, asOf: stepper.offset, in: target.database, as: target.actor)
        let secrets = arguments[QueryCommand.reveal] ? Secrets() : nil
        guard let record else {
            return try report.sayAbsent("there is no record \(Printable.escaped(target.id.name)) here", stepper.offset)
        }
        if arguments.operands.count > 2 {
            try report.write(record, field: arguments.operands[2], secrets)
        } else {
            try report.write(record, secrets)
        }
        if let secrets { _ = try secrets.reportClosed(by: DebugCommand.name, output) }
    }

    func diff(_ arguments: Arguments) throws {
        let other = try arguments.operands.dropFirst().first.map { try offset($0) } ?? stepper.previousOffset()
        var differences = DifferenceReport(arguments, output)
        try StateDifference(of: store, from: other, to: stepper.offset).forEachRecord { try differences.add($0) }
        _ = try differences.end(by: DebugCommand.name)
    }

    func why() throws {
        guard stepper.offset > stepper.floor else { throw Refusal(.invalidArguments, "there is no commit here") }
        let why = try Explanation.of(stepper.offset, in: access.store)
        try ExplainCommand.write(why, path, asJSON: asJSON, output)
    }

    func query(_ arguments: Arguments) throws {
        var request = try QueryRequest(arguments)
        try request.resolve(arguments, in: store, by: DebugCommand.name)
        let secrets = arguments[QueryCommand.reveal] ? Secrets() : nil
        try QueryCommand.write(request, of: try stateHere(), arguments, secrets, to: output)
        if let secrets { _ = try secrets.reportClosed(by: DebugCommand.name, output) }
    }

    /// Returns the complete state at the current place, which only a query needs.
    private func stateHere() throws -> Store {
        let offset = stepper.offset
        if offset == store.offset { return store }
        if let past, past.offset == offset { return past }
        try past?.close()
        past = nil
        let found = try watched { _ in
            try store.past.state(at: offset) { Progress.note($0.offset, of: $0.end) }
        }
        past = found
        return found
    }

    func list(_ arguments: Arguments) throws {
        let middle = try arguments.operands.dropFirst().first.map { try offset($0) } ?? stepper.offset
        for offset in try stepper.offsets(around: middle, before: 6, after: 5) {
            guard let commit = try store.log.commit(at: offset) else { continue }
            try report.writeLine(commit, isHere: offset == stepper.offset)
        }
    }

    func help(_ arguments: Arguments) throws {
        guard arguments.operands.count > 1 else { return report.writeHelp() }
        report.writeHelp(of: try DebugVerb.verb(named: arguments.operands[1]))
    }
}
