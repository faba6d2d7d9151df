/// `strata manual`: the manual page.
enum ManualCommand: Command {
    static let name = "manual"
    static let summary = "print the manual page"
    static let details =
        "Prints the help of all commands as one page, in man's format."
    static let operands: [Operand] = []
    static let options: [any OptionDescription] = []
    static let examples = [
        "strata manual | man -l -", "strata manual > ~/.local/share/man/man1/strata.1",
    ]

    static func isPaged(_ arguments: Arguments) -> Bool { arguments[Option.help] }

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        output.write(ManualPage.text)
        return .success
    }
}
