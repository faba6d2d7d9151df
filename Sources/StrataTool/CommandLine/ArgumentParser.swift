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
                let isRange = onlyOperands ? false : try add(range: word, to: &arguments)
                if !isRange { try add(word, to: &arguments) }
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
        let isStore = operand.variable == .store || operand.words.isEmpty && operand.name == operands.first?.name
        let isLeftOut = changesStores && isStore && variables[.store] != nil
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
        if let index = operands.firstIndex(where: { $0.variable == .user }), index <= count, count + 1 == requiredCount
        {
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
    static func isStore(_ word: String) -> Bool {
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
            let isRange = word.contains("..") && option(named: LogCommand.from.name) != nil
            let hint = "; a range of commits is written 10..20, one of times with --since and --until"
            throw UsageError("unexpected argument '\(word)'" + (isRange ? hint : ""))
        }
        guard !word.isEmpty else { throw UsageError("\(operand.name) is empty") }
        arguments.add(operand: word)
    }

    /// Adds the options `--from` and `--to` for a range such as `10..20`. Returns false for another word, and in a
    /// command without these options.
    private func add(range word: String, to arguments: inout Arguments) throws(UsageError) -> Bool {
        guard let range = CommitOperand.range(word), let from = option(named: LogCommand.from.name)?.option,
            let to = option(named: LogCommand.to.name)?.option
        else { return false }
        for (option, text) in [(from, range.from), (to, range.to)] where !text.isEmpty {
            guard !arguments.has(option) else { throw UsageError("\(word) and \(option.name) cannot be combined") }
            arguments.add(option, try option.parse(text))
        }
        return true
    }

    private func parseOption(
        _ word: String, _ rest: inout ArraySlice<String>, into arguments: inout Arguments
    ) throws(UsageError) {
        if word == "-h" { return arguments.add(Option.help, true) }
        var (name, attached) = Self.split(word)
        if attached == nil, option(named: name) == nil, let (short, value) = shortOption(in: word) {
            (name, attached) = (short, value)
        }
        guard let (option, spelling) = option(named: name) else {
            throw UsageError(
                "unknown option \(name)",
                suggestion: Suggestion.closest(to: name, among: spellings.map(\.spelling.name)))
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
        arguments.add(option, try spelling.parse(text))
    }

    /// The options, each with all of its spellings.
    private var spellings: [(option: any OptionDescription, spelling: any OptionDescription)] {
        options.flatMap { option in ([option] + option.synonyms).map { (option, $0) } }
    }

    func option(named name: String) -> (option: any OptionDescription, spelling: any OptionDescription)? {
        spellings.first { $0.spelling.name == name }
    }

    /// Returns the one-letter option whose value follows it directly. A number alone is the limit.
    private func shortOption(in word: String) -> (name: String, value: String)? {
        let digits = word.dropFirst()
        if digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), option(named: "-n") != nil {
            return ("-n", String(digits))
        }
        let names = spellings.filter { $0.spelling.valueName != nil }.map(\.spelling.name)
        let name = names.first { $0.count == 2 && word.count > 2 && word.hasPrefix($0) }
        return name.map { ($0, String(word.dropFirst(2))) }
    }

    static func split(_ word: String) -> (name: String, value: String?) {
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
