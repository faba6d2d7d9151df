/// Formats the help from the declarations of the commands.
enum HelpText {
    /// The width of the help text: the terminal's, within readable limits.
    private static var columns: Int { max(30, min(100, Terminal.ofTerminal.columns)) }

    /// A sentence on the purpose of the tool.
    static let purpose =
        "inspects Strata stores, even while another program writes to them. Only 'schema import', commands with "
        + "--apply and those for several machines change a store."
    static let exitCodes = [
        ("0", "success"), ("1", "the answer is no, for example because a verification failed"),
        ("2", "the command line is invalid"),
        ("3", "the store cannot be read, or not to its end, or the output cannot be written"),
    ]

    static func writeOverview(to output: Output) {
        output.write(wrapped("strata \(Tool.version): \(purpose)", indentation: 0).joined(separator: "\n") + "\n\n")
        output.write("usage: strata COMMAND [ARGUMENT …]\n\n")
        for group in CommandRegistry.groups {
            writeTable(group.title, group.commands.map { ($0.name, $0.summary) }, to: output)
        }
        writeTable(
            "options",
            [
                ("--version, -V", "print the version"),
                ("--help, -h", "print this help; after a command, the help of that command"),
                ("--color WHEN", "after a command: auto (on a terminal), always or never"),
                ("--local", "after a command: print times in the local time zone instead of UTC"),
                ("--no-pager", "after a command: print on a terminal without $STRATA_PAGER, $PAGER or less"),
            ], to: output)
        writeTable("environment", CommandVariable.allCases.map { ($0.rawValue, $0.help) }, to: output)
        writeTable("exit codes", exitCodes, to: output)
        let more = wrapped("'strata help COMMAND' describes a command, with examples.", indentation: 0)
        output.write(more.joined(separator: "\n") + "\n")
    }

    static func write(_ command: any Command.Type, to output: Output) {
        output.write("strata \(command.name): \(command.summary)\n\n")
        let usage = wrapped(command.usage, indentation: 7).joined(separator: "\n       ")
        output.write("usage: \(usage)\n\n")
        for line in wrapped(command.details, indentation: 0) { output.write(line + "\n") }
        output.write("\n")
        writeTable("arguments", command.operandHelp, to: output)
        writeTable("options", (command.options + CommonOptions.all).map { ($0.usage, $0.commandHelp) }, to: output)
        output.write("example:\n")
        for example in command.examples { output.write("  \(example)\n") }
    }

    private static func writeTable(_ title: String, _ rows: [(String, String)], to output: Output) {
        if rows.isEmpty { return }
        // If the names leave too little room, each text goes below its name.
        let widest = (rows.map(\.0.count).max() ?? 0) + 4
        let isStacked = widest > columns / 2
        let width = isStacked ? 8 : widest
        output.write("\(title):\n")
        for (name, help) in rows {
            let lines = wrapped(help, indentation: width)
            let margin = "\n" + String(repeating: " ", count: width)
            let first = isStacked ? name + margin : name.padded(to: width - 2)
            output.write("  " + first + lines.joined(separator: margin) + "\n")
        }
        output.write("\n")
    }

    static func wrapped(_ text: String, indentation: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        let columns = columns
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
