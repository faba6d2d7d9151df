/// The completion scripts for shells, generated from the declarations of the commands.
enum ShellCompletions {
    private static var commands: [any Command.Type] { CommandRegistry.commands }

    private static func options(of command: any Command.Type) -> [any OptionDescription] {
        command.options + CommonOptions.all
    }

    /// Completes the command first, then options after a dash, commands after `help`, and otherwise files.
    static var bash: String {
        let cases = commands.map { command in
            "        \(command.name)) options=\"\(options(of: command).map(\.name).joined(separator: " "))\" ;;\n"
        }
        let valued = Set(commands.flatMap(options).filter { $0.valueName != nil }.map(\.name)).sorted()
        return """
            _strata() {
                local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options=
                local commands="\(commands.map { $0.name }.joined(separator: " "))"
                COMPREPLY=()
                if ((COMP_CWORD == 1)); then
                    COMPREPLY=($(compgen -W "$commands --help --version" -- "$word"))
                    return
                fi
                case $before in
                    help) COMPREPLY=($(compgen -W "$commands" -- "$word")) && return ;;
                    completions) COMPREPLY=($(compgen -W "bash zsh fish" -- "$word")) && return ;;
                    --color) COMPREPLY=($(compgen -W "auto always never" -- "$word")) && return ;;
                    \(valued.filter { $0 != "--color" }.joined(separator: "|"))) compopt -o default && return ;;
                esac
                case ${COMP_WORDS[1]} in
            \(cases.joined())    esac
                if [[ $word == -* ]]; then
                    COMPREPLY=($(compgen -W "$options" -- "$word"))
                else
                    compopt -o default
                fi
            }
            complete -F _strata strata

            """
    }

    static var zsh: String {
        let names = commands.map { "        \(quoted("\(colonsEscaped($0.name)):\(colonsEscaped($0.summary))"))\n" }
        let cases = commands.map { command in
            let specs = options(of: command).map { option in
                let help = option.help.filter { $0 != "[" && $0 != "]" }
                let value = option.valueName.map { ":\(colonsEscaped($0)):_files" } ?? ""
                let times = option.isRepeatable ? "*" : ""
                return "                \(quoted("\(times)\(option.name)[\(colonsEscaped(help))]\(value)")) \\\n"
            }
            return "            \(command.name)) _arguments \\\n\(specs.joined())                '*:file:_files' ;;\n"
        }
        return """
            #compdef strata
            _strata() {
                local -a commands
                commands=(
            \(names.joined())    )
                if ((CURRENT == 2)); then
                    _describe command commands
                    return
                fi
                if [[ $words[2] == help ]]; then
                    _describe command commands
                    return
                fi
                local command=$words[2]
                shift words
                ((CURRENT--))
                case $command in
            \(cases.joined())    esac
            }
            _strata "$@"

            """
    }

    static var fish: String {
        var lines = ["complete -c strata -n __fish_use_subcommand -l version -d 'print the version'"]
        for command in commands {
            lines.append(
                "complete -c strata -n __fish_use_subcommand -f -a \(command.name) -d \(quoted(command.summary))")
            for option in options(of: command) {
                let dashes = option.name.prefix { $0 == "-" }.count
                let name = option.name.dropFirst(dashes)
                let kind = dashes == 1 ? "-s" : "-l"
                let value = option.valueName == nil ? "" : " -r"
                lines.append(
                    "complete -c strata -n '__fish_seen_subcommand_from \(command.name)' \(kind) \(name)\(value) "
                        + "-d \(quoted(option.help))")
            }
        }
        let names = commands.map { $0.name }.joined(separator: " ")
        lines.append("complete -c strata -n '__fish_seen_subcommand_from help' -f -a '\(names)'")
        lines.append("complete -c strata -n '__fish_seen_subcommand_from completions' -f -a 'bash zsh fish'")
        return lines.joined(separator: "\n") + "\n"
    }

    private static func colonsEscaped(_ text: String) -> String {
        text.split(separator: ":", omittingEmptySubsequences: false).joined(separator: "\\:")
    }

    /// Quotes text as one word for any of these shells.
    static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
