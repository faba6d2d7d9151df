/// `strata completions`: the script with which a shell completes command lines of this tool.
enum CompletionsCommand: Command {
    static let name = "completions"
    static let summary = "print the completion script for bash, zsh or fish"
    static let details =
        "Completes commands, options and their words, and names in the store that the line or STRATA_STORE names: "
        + "users, devices, zones, record types and records. Save the output where the shell looks for it: for bash as "
        + "~/.local/share/bash-completion/completions/strata, for zsh as _strata in a folder of $fpath, for fish as "
        + "~/.config/fish/completions/strata.fish."
    static let operands = [Operand(name: "SHELL", help: "bash, zsh or fish")]
    /// The first words of the command line by which the scripts ask for words. No help names it.
    static let question = [name, "--words"]
    static let options: [any OptionDescription] = []
    static let examples = [
        "strata completions bash > ~/.local/share/bash-completion/completions/strata",
        "strata completions fish > ~/.config/fish/completions/strata.fish",
    ]

    /// Prints the words that may complete a command line, one on each line.
    static func answer(_ line: [String], _ output: Output) throws -> ExitCode {
        for word in CompletionWords(line, CommandVariable.values())?.all ?? [] { try output.writeLine(word) }
        return .success
    }

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        switch arguments.operands[0] {
        case "bash": output.write(ShellCompletions.bash)
        case "zsh": output.write(ShellCompletions.zsh)
        case "fish": output.write(ShellCompletions.fish)
        case let other:
            throw UsageError(
                "SHELL must be bash, zsh or fish, not '\(other)'",
                suggestion: Suggestion.closest(to: other, among: ["bash", "zsh", "fish"]))
        }
        return .success
    }
}
