/// Lays out what commands declare about themselves.
enum HelpText {
    private static let columns = 100

    /// What the tool is for.
    static let purpose =
        "looks into Strata stores, also beside a program that writes to them. It changes none, but for "
        + "'schema import', and what is told to by --apply."
    static let exitCodes = [
        ("0", "fine"), ("1", "the answer is no, such as a verification that failed"),
        ("2", "the command line cannot be understood"),
        ("3", "the store cannot be read, or not to its end; or the output cannot be written"),
    ]

    static func writeOverview(to output: Output) {
        output.write(wrapped("strata \(Tool.version): \(purpose)", indentation: 0).joined(separator: "\n") + "\n\n")
        output.write("usage: strata COMMAND [ARGUMENT …]\n\n")
        writeTable("commands", CommandRegistry.commands.map { ($0.name, $0.summary) }, to: output)
        writeTable(
            "options",
            [
                ("--version", "print the version"), ("--help", "print this; behind a command, its own help"),
                ("--color WHEN", "behind a command: auto (on a terminal), always or never"),
                ("--no-pager", "behind a command: print on a terminal without $STRATA_PAGER, $PAGER or less"),
            ], to: output)
        writeTable("exit codes", exitCodes, to: output)
        output.write("'strata help COMMAND' tells more of one, with an example.\n")
    }

    static func write(_ command: any Command.Type, to output: Output) {
        output.write("strata \(command.name): \(command.summary)\n\n")
        let usage = wrapped(command.usage, indentation: 7).joined(separator: "\n       ")
        output.write("usage: \(usage)\n\n")
        for line in wrapped(command.details, indentation: 0) { output.write(line + "\n") }
        output.write("\n")
        writeTable("arguments", command.operands.map { ($0.name, $0.help) }, to: output)
        writeTable("options", (command.options + CommonOptions.all).map { ($0.usage, $0.help) }, to: output)
        output.write("example:\n")
        for example in command.examples { output.write("  \(example)\n") }
    }

    private static func writeTable(_ title: String, _ rows: [(String, String)], to output: Output) {
        if rows.isEmpty { return }
        let width = (rows.map(\.0.count).max() ?? 0) + 4
        output.write("\(title):\n")
        for (name, help) in rows {
            let lines = wrapped(help, indentation: width)
            let first = "  " + name + String(repeating: " ", count: width - 2 - name.count)
            output.write(first + lines.joined(separator: "\n" + String(repeating: " ", count: width)) + "\n")
        }
        output.write("\n")
    }

    static func wrapped(_ text: String, indentation: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, indentation + line.count + 1 + word.count > columns {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return lines + [line]
    }
}
