import Foundation

/// A question that an assistant can ask: a command of this program that only reads, with some of its options.
struct AssistantTool: Sendable {
    let command: any Command.Type
    /// The names of the options that it offers.
    let offered: [String]
    /// The options that are always given, and those that are given unless the assistant does.
    var fixed = ["--json"]
    var usual: [String: String] = [:]

    private static let place = ["--user", "--owner", "--database", "--zone", "--at"]

    static let all = [
        AssistantTool(command: DoctorCommand.self, offered: ["--kind", "--since", "-n"], usual: ["limit": "20"]),
        AssistantTool(
            command: LogCommand.self,
            offered: [
                "--user", "--device", "--zone", "--record", "--type", "--where", "--outcome", "--from", "--to", "-n",
            ], fixed: ["--json", "--patch"], usual: ["limit": "20"]),
        AssistantTool(command: HistoryCommand.self, offered: ["--owner", "--zone", "-n"]),
        AssistantTool(command: ExplainCommand.self, offered: ["--notifications", "--user", "--device"]),
        AssistantTool(command: AccessCommand.self, offered: place.filter { $0 != "--database" }),
        AssistantTool(command: DeviceCommand.self, offered: ["--record", "--zone", "--at"]),
        AssistantTool(command: QueryCommand.self, offered: place + ["--sort", "--limit"]),
        AssistantTool(command: WhatIfCommand.self, offered: ["--drop"]),
        AssistantTool(command: MinimizeCommand.self, offered: ["--where"] + place),
    ]

    /// The name in the protocol.
    var name: String { command.name.replacing("-", with: "_") }

    // MARK: Parameters

    /// An operand, or an option under its long name without the dashes.
    private struct Parameter {
        let name: String
        let help: String
        let words: [String]
        let isRequired: Bool
        var option: (any OptionDescription)?

        init(_ operand: Operand) {
            (name, help) = (operand.name.lowercased(), operand.help)
            (words, isRequired) = (operand.words, operand.isRequired)
        }

        init(_ option: any OptionDescription) {
            let names = ([option] + option.synonyms).map(\.name)
            name = String((names.first { $0.hasPrefix("--") } ?? option.name).drop { $0 == "-" })
            (help, words) = (option.help, option.words.filter { !$0.hasPrefix("=") })
            (isRequired, self.option) = (option.isRequired, option)
        }

        var isFlag: Bool { option != nil && option?.valueName == nil }

        var schema: [String: Any] {
            if isFlag { return ["type": "boolean", "description": help] }
            if option is Option<UInt64> { return ["type": "integer", "minimum": 0, "description": help] }
            // Commits and times are numbers or texts.
            var schema: [String: Any] = ["type": ["string", "integer"], "description": help]
            if !words.isEmpty { (schema["type"], schema["enum"]) = ("string", words) }
            return schema
        }
    }

    private var parameters: [Parameter] {
        command.operands.dropFirst().map { Parameter($0) }
            + offered.compactMap { name in command.options.first { $0.name == name }.map { Parameter($0) } }
    }

    /// Returns the words of a command line. Values cannot become options, since each is attached to its option, or
    /// follows `--`.
    ///
    /// - Parameter store: the path of the store.
    func words(_ arguments: [String: Any], of store: String) throws(UsageError) -> [String] {
        let known = parameters.map(\.name) + [Self.storeName]
        if let other = arguments.keys.sorted().first(where: { !known.contains($0) }) {
            throw UsageError(
                "\(name) has no argument '\(other)'", suggestion: Suggestion.closest(to: other, among: known))
        }
        var (options, operands) = (fixed, [store])
        for parameter in parameters {
            guard let word = try word(arguments[parameter.name] ?? usual[parameter.name], of: parameter) else {
                if parameter.isRequired { throw UsageError("'\(parameter.name)' is missing: \(parameter.help)") }
                continue
            }
            if parameter.option == nil {
                operands.append(word)
            } else if !parameter.isFlag {
                options.append("--\(parameter.name)=\(word)")
            } else if word == "true" {
                options.append("--" + parameter.name)
            }
        }
        let words = options + ["--"] + operands
        _ = try ArgumentParser(command).parse(words)
        return [command.name] + words
    }

    /// Returns nil for none.
    private func word(_ value: Any?, of parameter: Parameter) throws(UsageError) -> String? {
        switch value {
        case nil, is NSNull: return nil
        // JSON's true and false are numbers to Foundation, of the type of characters.
        case let number as NSNumber where (String(cString: number.objCType) == "c") == parameter.isFlag:
            return parameter.isFlag ? "\(number.boolValue)" : "\(number)"
        case let text as String where !parameter.isFlag && !text.utf8.contains(0): return text
        default:
            throw UsageError(
                "'\(parameter.name)' of \(name) must be \(parameter.isFlag ? "true or false" : "a text or a number")")
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
            "name": name, "description": command.details,
            "inputSchema": [
                "type": "object", "properties": properties, "additionalProperties": false,
                "required": parameters.filter(\.isRequired).map(\.name),
            ] as [String: Any],
            "annotations": ["readOnlyHint": true, "openWorldHint": false],
        ]
    }
}
