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

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode
}

/// An argument that is known by its place.
struct Operand: Sendable {
    var name: String
    var help: String
    var isRequired = true

    /// What most commands are about.
    static let store = Operand(name: "STORE", help: "the store's directory, such as Notes.strata")
}

extension Command {
    /// The line that says how it is called.
    static var usage: String {
        var words = ["strata", name]
        words += operands.map { $0.isRequired ? $0.name : "[\($0.name)]" }
        words += options.map { "[\($0.usage)]" }
        return words.joined(separator: " ")
    }
}
