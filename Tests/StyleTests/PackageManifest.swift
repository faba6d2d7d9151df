/// The targets that Package.swift declares, read from its text.
struct PackageManifest {
    struct Target {
        let name: String
        let isExecutable: Bool
        /// The path of its sources, relative to the repository's root.
        let folder: String
        let dependencies: [String]
        /// The line, counted from 0.
        let line: Int

        /// The name of the module.
        var module: String { Self.module(of: name) }

        static func module(of name: String) -> String { String(name.map { $0 == "-" ? "_" : $0 }) }
    }

    private(set) var targets: [Target] = []
    private let tokens: [(text: Substring, line: Int)]

    init(_ text: String) {
        // No string of a manifest has two slashes.
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(\.beforeComment)
        tokens = lines.enumerated().flatMap { index, line in
            line.matches(of: #/"[^"]*"|\w+|[^\s\w]/#).map { ($0.output, index) }
        }
        for index in tokens.indices.dropFirst() where tokens[index - 1].text == "." {
            if let target = target(at: index) { targets.append(target) }
        }
    }

    private func target(at index: Int) -> Target? {
        let kind = String(tokens[index].text)
        let kinds = ["target", "executableTarget", "testTarget", "systemLibrary"]
        guard kinds.contains(kind), text(index + 1) == "(" else { return nil }
        let values = arguments(from: index + 1)
        guard let name = values["name"]?.first else { return nil }
        let folder = values["path"]?.first ?? (kind == "testTarget" ? "Tests/" : "Sources/") + name
        return Target(
            name: name, isExecutable: kind == "executableTarget", folder: folder,
            dependencies: values["dependencies"] ?? [], line: tokens[index].line)
    }

    /// The strings of each argument of the call whose parenthesis is at `open`.
    private func arguments(from open: Int) -> [String: [String]] {
        var values: [String: [String]] = [:]
        var label = ""
        var depth = 0
        for index in open..<tokens.count {
            let text = text(index)
            if text == "(" || text == "[" { depth += 1 }
            if text == ")" || text == "]" { depth -= 1 }
            if depth == 0 { break }
            if depth == 1, self.text(index + 1) == ":" { label = String(text) }
            if text.hasPrefix("\"") { values[label, default: []].append(String(text.dropFirst().dropLast())) }
        }
        return values
    }

    private func text(_ index: Int) -> Substring { tokens.indices.contains(index) ? tokens[index].text : "" }
}

extension Substring {
    /// The part of a line before a comment.
    fileprivate var beforeComment: Substring { firstRange(of: "//").map { self[..<$0.lowerBound] } ?? self }
}
