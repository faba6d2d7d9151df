import StrataModel

/// A command of a debugger session: its name, its arguments and its action.
struct DebugVerb: Sendable {
    let name: String
    /// Shorter names, as in other debuggers.
    var shortcuts: [String] = []
    let summary: String
    var operands: [Operand] = []
    var options: [any OptionDescription] = []
    /// True if the last operand is a predicate, which takes the rest of the line.
    var endsWithPredicate = false
    /// True if an empty line repeats the command.
    var isRepeated = false
    /// A few sentences for the command's own help.
    var details = ""
    let run: @Sendable (Arguments, DebugSession) throws -> Void

    var usage: String { Operand.usage(of: name, operands, options) }

    static let all: [DebugVerb] = moving + marking + looking + talking

    /// Returns the command with a name, a shortcut, or an unambiguous beginning of a name.
    static func verb(named word: String) throws(UsageError) -> DebugVerb {
        if let verb = all.first(where: { $0.name == word || $0.shortcuts.contains(word) }) { return verb }
        let candidates = word.isEmpty ? [] : all.filter { $0.name.hasPrefix(word) }
        if candidates.count == 1 { return candidates[0] }
        if candidates.count > 1 {
            throw UsageError("'\(word)' is ambiguous: \(candidates.map(\.name).joined(separator: ", "))")
        }
        throw UsageError(
            "unknown command \(word)", suggestion: Suggestion.closest(to: word, among: all.map(\.name)))
    }

    // MARK: Arguments

    /// - Parameter store: the word placed before the operands, as for commands that run on their own.
    func arguments(_ words: ArraySlice<DebugWords.Word>, store: String) throws(UsageError) -> Arguments {
        var operandWords: [DebugWords.Word] = []
        var line: [String] = []
        var rest = words
        while let word = rest.popFirst() {
            guard !word.isQuoted, isOption(word.text) else {
                operandWords.append(word)
                continue
            }
            line.append(word.text)
            let option = options.first { $0.name == word.text }
            if option?.valueName != nil, let value = rest.popFirst() { line.append(value.text) }
        }
        var texts = operandWords.map(\.text)
        if endsWithPredicate, let first = predicatePlace(operandWords) {
            texts = operandWords[..<first].map(\.text) + [DebugWords.predicate(operandWords[first...])]
        }
        let parser = ArgumentParser(operands: [.store] + operands, options: options + [Option.help])
        return try parser.parse(line + ["--", store] + texts)
    }

    private func predicatePlace(_ words: [DebugWords.Word]) -> Int? {
        if operands.last?.isRepeatable == true { return DebugBreakpoint.predicatePlace(words.map(\.text)) }
        return words.count >= operands.count ? operands.count - 1 : nil
    }

    private func isOption(_ text: String) -> Bool {
        if text == "-h" || text == "--help" { return true }
        return text.hasPrefix("--") && (text.dropFirst(2).first?.isLetter ?? false)
    }
}

// MARK: Moving

extension DebugVerb {
    private static let count = Operand(name: "N", help: "the number of commits; 1 by default", isRequired: false)
    private static let predicate = [
        Operand(name: "TYPE", help: "the record type, such as Note"),
        Operand(name: "PREDICATE", help: "such as rank > 3"),
    ]
    private static let askedRecord: [any OptionDescription] = [BisectCommand.record] + RecordTimelineTarget.options

    fileprivate static let moving: [DebugVerb] = [
        DebugVerb(
            name: "step", shortcuts: ["s"], summary: "go to the next commit, or N commits forward", operands: [count],
            isRepeated: true
        ) { try $1.step(.forward, $0) },
        DebugVerb(
            name: "back", shortcuts: ["rs"], summary: "go to the previous commit, or N commits back",
            operands: [count], isRepeated: true
        ) { try $1.step(.back, $0) },
        DebugVerb(
            name: "continue", shortcuts: ["c"], summary: "go forward until a breakpoint or a watch stops it",
            isRepeated: true
        ) { try $1.go(.forward, until: nil, $0) },
        DebugVerb(
            name: "rcontinue", shortcuts: ["rc"], summary: "go back until a breakpoint or a watch stops it",
            isRepeated: true
        ) { try $1.go(.back, until: nil, $0) },
        DebugVerb(
            name: "until", shortcuts: ["u"], summary: "go forward until a record begins to match a predicate",
            operands: predicate, options: askedRecord, endsWithPredicate: true, isRepeated: true,
            details: "Breakpoints and watches stop it too. The first time it reads all commits."
        ) { try $1.until(.forward, $0) },
        DebugVerb(
            name: "runtil", shortcuts: ["ru"],
            summary: "go back to the last commit at which a record began to match a predicate", operands: predicate,
            options: askedRecord, endsWithPredicate: true, isRepeated: true
        ) { try $1.until(.back, $0) },
        DebugVerb(
            name: "goto", shortcuts: ["g"], summary: "go to any commit",
            operands: [Operand(name: "OFFSET|TIME|start|end", help: "the last commit to include")]
        ) { try $1.jump($0) },
    ]
}

