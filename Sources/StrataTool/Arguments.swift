/// A command line, taken apart and checked.
struct Arguments {
    private(set) var operands: [String] = []
    private var values: [String: any Sendable] = [:]

    mutating func add(operand: String) { operands.append(operand) }

    mutating func set(_ option: any OptionDescription, to value: any Sendable) { values[option.name] = value }

    subscript<Value>(option: Option<Value>) -> Value? { values[option.name] as? Value }

    subscript(option: Option<Bool>) -> Bool { values[option.name] as? Bool ?? false }

    func has(_ option: any OptionDescription) -> Bool { values[option.name] != nil }

    /// The first operand, of commands that require one.
    var store: String { operands.first ?? "" }
}
