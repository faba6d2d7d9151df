/// Imports point down only: what each target of the product may import.
struct ImportsRule: FileRule {
    private static let model = ["StrataModel", "Synchronization"]
    private static let system = model + ["StrataSystem"]
    private static let log = system + ["StrataLog"]
    private static let views = log + ["StrataTree", "StrataViews"]
    private static let store = views + ["StrataRules", "StrataQuery", "StrataStore"]
    private static let replay = store + ["StrataReplay"]
    private static let tool = replay + ["CloudKit", "CoreLocation", "Foundation"]

    /// Only StrataSystem and the tool talk to the operating system, only the API and the tool use Foundation freely.
    /// CCloudKit runs before `main`, which Swift cannot: archives of Apple's platforms can be read from then on.
    static let allowed: [String: [String]] = [
        "StrataModel": ["Synchronization"],
        "StrataSystem": model + ["CLZ4", "CSodium", "CStrata", "Dispatch", "Glibc"],
        "StrataLog": system,
        "StrataTree": system,
        "StrataViews": log + ["StrataTree"],
        "StrataRules": ["StrataModel", "StrataViews", "Synchronization"],
        "StrataQuery": system + ["StrataTree", "StrataViews"],
        "StrataStore": views + ["StrataRules", "StrataQuery"],
        "StrataReplay": store,
        "CoreLocation": ["Foundation", "StrataModel"],
        "CloudKit": store + ["StrataReplay", "CoreLocation", "CCloudKit", "Foundation"],
        "StrataTool": tool + ["Glibc"],
        "strata": tool + ["StrataTool", "Glibc"],
    ]

    /// The only files below the API that may use Foundation (docs/decisions/0007-foundation-in-text-search.md).
    static let foundationFiles: Set<String> = [
        "Sources/StrataModel/Values/GreatCircle.swift", "Sources/StrataModel/Values/TextFolding.swift",
        "Sources/StrataQuery/Plan/GeoCircle.swift", "Sources/StrataQuery/Predicate/PredicateEvaluator.swift",
        "Sources/StrataQuery/Predicate/TextExpression.swift",
    ]

    private static let kinds: Set<String> = ["struct", "class", "enum", "protocol", "typealias", "func", "let", "var"]

    func findings(in file: SourceFile) -> [Finding] {
        guard file.isSwift, let module = file.module else { return [] }
        guard let allowed = Self.allowed[module] else {
            return [file.finding(0, "the target \(module) is unknown; add a row to Tests/StyleTests/ImportsRule.swift")]
        }
        return imports(of: file).compactMap { line, name in
            guard !allowed.contains(name) else { return nil }
            if name == "Foundation", Self.foundationFiles.contains(file.path) { return nil }
            let names = allowed.joined(separator: ", ")
            return file.finding(
                line, "\(module) must not import \(name), only \(names); move the code up, or pass in what it needs")
        }
    }

    private func imports(of file: SourceFile) -> [(line: Int, name: String)] {
        let tokens = file.tokens
        return tokens.indices.compactMap { index in
            guard tokens[index].text == "import", !tokens.isMember(index) else { return nil }
            let name = Self.kinds.contains(tokens.text(index + 1)) ? index + 2 : index + 1
            guard tokens.indices.contains(name), tokens[name].line == tokens[index].line else { return nil }
            return (tokens[index].line, tokens[name].text)
        }
    }
}
