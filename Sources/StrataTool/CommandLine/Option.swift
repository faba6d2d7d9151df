import StrataSystem

/// The description of an option, independent of the type of its value.
protocol OptionDescription: Sendable {
    /// The name with its dashes: `--json`, `-n`.
    var name: String { get }
    /// The placeholder for the value in the help; nil for an option without a value.
    var valueName: String? { get }
    var help: String { get }
    /// True if the option may be repeated.
    var isRepeatable: Bool { get }
    /// True if a command does nothing without the option.
    var isRequired: Bool { get }
    /// The environment variable with the default value.
    var variable: CommandVariable? { get }
    /// Other spellings of the option.
    var synonyms: [any OptionDescription] { get }
    /// The accepted words; empty if there are others. A word that begins with `=` follows any text.
    var words: [String] { get }

    func parse(_ text: String) throws(UsageError) -> any Sendable
}

extension OptionDescription {
    var usage: String { valueName.map { "\(name) \($0)" } ?? name }

    /// The help for a command line, with the other spellings and the default.
    var commandHelp: String {
        let spellings = synonyms.map { "; also \($0.usage) or -\($0.valueName ?? "")" }.joined()
        return help + spellings + (variable.map { "; by default $\($0.rawValue)" } ?? "")
    }
}

/// An option with the conversion of its text to a value.
///
/// ```swift
/// static let limit = Option.number("-n", "N", 0...UInt64.max, help: "print the last N commits only")
/// let limit = arguments[Self.limit]
/// ```
struct Option<Value: Sendable>: OptionDescription {
    let name: String
    let valueName: String?
    let help: String
    var isRepeatable = false
    var isRequired = false
    var variable: CommandVariable?
    var synonyms: [any OptionDescription] = []
    var words: [String] = []
    let convert: @Sendable (String) throws(UsageError) -> Value

    func parse(_ text: String) throws(UsageError) -> any Sendable { try convert(text) }

    /// The same option, without which a command does nothing.
    var required: Option {
        var option = self
        option.isRequired = true
        return option
    }

    /// The same option, which may be repeated.
    var repeatable: Option {
        var option = self
        option.isRepeatable = true
        return option
    }

    /// The same option with the default value of an environment variable.
    func defaulting(to variable: CommandVariable) -> Option {
        var option = self
        option.variable = variable
        return option
    }
}

extension Option {
    /// An option that takes one of a few words.
    ///
    /// - Parameter suggests: true to name the word that was probably meant.
    static func choice(
        _ name: String, _ valueName: String, _ choices: [(word: String, value: Value)], suggests: Bool = false,
        help: String
    ) -> Option {
        let words = choices.map(\.word)
        return Option(name: name, valueName: valueName, help: help, words: words) { text throws(UsageError) in
            if let choice = choices.first(where: { $0.word == text }) { return choice.value }
            let accepted = words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
            throw UsageError(
                "\(name) must be \(accepted), not '\(text)'",
                suggestion: suggests ? Suggestion.closest(to: text, among: words) : nil)
        }
    }
}

extension Option where Value == Bool {
    static func flag(_ name: String, help: String) -> Option {
        Option(name: name, valueName: nil, help: help) { _ throws(UsageError) in true }
    }

    static let apply = flag("--apply", help: "do it; no other program may have the store open for writing")
    static let json = flag("--json", help: "print JSON, one object per line")
    static let help = flag("--help", help: "print this help")
    static let local = flag("--local", help: "print times in the local time zone instead of UTC")
    static let noPager = flag("--no-pager", help: "print on a terminal without a pager")
}

extension Option where Value == TextStyle.Choice {
    static let color = choice(
        "--color", "WHEN", TextStyle.Choice.allCases.map { ($0.rawValue, $0) },
        help: "color the output: auto (on a terminal), always or never")
}

/// The options that every command accepts.
enum CommonOptions {
    static let all: [any OptionDescription] = [
        Option<TextStyle.Choice>.color, Option<Bool>.local, Option<Bool>.noPager, Option<Bool>.help,
    ]
}

extension Option where Value == String {
    static func text(_ name: String, _ valueName: String, help: String) -> Option {
        Option(name: name, valueName: valueName, help: help) { text throws(UsageError) in text }
    }
}

extension Option where Value == UInt64 {
    /// The number of results, which `-n N`, `--limit N` and `-N` give in each command that has a limit.
    static func limit(_ name: String, _ range: ClosedRange<UInt64> = 0...UInt64.max, help: String) -> Option {
        var option = number(name, "N", range, help: help)
        let other = name == "-n" ? "--limit" : "-n"
        option.synonyms = [number(other, "N", range, help: help)]
        return option
    }

    static func number(
        _ name: String, _ valueName: String, _ range: ClosedRange<UInt64>, help: String
    ) -> Option {
        Option(name: name, valueName: valueName, help: help) { text throws(UsageError) in
            let digits = text.hasPrefix("-") || text.hasPrefix("+") ? text.dropFirst() : text[...]
            guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                throw UsageError("\(name) takes a number, not '\(text)'")
            }
            guard let number = UInt64(text), range.contains(number) else {
                throw UsageError("\(name) \(text) is out of range: \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
    }
}

extension Option where Value == Int64 {
    /// A point in time, in microseconds since 1970.
    static func time(_ name: String, help: String) -> Option {
        Option(name: name, valueName: "TIME", help: help) { text throws(UsageError) in
            guard let time = Timestamp(parsing: text, now: SystemTime().nowMicroseconds()) else {
                throw UsageError(
                    "\(name) takes a time such as \(Moment.timeExamples), not '\(text)'")
            }
            return time.microseconds
        }
    }
}
