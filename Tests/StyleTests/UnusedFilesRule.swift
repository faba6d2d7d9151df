/// Files of the product of which no other file mentions anything.
///
/// A heuristic: names, not declarations, are compared, so that it may miss a file but accuses none that is used.
struct UnusedFilesRule: StyleRule {
    func findings(in files: [SourceFile]) -> [Finding] {
        var mentions: [String: Set<Int>] = [:]
        for (index, file) in files.enumerated() {
            for token in file.tokens where token.isWord { mentions[token.text, default: []].insert(index) }
        }
        return files.indices.compactMap { index in
            let file = files[index]
            guard file.isSwift, file.module != nil, !isEntry(file) else { return nil }
            let declarations = Declarations(file.tokens)
            guard !declarations.areUsedUnnamed else { return nil }
            let isUsed = declarations.names.contains { mentions[$0, default: []].contains { $0 != index } }
            guard !isUsed else { return nil }
            let names = declarations.names.sorted().prefix(3).joined(separator: ", ")
            return file.finding(0, "no other file uses anything of this one (\(names)); use it or remove it")
        }
    }

    /// What the linker or the runtime calls.
    private func isEntry(_ file: SourceFile) -> Bool {
        file.name == "main.swift" || file.code.contains { $0.contains("@main") || $0.contains("@_cdecl") }
    }
}

/// What a file declares for others: at its top level, and as members of extensions.
private struct Declarations {
    var names: Set<String> = []
    /// Conformances, default implementations, operators and re-exports work without being named.
    var areUsedUnnamed = false

    private static let named: Set<String> = [
        "struct", "class", "enum", "actor", "protocol", "typealias", "func", "let", "var", "macro",
    ]

    init(_ tokens: [Token]) {
        var depth = 0
        var extended: String?
        for (index, token) in tokens.enumerated() {
            switch token.text {
            case "{": depth += 1
            case "}":
                depth -= 1
                if depth == 0 { extended = nil }
            case "extension" where depth == 0:
                extended = tokens.text(index + 1)
                if hasConformance(tokens, after: index) || hasDefaults(tokens, after: index) { areUsedUnnamed = true }
            case "_exported" where depth == 0: areUsedUnnamed = true
            case "init", "subscript":
                // They are used by the name of their type.
                if depth == 1, let extended { names.insert(extended) }
            case let word where Self.named.contains(word):
                guard depth == 0 || depth == 1 && extended != nil else { continue }
                add(tokens, at: index + 1)
            default: break
            }
        }
    }

    private mutating func add(_ tokens: [Token], at index: Int) {
        guard tokens.indices.contains(index) else { return }
        if !tokens[index].isWord {
            areUsedUnnamed = areUsedUnnamed || tokens.text(index - 1) == "func"
        } else if !Token.declarations.contains(tokens[index].text) {
            names.insert(tokens[index].text)
        }
    }

    /// Whether an extension is one of a protocol, for some of the types that conform.
    private func hasDefaults(_ tokens: [Token], after index: Int) -> Bool {
        let header = tokens[(index + 1)...].prefix { $0.text != "{" }
        return header.contains { $0.text == "Self" }
    }

    private func hasConformance(_ tokens: [Token], after index: Int) -> Bool {
        let header = tokens[(index + 1)...].prefix { $0.text != "{" && $0.text != "where" }
        return header.contains { $0.text == ":" }
    }
}