// MARK: Breakpoints

extension DebugVerb {
    private static let number = Operand(name: "N", help: "its number, or several", isRepeatable: true)

    fileprivate static let marking: [DebugVerb] = [
        DebugVerb(
            name: "break", shortcuts: ["b"], summary: "stop at commits that match all conditions",
            operands: [
                Operand(
                    name: "WHAT",
                    help: "record, zone, type, user, device, owner or field with a NAME; refusal; "
                        + "where TYPE PREDICATE", isRepeatable: true)
            ], endsWithPredicate: true,
            details: "Each of record, zone, type, user, device, owner and field is followed by a name. refusal has no "
                + "name, and matches requests, or parts of them, that were refused. where TYPE PREDICATE comes last, "
                + "and stops where a record begins to match the predicate. All conditions must match one commit, and "
                + "those on zone, type, record and field one event of it: break user anna type Note field rank. A "
                + "field stops where its value changes."
        ) { try $1.setBreakpoint($0) },
        DebugVerb(
            name: "watch", shortcuts: ["w"],
            summary: "stop whenever a record or a field of it changes, and print both values",
            operands: [
                RecordTimelineTarget.operand,
                Operand(name: "FIELD", help: "the field; the whole record by default", isRequired: false),
            ], options: RecordTimelineTarget.options
        ) { try $1.watch($0) },
        DebugVerb(name: "breakpoints", shortcuts: ["i"], summary: "list breakpoints and watches") {
            try $1.listMarks()
        },
        DebugVerb(name: "delete", shortcuts: ["d"], summary: "remove breakpoints or watches", operands: [number]) {
            try $1.delete($0)
        },
        DebugVerb(name: "unwatch", summary: "the same as delete", operands: [number]) { try $1.delete($0) },
    ]
}

// MARK: Looking

extension DebugVerb {
    fileprivate static let looking: [DebugVerb] = [
        DebugVerb(name: "where", shortcuts: ["."], summary: "print the position and the commit here") {
            try $1.printPlace()
        },
        DebugVerb(
            name: "print", shortcuts: ["p"], summary: "print the commit here, or a record as it is here",
            operands: [
                Operand(name: "RECORD", help: "the record's name; the commit by default", isRequired: false),
                Operand(name: "FIELD", help: "only this field", isRequired: false),
            ], options: RecordTimelineTarget.options + [QueryCommand.reveal]
        ) { try $1.print($0) },
        DebugVerb(
            name: "diff", summary: "print what the commit here changed, or how another place differs from here",
            operands: [
                Operand(
                    name: "OFFSET|TIME", help: "the other place; the commit before by default",
                    isRequired: false)
            ], options: [DiffCommand.stat]
        ) { try $1.diff($0) },
        DebugVerb(
            name: "why", summary: "print which rule decided the commit here, and the tags it compared"
        ) { try $1.why() },
        DebugVerb(
            name: "query", summary: "print the records that match a predicate here",
            operands: [
                Operand(name: "TYPE", help: "the record type, such as Note"),
                Operand(name: "PREDICATE", help: "such as rank > 3; all records by default", isRequired: false),
            ],
            options: RecordTimelineTarget.options + [
                QueryCommand.sort, QueryCommand.near, QueryCommand.limit, QueryCommand.cursor, QueryCommand.keys,
                QueryCommand.all, QueryCommand.reveal,
            ], endsWithPredicate: true
        ) { try $1.query($0) },
        DebugVerb(
            name: "list", shortcuts: ["l"], summary: "print the commits around this or another one, one per line",
            operands: [Operand(name: "OFFSET", help: "the commit in the middle", isRequired: false)]
        ) { try $1.list($0) },
    ]

    fileprivate static let talking: [DebugVerb] = [
        DebugVerb(
            name: "help", shortcuts: ["h"], summary: "list the commands, or describe one",
            operands: [Operand(name: "COMMAND", help: "the command to describe", isRequired: false)]
        ) { try $1.help($0) },
        DebugVerb(name: "quit", shortcuts: ["q"], summary: "end the session") { $1.end() },
    ]
}
