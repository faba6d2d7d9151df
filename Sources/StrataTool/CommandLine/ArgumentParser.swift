import Glibc

/// Parses a command line by the declarations of a command, and reports words that do not fit.
///
/// Options may appear before, between and after the operands, as `--name VALUE`, `--name=VALUE`, `-n VALUE` or
/// `-nVALUE`. After `--` every word is an operand.
struct ArgumentParser {
    let operands: [Operand]
    let options: [any OptionDescription]
    /// The values of environment variables, for operands and options that are left out.
    var variables: [CommandVariable: String] = [:]
    /// True for a command whose operands and options must all be typed.
    var changesStores = false

    func parse(_ words: [String]) throws(UsageError) -> Arguments {
        var arguments = Arguments()
        var rest = words[...]
        var onlyOperands = false
        while let word = rest.popFirst() {
            if onlyOperands || !word.hasPrefix("-") || word == "-" || isNegative(word, after: arguments) {
                try add(word, to: &arguments)
            } else if word == "--" {
                onlyOperands = true
            } else {
                try parseOption(word, &rest, into: &arguments)
            }
        }
        if arguments[Option.help] { return arguments }
        if !changesStores { try addVariables(to: &arguments) }
        let required = operands.filter(\.isRequired)
        guard arguments.operands.count >= required.count else {
            throw missing(arguments.operands, required[arguments.operands.count])
        }
        return arguments
    }

    /// - Parameter next: the first operand without a value.
    private func missing(_ given: [String], _ next: Operand) -> UsageError {
        for (operand, word) in zip(operands, given) where !operand.words.isEmpty && !operand.words.contains(word) {
            if let meant = Suggestion.closest(to: word, among: operand.words) {
                return UsageError(
                    "'\(word)' is not one of \(operand.words.joined(separator: ", "))", suggestion: meant)
            }
            // The word is the next operand's value.
            return missing(operand)
        }
        return missing(next)
    }

    private func missing(_ operand: Operand) -> UsageError {
        let isLeftOut = changesStores && variables[.store] != nil
        let why = "; it must be typed: a command that changes stores does not use \(CommandVariable.store.rawValue)"
        return UsageError("\(operand.name) is missing: \(operand.help)" + (isLeftOut ? why : ""))
    }

    // MARK: Environment variables

    /// The value that the first operand may have without being typed.
    private var store: String? {
        !changesStores && operands.first?.variable == .store ? variables[.store] : nil
    }

    /// Adds the values of variables where the command line leaves something out.
    private func addVariables(to arguments: inout Arguments) throws(UsageError) {
        if let store, hasRoom(arguments), !(arguments.operands.first.map(Self.isStore) ?? false) {
            arguments.insert(operand: store, at: 0, from: .store)
        }
        guard let user = variables[.user] else { return }
        let (count, requiredCount) = (arguments.operands.count, operands.count(where: \.isRequired))
        if let index = operands.firstIndex(where: { $0.variable == .user }), index <= count, count + 1 == requiredCount {
            arguments.insert(operand: user, at: index, from: .user)
        }
        for option in options where option.variable == .user && !arguments.has(option) {
            arguments.add(option, try option.parse(user), from: .user)
        }
    }

    private func hasRoom(_ arguments: Arguments) -> Bool {
        operands.last?.isRepeatable == true || arguments.operands.count < operands.count
    }

    /// Returns true for a word that names a store, which may be damaged, or a sequencer.
    private static func isStore(_ word: String) -> Bool {
        var status = stat()
        return SequencerAddress.isMeant(by: word) || stat(word, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    // MARK: Words

    /// Returns true for a negative number in a place that accepts one as an operand.
    private func isNegative(_ word: String, after arguments: Arguments) -> Bool {
        let count = arguments.operands.count
        guard Int64(word) != nil else { return false }
        return operands.dropFirst(count).prefix(count == 0 && store != nil ? 2 : 1).contains(where: \.mayBeNegative)
    }

    private func add(_ word: String, to arguments: inout Arguments) throws(UsageError) {
        let count = arguments.operands.count
        guard let operand = count < operands.count ? operands[count] : operands.last(where: \.isRepeatable) else {
            throw UsageError("unexpected argument '\(word)'")
        }
        guard !word.isEmpty else { throw UsageError("\(operand.name) is empty") }
        arguments.add(operand: word)
    }

    private func parseOption(
        _ word: String, _ rest: inout ArraySlice<String>, into arguments: inout Arguments
    ) throws(UsageError) {
        if word == "-h" { return arguments.add(Option.help, true) }
        var (name, attached) = Self.split(word)
        if attached == nil, option(named: name) == nil, let short = shortOption(in: word) {
            (name, attached) = (short.name, String(word.dropFirst(short.name.count)))
        }
        guard let option = option(named: name) else {
            throw UsageError(
                "unknown option \(name)", suggestion: Suggestion.closest(to: name, among: options.map(\.name)))
        }
        guard option.isRepeatable || !arguments.has(option) else { throw UsageError("\(name) is given twice") }
        guard let valueName = option.valueName else {
            guard attached == nil else { throw UsageError("\(name) takes no value") }
            return arguments.add(option, try option.parse(""))
        }
        guard var text = attached ?? rest.popFirst(), !text.isEmpty else {
            throw UsageError("\(name) needs a value: \(name) \(valueName)")
        }
        // A value of two words may also be given as one.
        if valueName.contains(" "), attached == nil, !text.contains(" "), let second = rest.popFirst() {
            text += " " + second
        }
        arguments.add(option, try option.parse(text))
    }

    private func option(named name: String) -> (any OptionDescription)? { options.first { $0.name == name } }

    /// Returns the one-letter option whose value follows it directly.
    private func shortOption(in word: String) -> (any OptionDescription)? {
        options.first { $0.name.count == 2 && $0.valueName != nil && word.count > 2 && word.hasPrefix($0.name) }
    }

    private static func split(_ word: String) -> (name: String, value: String?) {
        guard word.hasPrefix("--"), let sign = word.firstIndex(of: "=") else { return (word, nil) }
        return (String(word[..<sign]), String(word[word.index(after: sign)...]))
    }
}

extension ArgumentParser {
    init(_ command: any Command.Type, variables: [CommandVariable: String] = [:]) {
        self.init(
            operands: command.operands, options: command.options + CommonOptions.all, variables: variables,
            changesStores: command.changesStores)
    }
}
