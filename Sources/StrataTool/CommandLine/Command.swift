/// One subcommand: what it is called, what it takes, and what it does.
///
/// Adding one means one file in `Commands` and one line in ``CommandRegistry``; parsing, help and errors follow from
/// what is declared here.
protocol Command: Sendable {
    static var name: String { get }
    /// Half a line for the list of commands, in the imperative and without a full stop.
    static var summary: String { get }
    /// A few sentences for the command's own help.
    static var details: String { get }
    static var operands: [Operand] { get }
    static var options: [any OptionDescription] { get }
    static var examples: [String] { get }

    /// Whether somebody at a terminal gets the output page by page.
    static func isPaged(_ arguments: Arguments) -> Bool

    /// True if the command shows progress at a terminal.
    static func showsProgress(_ arguments: Arguments) -> Bool

    /// The paths of stores in a command line.
    static func stores(_ arguments: Arguments) -> [String]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode
}

/// An argument that is known by its place.
struct Operand: Sendable {
    var name: String
    var help: String
    var isRequired = true
    /// The accepted words; empty if any word is accepted.
    var words: [String] = []
    /// Whether it may be given again and again; only the last one of a command.
    var isRepeatable = false
    /// True if the operand accepts negative numbers, which are not options then.
    var mayBeNegative = false

    /// What most commands are about.
    static let store = Operand(name: "STORE", help: "the store's directory, such as Notes.strata")
}

extension Command {
    static func isPaged(_ arguments: Arguments) -> Bool { true }

    static func showsProgress(_ arguments: Arguments) -> Bool { true }

    static func stores(_ arguments: Arguments) -> [String] {
        zip(operands, arguments.operands).filter { $0.0.name == Operand.store.name }.map(\.1)
    }

    /// The line that says how it is called.
    static var usage: String {
        var words = ["strata", name]
        words += operands.map { operand in
            let name = operand.isRepeatable ? operand.name + " …" : operand.name
            return operand.isRequired ? name : "[\(name)]"
        }
        words += options.map { "[\($0.usage)]" }
        return words.joined(separator: " ")
    }
}
