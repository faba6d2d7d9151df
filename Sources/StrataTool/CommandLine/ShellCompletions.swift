/// The completion scripts for shells, generated from the declarations of the commands.
///
/// They know commands, options and closed sets. For names in a store they call the tool: `strata completions --words
/// COMMAND WORD…` prints the words that continue the last one.
enum ShellCompletions {
    private static var commands: [any Command.Type] { CommandRegistry.commands }

    /// The options of a command in all of their spellings.
    private static func options(of command: any Command.Type) -> [any OptionDescription] {
        (command.options + CommonOptions.all).flatMap { [$0] + $0.synonyms }
    }

    /// Returns the closed set of an option; empty for an option whose words depend on what was typed.
    private static func words(of option: any OptionDescription) -> [String] {
        option.words.contains { $0.hasPrefix("=") } ? [] : option.words
    }

    /// Completes the command first, then options after a dash, commands after `help`, and otherwise words of closed
    /// sets, names in the store, and files.
    static var bash: String {
        let cases = commands.map { command in
            let options = options(of: command)
            let closed = options.filter { !words(of: $0).isEmpty }.map { option in
                "                    \(option.name)) values=$'\(words(of: option).joined(separator: "\\n"))' ;;\n"
            }
            return "            \(command.name))\n"
                + "                options=\"\(options.map(\.name).joined(separator: " "))\"\n"
                + "                case $before in\n\(closed.joined())                esac ;;\n"
        }
        let valued = Set(commands.flatMap(options).filter { $0.valueName != nil }.map(\.name)).sorted()
        return """
            # Offers the lines that continue the word, without the part of it that bash leaves alone.
            _strata_offer() {
                local line
                while IFS= read -r line; do
                    [[ $line == "$whole"* && ! ( $quote && $line == *[\\'\\\"\\$\\`\\!\\\\]* ) ]] || continue
                    line=${line#"${whole%"$word"}"}
                    [[ $quote ]] || printf -v line %q "$line"
                    COMPREPLY+=("$line")
                done
            }
            _strata() {
                local word= before= whole= quote= options= values= index part words=()
                local commands="\(commands.map { $0.name }.joined(separator: " "))"
                COMPREPLY=()
                # bash splits words at = and :
                for ((index = 1; index <= COMP_CWORD; index++)); do
                    word=${COMP_WORDS[index]} quote=
                    [[ $word == [\\'\\\"]* ]] && quote=yes
                    part=${word//\\\\/} part=${part#[\\'\\\"]} part=${part%[\\'\\\"]} part=${part/#\\~\\//$HOME/}
                    if ((index > 1)) && [[ $word == [=:]* || ${COMP_WORDS[index-1]} == *[=:] ]]; then
                        words[${#words[@]}-1]+=$part
                    else
                        words+=("$part")
                    fi
                    word=$part
                done
                whole=${words[${#words[@]}-1]}
                [[ $word == [=:] ]] && word=
                ((${#words[@]} > 1)) && before=${words[${#words[@]}-2]}
                if ((COMP_CWORD == 1)); then
                    COMPREPLY=($(compgen -W "$commands --help --version" -- "$word"))
                    return
                fi
                case $before in
                    help) COMPREPLY=($(compgen -W "$commands" -- "$word")) && return ;;
                    completions) COMPREPLY=($(compgen -W "bash zsh fish" -- "$word")) && return ;;
                esac
                case ${words[0]} in
            \(cases.joined())    esac
                if [[ $values ]]; then
                    _strata_offer <<<"$values"
                    return
                fi
                case $before in
                    \(valued.joined(separator: "|"))) ;;
                    *)
                        if [[ $whole == -* && $whole != *=* ]]; then
                            COMPREPLY=($(compgen -W "$options" -- "$word"))
                            return
                        fi ;;
                esac
                _strata_offer < <(strata completions --words "${words[@]}" 2>/dev/null)
                ((${#COMPREPLY[@]})) || compopt -o default
            }
            complete -F _strata strata

            """
    }

    static var zsh: String {
        let names = commands.map { "        \(quoted("\(colonsEscaped($0.name)):\(colonsEscaped($0.summary))"))\n" }
        let cases = commands.map { command in
            let specs = options(of: command).map { option in
                let help = option.help.filter { $0 != "[" && $0 != "]" }
                let words = words(of: option).map { $0.split(separator: " ").joined(separator: "\\ ") }
                let source = words.isEmpty ? "_strata_names" : "(\(words.joined(separator: " ")))"
                let value = option.valueName.map { ":\(colonsEscaped($0)):\(source)" } ?? ""
                let times = option.isRepeatable ? "*" : ""
                return "                \(quoted("\(times)\(option.name)[\(colonsEscaped(help))]\(value)")) \\\n"
            }
            return
                "            \(command.name)) _arguments \\\n\(specs.joined())                '*: :_strata_names' ;;\n"
        }
        return """
            #compdef strata
            _strata_names() {
                local -a names
                names=(${(f)"$(strata completions --words "${(@Q)words[1,CURRENT]}" 2>/dev/null)"})
                if (($#names)); then compadd -a names; else _files; fi
            }
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
        var lines = [
            "function __strata_names",
            "    set -l words (commandline -opc)",
            "    strata completions --words $words[2..-1] \"$(commandline -ct)\" 2>/dev/null",
            "end",
            "complete -c strata -n __fish_use_subcommand -l version -d 'print the version'",
            "complete -c strata -n 'not __fish_use_subcommand' -a '(__strata_names)'",
        ]
        for command in commands {
            lines.append(
                "complete -c strata -n __fish_use_subcommand -f -a \(command.name) -d \(quoted(command.summary))")
            for option in options(of: command) {
                let dashes = option.name.prefix { $0 == "-" }.count
                let name = option.name.dropFirst(dashes)
                let kind = dashes == 1 ? "-s" : "-l"
                lines.append(
                    "complete -c strata -n '__fish_seen_subcommand_from \(command.name)' \(kind) \(name)"
                        + "\(fishValue(of: option)) -d \(quoted(option.help))")
            }
        }
        let names = commands.map { $0.name }.joined(separator: " ")
        lines.append("complete -c strata -n '__fish_seen_subcommand_from help' -f -a '\(names)'")
        lines.append("complete -c strata -n '__fish_seen_subcommand_from completions' -f -a 'bash zsh fish'")
        return lines.joined(separator: "\n") + "\n"
    }

    private static func fishValue(of option: any OptionDescription) -> String {
        if option.valueName == nil { return "" }
        let words = words(of: option)
        if !words.isEmpty { return " -x -a \"\(words.map(quoted).joined(separator: " "))\"" }
        let hasNames = CompletionWords.places.contains(option.name) || !option.words.isEmpty
        return hasNames ? " -x -a '(__strata_names)'" : " -r"
    }

    private static func colonsEscaped(_ text: String) -> String {
        replacing(":", by: "\\:", in: text)
    }

    /// Quotes text as one word for any of these shells.
    static func quoted(_ text: String) -> String {
        "'" + replacing("'", by: "'\\''", in: text) + "'"
    }

    /// Replaces a letter also where a mark follows it, with which it is one character of Swift but not of a shell.
    private static func replacing(_ letter: Unicode.Scalar, by text: String, in other: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in other.unicodeScalars {
            if scalar == letter { scalars.append(contentsOf: text.unicodeScalars) } else { scalars.append(scalar) }
        }
        return String(scalars)
    }
}
