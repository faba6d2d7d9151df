import Foundation

/// A question that an assistant can ask: its parameters, and the command of this program that answers it.
struct AssistantTool: Sendable {
    /// The kinds of values that a parameter accepts.
    enum Kind: Sendable {
        case text, number, flag
        case word([String])
    }

    /// A parameter, and the option or operand of the command that it becomes.
    struct Parameter: Sendable {
        let name: String
        let kind: Kind
        let help: String
        var isRequired = false
        /// The option of the command; nil for an operand, in the order of the parameters.
        var option: String?
        /// The value if none is given.
        var usual: String?

        static func option(_ name: String, _ kind: Kind, as option: String? = nil, _ help: String) -> Self {
            Self(name: name, kind: kind, help: help, option: option ?? "--" + name)
        }

        static func option(_ name: String, _ help: String) -> Self { option(name, .text, help) }

        static func operand(_ name: String, _ kind: Kind, _ help: String, isRequired: Bool = true) -> Self {
            Self(name: name, kind: kind, help: help, isRequired: isRequired)
        }

        static func operand(_ name: String, _ help: String, isRequired: Bool = true) -> Self {
            operand(name, .text, help, isRequired: isRequired)
        }

        func usually(_ value: String) -> Self {
            var parameter = self
            parameter.usual = value
            return parameter
        }

        var required: Self {
            var parameter = self
            parameter.isRequired = true
            return parameter
        }
    }

    let name: String
    let command: String
    let text: String
    let parameters: [Parameter]
    /// The options that are always given.
    var fixed: [String] = ["--json"]

    // MARK: Calls

    /// The reason why the arguments of a call cannot be understood.
    struct Mistake: Error {
        let text: String
    }

    /// Returns the words of a command line. Values cannot become options, since each is attached to its option, or
    /// follows `--`.
    ///
    /// - Parameter store: the path of the store.
    func words(_ arguments: [String: Any], of store: String) throws(Mistake) -> [String] {
        let known = Set(parameters.map(\.name) + [Self.storeName])
        if let other = arguments.keys.sorted().first(where: { !known.contains($0) }) {
            let meant = Suggestion.closest(to: other, among: Array(known)).map { "; did you mean \($0)?" } ?? ""
            throw Mistake(text: "\(name) has no argument '\(other)'\(meant)")
        }
        var (options, operands) = (fixed, [store])
        for parameter in parameters {
            guard let value = arguments[parameter.name], !(value is NSNull) else {
                if let option = parameter.option, let usual = parameter.usual { options += [option, usual] }
                guard !parameter.isRequired else {
                    throw Mistake(text: "\(name) needs the argument '\(parameter.name)': \(parameter.help)")
                }
                continue
            }
            let word = try word(value, of: parameter)
            switch (parameter.option, parameter.kind) {
            case (let option?, .flag): if word == "true" { options.append(option) }
            case (let option?, _) where option.count == 2: options += [option, word]
            case (let option?, _): options.append("\(option)=\(word)")
            case (nil, _): operands.append(word)
            }
        }
        return [command] + options + ["--"] + operands
    }

    private func word(_ value: Any, of parameter: Parameter) throws(Mistake) -> String {
        // JSON's true and false are numbers to Foundation, of the type of characters.
        let isFlag = (value as? NSNumber).map { String(cString: $0.objCType) == "c" } ?? false
        switch (parameter.kind, value) {
        case (.flag, let flag as Bool) where isFlag: return flag ? "true" : "false"
        case (.number, let number as Int) where number >= 0 && !isFlag: return "\(number)"
        case (.text, let text as String) where !text.isEmpty && !text.utf8.contains(0): return text
        case (.word(let words), let text as String) where words.contains(text): return text
        default: throw Mistake(text: "'\(parameter.name)' of \(name) must be \(parameter.kindText), not \(value)")
        }
    }

    // MARK: The description

    static let storeName = "store"

    /// The description of the tool in the protocol.
    ///
    /// - Parameter stores: the names of the stores; a parameter chooses one if there are several.
    func described(stores: [String]) -> [String: Any] {
        var properties: [String: Any] = [:]
        for parameter in parameters { properties[parameter.name] = parameter.schema }
        if stores.count > 1 {
            properties[Self.storeName] = [
                "type": "string", "enum": stores, "description": "which store; \(stores[0]) unless told",
            ]
        }
        return [
            "name": name, "description": text,
            "inputSchema": [
                "type": "object", "properties": properties, "additionalProperties": false,
                "required": parameters.filter(\.isRequired).map(\.name),
            ] as [String: Any],
            "annotations": ["readOnlyHint": true, "openWorldHint": false],
        ]
    }
}

extension AssistantTool.Parameter {
    fileprivate var kindText: String {
        switch kind {
        case .text: "a text"
        case .number: "a number"
        case .flag: "true or false"
        case .word(let words): words.joined(separator: " or ")
        }
    }

    fileprivate var schema: [String: Any] {
        switch kind {
        case .text: ["type": "string", "minLength": 1, "description": help]
        case .number: ["type": "integer", "minimum": 0, "description": help]
        case .flag: ["type": "boolean", "description": help]
        case .word(let words): ["type": "string", "enum": words, "description": help]
        }
    }
}
