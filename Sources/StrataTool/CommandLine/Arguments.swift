/// A parsed and checked command line.
struct Arguments {
    private(set) var operands: [String] = []
    private var values: [String: [any Sendable]] = [:]
    /// The environment variables from which parts of the command line come.
    private(set) var variables: Set<CommandVariable> = []
    /// The names of the options whose values come from variables.
    private var untyped: Set<String> = []

    mutating func add(operand: String) { operands.append(operand) }

    mutating func add(_ option: any OptionDescription, _ value: any Sendable) {
        values[option.name, default: []].append(value)
    }

    mutating func insert(operand: String, at index: Int, from variable: CommandVariable) {
        operands.insert(operand, at: index)
        variables.insert(variable)
    }

    mutating func add(_ option: any OptionDescription, _ value: any Sendable, from variable: CommandVariable) {
        add(option, value)
        untyped.insert(option.name)
        variables.insert(variable)
    }

    subscript<Value>(option: Option<Value>) -> Value? { values[option.name]?.first as? Value }

    subscript(option: Option<Bool>) -> Bool { values[option.name]?.first as? Bool ?? false }

    /// Returns the values of a repeatable option, in order.
    func all<Value>(_ option: Option<Value>) -> [Value] { (values[option.name] ?? []).compactMap { $0 as? Value } }

    func has(_ option: any OptionDescription) -> Bool { values[option.name] != nil }

    /// Returns true for an option of the command line itself, whose value is not that of a variable.
    func isTyped(_ option: any OptionDescription) -> Bool { has(option) && !untyped.contains(option.name) }

    /// Returns the same command line with another operand at a place.
    func replacing(operand index: Int, by word: String) -> Arguments {
        var arguments = self
        arguments.operands[index] = word
        return arguments
    }

    /// The first operand, for commands that require one.
    var store: String { operands.first ?? "" }
}
