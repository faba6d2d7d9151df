import StrataLog
import StrataModel
import StrataReplay
import StrataStore
import StrataViews

/// Prints the result of a bisection.
struct BisectionReport {
    private let store: Store
    private let range: ClosedRange<UInt64>
    private let asJSON: Bool
    private let output: Output
    private let state: ContainerState
    private let names: KnownNames

    init(_ store: Store, _ range: ClosedRange<UInt64>, asJSON: Bool, _ output: Output) throws {
        (self.store, self.range, self.asJSON, self.output) = (store, range, asJSON, output)
        state = ContainerState(store)
        names = try Self.names(in: state)
    }

    /// Reads the names from the trees, which avoids reading the whole log.
    static func names(in state: ContainerState) throws -> KnownNames {
        var names = KnownNames()
        try state.trees.forEachName { names.add($0) }
        return names
    }

    // MARK: A predicate

    func write(_ flip: Bisection.Flip) throws {
        let commit = try store.log.requiredCommit(at: flip.offset)
        guard !asJSON else { return try writeJSON(commit, holds: flip.holds, record: flip.record) }
        output.write(flip.holds ? "holds after\n" as StaticString : "no longer holds after\n")
        try CommitText().write(commit, commit.decoded, names, to: output)
        if let record = flip.record {
            try write(record)
        } else {
            output.write("    (the record is not known)")
        }
        try output.endLine()
    }

    private func write(_ record: RecordDifference) throws {
        let zone = Printable.escaped(record.id.zone.name)
        output.write("    record ")
        output.write(Printable.escaped(record.id.name), .heading)
        output.write(" in \(zone), \(record.database.shownText)\n")
        for (title, record, ink) in [("before", record.before, TextStyle.removed), ("after", record.after, .added)] {
            output.write("        ")
            output.write(title, ink)
            let text = try record.map { try RecordDetail($0, in: state).tagAndValues() } ?? "none"
            output.write("".padded(to: 8 - title.count) + text + "\n")
        }
    }

    /// - Parameter listsAll: true if every flip has been written.
    func writeEnd(_ answer: Bisection.Answer, listsAll: Bool) throws {
        if asJSON {
            var end = End(range: range)
            (end.holdsAtStart, end.flips) = (answer.holdsAtStart, answer.flipCount)
            return try output.writeJSON(end)
        }
        guard answer.flipCount > 0, listsAll || !answer.holdsAtStart else { return }
        if answer.flipCount == 1 {
            let holds = answer.flips.first?.holds ?? true
            output.write("it \(holds ? "holds" : "does not hold") from there up to commit \(range.upperBound)")
        } else {
            output.write("it begins or ceases to hold \(answer.flipCount) times up to commit \(range.upperBound)")
            if !listsAll { output.write("; --all lists each" as StaticString) }
        }
        try output.endLine()
    }

    // MARK: A command

    func write(_ outcome: BisectionOutcome, steps: Int) throws {
        if case .found(let offset) = outcome {
            let commit = try store.log.requiredCommit(at: offset)
            if asJSON {
                try writeJSON(commit, holds: true)
            } else {
                output.write("holds after\n" as StaticString)
                try CommitText().write(commit, commit.decoded, names, to: output)
                try output.writeLine("found in \(steps.counted("step"))")
            }
        }
        guard asJSON else { return }
        var end = End(range: range)
        end.steps = steps
        switch outcome {
        case .oneOf(let offsets): end.possible = offsets
        case .fromStart: end.holdsAtStart = true
        case .never: end.holdsAtStart = false
        case .cannotTell(let offset): end.untested = offset
        case .found: break
        }
        try output.writeJSON(end)
    }

    // MARK: For programs

    private func writeJSON(
        _ commit: Commit, holds: Bool, record: RecordDifference? = nil
    ) throws {
        let line = CommitJSON.Line(commit: commit, envelope: commit.decoded, names: names)
        try output.writeJSON((holds, record, line, state), as: Self.flip)
    }

    static let flip = Shape<
        (holds: Bool, record: RecordDifference?, commit: CommitJSON.Line, state: ContainerState)
    >("A flip", "The output of `strata bisect --json` for each commit that it reports.") {
        Key("offset", "of the commit") { $0.commit.commit.offset }
        Key("holds", "true if the condition begins to hold with it, false if it stops holding") { $0.holds }
        Key(
            "record", "name of the record that caused it",
            if: "with `--where`: if the log still has the record's state"
        ) { $0.record?.id.name }
        Key("zone", "its zone's name", if: "with `record`") { $0.record?.id.zone.name }
        Key("database", "`private` or `public`", if: "with `record`") { $0.record?.database.scope.name }
        Key("owner", "the database's user, empty for the public one", if: "with `record`") { $0.record?.database.owner }
        Key("before", "the record, or null if there was none", if: "with `record`") { line in
            try line.record.map { try $0.before.map { try RecordDetail($0, in: line.state) } }
        }
        Key("after", "the record, or null if there is none", if: "with `record`") { line in
            try line.record.map { try $0.after.map { try RecordDetail($0, in: line.state) } }
        }
        Key("commit", "the commit") { $0.commit }
    }

    struct End: Shaped {
        let range: ClosedRange<UInt64>
        var holdsAtStart: Bool?
        var flips: Int?
        var steps: Int?
        var possible: ClosedRange<UInt64>?
        var untested: UInt64?

        static let shape = Shape<Self>("The end of a bisection", "The last line of `strata bisect --json`.") {
            Key("from", "offset of the state before the first commit of the range") { $0.range.lowerBound }
            Key("to", "offset of the last commit of the range") { $0.range.upperBound }
            Key("steps", "how often the command was run", if: "with `--run`") { $0.steps }
            Key(
                "holdsAtStart", "true if it holds at `from`",
                if: "with `--where`. With `--run`: true if so, false if it does not hold at `to` either"
            ) { $0.holdsAtStart }
            Key("flips", "how often it begins or stops holding", if: "with `--where`") { $0.flips }
            Key(
                "firstPossible", "offset of the first possible commit",
                if: "if states cannot be tested"
            ) { $0.possible?.lowerBound }
            Key("lastPossible", "of the last possible commit", if: "with `firstPossible`") { $0.possible?.upperBound }
            Key("untested", "offset of a needed state that cannot be tested", if: "with `--run`: if so") { $0.untested }
        }
    }
}
