/// The manual page of the tool, generated from the declarations of the commands.
enum ManualPage {
    static var text: String {
        var page = ".TH STRATA 1 \"\" \"strata \(Tool.version)\" \"User commands\"\n"
        page += ".SH NAME\nstrata \\- inspect Strata stores\n"
        page += ".SH SYNOPSIS\n.B strata\n.I COMMAND\n[\\fIARGUMENT\\fR ...]\n"
        page += ".SH DESCRIPTION\n"
        page += escaped(HelpText.purpose) + "\n"
        page += ".SH COMMANDS\n" + CommandRegistry.commands.map(section).joined()
        page += ".SH COMMON OPTIONS\n" + CommonOptions.all.map { item($0.usage, $0.help) }.joined()
        page += ".SH EXIT STATUS\n" + HelpText.exitCodes.map { item($0.0, $0.1) }.joined()
        page += ".SH ENVIRONMENT\n"
        page += CommandVariable.allCases.map { item($0.rawValue, $0.help) }.joined()
        page += item("STRATA_PAGER, PAGER", "the program that shows the output on a terminal; less if neither is set")
        page += item("COLUMNS", "the width of help and tables in columns; the terminal's width if it is not set")
        page += item("TZ", "the time zone in which --local prints times")
        page += item("NO_COLOR", "if it is not empty, the output is colored only with --color always")
        return page
    }

    private static func section(_ command: any Command.Type) -> String {
        var text = ".SS \"\(escaped(command.usage))\"\n\(escaped(command.details))\n"
        text += command.operandHelp.map { item($0.0, $0.1) }.joined()
        text += command.options.map { item($0.usage, $0.commandHelp) }.joined()
        text += ".PP\nExamples:\n.PP\n.nf\n" + command.examples.map { "    \(escaped($0))\n" }.joined() + ".fi\n"
        return text
    }

    private static func item(_ title: String, _ text: String) -> String {
        ".TP\n.B \"\(escaped(title))\"\n\(escaped(text))\n"
    }

    /// Escapes non-ASCII characters, which some versions of groff reject.
    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        "\\[u" + String(scalar.value, radix: 16, uppercase: true).leftPadded(to: 4, with: "0") + "]"
    }

    /// Escapes text for groff: backslashes, dashes, and a dot or quote at the beginning of a line have a meaning there.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "\\": escaped += "\\e"
            case "-": escaped += "\\-"
            case "\"": escaped += "\\(dq"
            case "…": escaped += "..."
            case _ where !character.isASCII: escaped += character.unicodeScalars.map(Self.escaped).joined()
            default: escaped.append(character)
            }
        }
        return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
    }
}
