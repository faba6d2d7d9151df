import StrataModel
import StrataStore
import StrataSystem

/// `strata schema`: the schema of a store in CloudKit's schema language.
enum SchemaCommand: Command {
    static let name = "schema"
    static let summary = "export a store's schema, or import or check one"
    static let changesStores = true
    static let details =
        "'export' prints the schema in CloudKit's schema language, always in the same order. 'import' declares what a "
        + "file contains, and keeps everything that the file does not name. 'validate' reports whether 'import' would "
        + "succeed, and changes nothing. Both exit with 1 and print the reason, with line and column if known, if the "
        + "file has a mistake or does not fit the store. 'import' writes to the store, so no other program may have it "
        + "open for writing."
    static let operands = [
        Operand(
            name: "ACTION", help: "export, import or validate", words: Action.allCases.map(\.rawValue)), Operand.store,
        Operand(
            name: "FILE", help: "the schema to import or validate; - for standard input", isRequired: false),
    ]
    static let options: [any OptionDescription] = [Option.at]
    static let examples = [
        "strata schema export Notes.strata > Notes.ckdb", "strata schema export Notes.strata --at 2026-11-21",
        "strata schema validate Notes.strata Notes.ckdb",
        "strata schema import Notes.strata - < Notes.ckdb",
    ]

    private enum Action: String, CaseIterable {
        case exporting = "export"
        case importing = "import"
        case validating = "validate"
    }

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        let operands = arguments.operands
        let actions = Action.allCases.map(\.rawValue)
        guard let action = Action(rawValue: operands[0]) else {
            throw UsageError(
                "'\(operands[0])' is not one of \(actions.joined(separator: ", "))",
                suggestion: Suggestion.closest(to: operands[0], among: actions))
        }
        if action == .exporting {
            guard operands.count == 2 else { throw UsageError("unexpected argument '\(operands[2])'") }
            return try export(operands[1], arguments, output)
        }
        guard !arguments.has(Option.at) else { throw UsageError("--at is only for export") }
        guard operands.count == 3 else { throw UsageError("FILE is missing") }
        try StoreAccess.requireDirectory(operands[1])
        return try declare(
            try InputText.read(operands[2]), of: operands[2], in: operands[1], isImport: action == .importing)
    }

    private static func export(_ path: String, _ arguments: Arguments, _ output: Output) throws -> ExitCode {
        try StateAccess.read(path, at: arguments[Option.at], by: name, output) { access in
            output.write(try access.store.schema().text)
            return .success
        }
    }

    private static func declare(
        _ text: String, of file: String, in path: String, isImport: Bool
    ) throws -> ExitCode {
        let schema: SchemaDefinition
        do { schema = try SchemaDefinition(reading: text) } catch let error as StrataError {
            var place = file == "-" ? "standard input" : file
            if let line = error.context.line, let column = error.context.column { place += ":\(line):\(column)" }
            let expected = error.context.expected ?? "something else"
            return Diagnostics.refuse(
                "\(place): expected \(expected), found \(error.context.found ?? "this")", code: error.code, by: name)
        }
        var options = StoreOptions.embedded
        (options.createsStore, options.statesRules) = (false, false)
        let store = isImport ? try Store.open(at: path, options: options) : try Store.openForReading(at: path)
        do {
            try store.closing { try isImport ? $0.declareSchema(schema) : $0.validateSchema(schema) }
        } catch let refusal as Refusal where [.invalidArguments, .limitExceeded].contains(refusal.code) {
            return Diagnostics.refuse(refusal, by: name)
        }
        return .success
    }
}
