/// Finds files of a module that name each other's types in a circle, so that none can be read before the others.
struct CirclesRule: StyleRule {
    /// The modules without circles; the list only grows. The objects of `CloudKit` know each other, as Apple's do.
    static let modules: Set<String> = [
        "CoreLocation", "StrataConnections", "StrataModel", "StrataPostgres", "StrataRules",
        "StrataStore",
    ]
    /// A log that is only read and the errors of its writers, which name each other.
    private static let exceptions: Set<String> = ["Sources/StrataStore/Past/ReadOnlyLog.swift"]

    func findings(in files: [SourceFile]) -> [Finding] {
        let checked = files.filter { file in
            file.module.map(Self.modules.contains) == true && !Self.exceptions.contains(file.path)
        }
        return Dictionary(grouping: checked) { $0.module }.values.flatMap { circles(in: $0) }
    }

    private func circles(in files: [SourceFile]) -> [Finding] {
        var homes: [String: [Int]] = [:]
        for (index, file) in files.enumerated() {
            for type in Self.types(of: file.tokens) { homes[type, default: []].append(index) }
        }
        var uses = files.enumerated().map { index, file in
            let named = file.tokens.indices.filter { !file.tokens.isMember($0) }.compactMap {
                homes[file.tokens[$0].text]
            }
            return Set(named.filter { !$0.contains(index) }.joined())
        }
        // A file that uses none of those left, or that none of them uses, is in no circle.
        var left = Set(files.indices)
        while true {
            let used = left.reduce(into: Set<Int>()) { $0.formUnion(uses[$1]) }
            let free = left.filter { uses[$0].isDisjoint(with: left) || !used.contains($0) }
            if free.isEmpty { break }
            left.subtract(free)
        }
        return left.sorted().map { index in
            uses[index].formIntersection(left)
            let names = uses[index].map { String(files[$0].name) }.sorted().joined(separator: ", ")
            return files[index].finding(0, "in a circle of files, over \(names); let one not name the other's types")
        }
    }

    /// The types that are declared at the top level.
    private static func types(of tokens: [Token]) -> Set<String> {
        let declaring: Set<String> = ["struct", "class", "enum", "actor", "protocol", "typealias"]
        var types: Set<String> = []
        var depth = 0
        for (index, token) in tokens.enumerated() {
            if token.text == "{" { depth += 1 }
            if token.text == "}" { depth -= 1 }
            if depth == 0, declaring.contains(token.text) { types.insert(tokens.text(index + 1)) }
        }
        return types
    }
}
