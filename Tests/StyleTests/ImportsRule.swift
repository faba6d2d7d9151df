/// Limits the system modules that each target of the product may import.
struct ImportsRule: FileRule {
    /// Only StrataSystem, what loads client libraries and the tool talk to the operating system, only the API and the
    /// tool use Foundation freely.
    private static let allowed: [String: Set<String>] = [
        "StrataSystem": ["Dispatch", "Glibc"],
        "StrataConnections": ["Glibc"],
        "CoreLocation": ["Foundation"],
        "CloudKit": ["Foundation"],
        "StrataOS": ["Foundation"],
        "StrataPorting": ["Foundation"],
        "StrataTool": ["Foundation", "Glibc"],
        "strata": ["Foundation", "Glibc"],
    ]
    private static let restricted: Set<String> = ["Foundation", "Glibc", "Dispatch"]

    /// The only files below the API that may use Foundation (docs/decisions/0007-foundation-in-text-search.md).
    static let foundationFiles: Set<String> = [
        "Sources/StrataModel/Values/GreatCircle.swift", "Sources/StrataModel/Values/TextFolding.swift",
        "Sources/StrataQuery/Plan/GeoCircle.swift", "Sources/StrataQuery/Predicate/PredicateEvaluator.swift",
        "Sources/StrataQuery/Predicate/TextExpression.swift",
    ]

    func findings(in file: SourceFile) -> [Finding] {
        guard file.isSwift, let module = file.module else { return [] }
        let allowed = Self.allowed[module] ?? []
        return file.imports.compactMap { line, name in
            guard Self.restricted.contains(name), !allowed.contains(name) else { return nil }
            if name == "Foundation", Self.foundationFiles.contains(file.path) { return nil }
            return file.finding(line, "\(module) must not import \(name); move the code up, or pass in what it needs")
        }
    }
}
