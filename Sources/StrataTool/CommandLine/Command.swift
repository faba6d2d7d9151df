/// One subcommand: its name, its arguments and its behavior.
///
/// A new command takes one file and one line in ``CommandRegistry``. Parsing, help and errors follow from the
/// declarations.
protocol Command: Sendable {
    static var name: String { get }
    /// A short phrase for the list of commands, in the imperative and without a full stop.
    static var summary: String { get }
    /// A few sentences for the command's own help.
    static var details: String { get }
    static var operands: [Operand] { get }
    static var options: [any OptionDescription] { get }
    static var examples: [String] { get }

    /// True if a terminal shows the output page by page.
    static func isPaged(_ arguments: Arguments) -> Bool

    /// True if the command shows progress at a terminal.
    static func showsProgress(_ arguments: Arguments) -> Bool

    /// True if the address of a sequencer is accepted in place of a store's directory. A command with
    /// ``AddressCopy/directory`` then gets the directory of a copy.
    static var readsAddresses: Bool { get }

    /// True for a command that gets addresses as they are, although it accepts ``AddressCopy/directory``.
    static var connectsItself: Bool { get }

    /// True for a command that creates or changes a store. All its operands and options must be typed.
    static var changesStores: Bool { get }

    /// The paths of stores in a command line.
    static func stores(_ arguments: Arguments) -> [String]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode
}

/// A positional argument.
struct Operand: Sendable {
    var name: String
    var help: String
    var isRequired = true
    /// The accepted words; empty if any word is accepted.
    var words: [String] = []
    /// True if it may be repeated. Only the last operand of a command may be.
    var isRepeatable = false
    /// True if the operand accepts negative numbers, which are then not options.
    var mayBeNegative = false
    /// The environment variable whose value it has if it is left out.
    var variable: CommandVariable?

    /// The store, the usual first operand.
    static let store = Operand(
        name: "STORE", help: "the store's directory, such as Notes.strata", variable: .store)

    /// Returns the usage line of a command.
    static func usage(of command: String, _ operands: [Operand], _ options: [any OptionDescription]) -> String {
        let places = operands.map { operand in
            let name = operand.isRepeatable ? operand.name + " …" : operand.name
            return operand.isRequired ? name : "[\(name)]"
        }
        return ([command] + places + options.map { $0.isRequired ? $0.usage : "[\($0.usage)]" }).joined(separator: " ")
    }

    static let storeOrAddress = Operand(
        name: store.name,
        help: "the store's directory, such as Notes.strata, or the address of its sequencer, such as "
            + "file:///shared/Notes.sequence", variable: .store)
}

extension Command {
    static var operands: [Operand] { [.store] }

    static func isPaged(_ arguments: Arguments) -> Bool { true }

    static func showsProgress(_ arguments: Arguments) -> Bool { true }

    static var readsAddresses: Bool { false }
    static var connectsItself: Bool { false }
    static var changesStores: Bool { false }

    static func stores(_ arguments: Arguments) -> [String] {
        zip(operands, arguments.operands).filter { $0.0.name == Operand.store.name }.map(\.1)
    }

    /// The names of the operands, and their help.
    static var operandHelp: [(String, String)] {
        operands.map { operand in
            let variable = changesStores ? nil : operand.variable
            return (operand.name, operand.help + (variable.map { "; by default $\($0.rawValue)" } ?? ""))
        }
    }

    /// The usage line.
    static var usage: String { Operand.usage(of: "strata " + name, operands, options) }
}
