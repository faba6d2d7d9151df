/// `strata help`: the list of commands, and the usage of one command.
enum HelpCommand: Command {
    static let name = "help"
    static let summary = "explain the tool, or one command"
    static let details = "Without COMMAND it lists all commands."
    static let operands = [Operand(name: "COMMAND", help: "the command to explain", isRequired: false)]
    static let options: [any OptionDescription] = []
    static let examples = ["strata help log"]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        if let name = CommandRegistry.spelledOut(arguments.operands).first {
            HelpText.write(try CommandRegistry.command(named: name), to: output)
        } else {
            HelpText.writeOverview(to: output)
        }
        return .success
    }
}
