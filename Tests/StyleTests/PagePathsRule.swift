import Foundation

/// Looks up each path that a page names: the targets of links, and code that begins with a folder of the repository.
///
/// CHANGELOG may name what is gone. The page on the design names every folder of Sources.
struct PagePathsRule: StyleRule {
    private static let folders = ["Sources/", "Tests/", "Examples/", "Benchmarks/", "docs/", "tools/"]

    func findings(in files: [SourceFile]) -> [Finding] {
        var known: Set<String> = []
        for file in files {
            var path = file.path[...]
            known.insert(String(path))
            while let slash = path.lastIndex(of: "/") {
                path = path[..<slash]
                known.insert(String(path))
            }
        }
        var findings: [Finding] = []
        for page in files where page.path.hasSuffix(".md") && page.path != "CHANGELOG.md" {
            for (line, text) in page.lines.map(String.init).enumerated() {
                let paths = Self.links(in: text).map { Self.resolve($0, from: page.path) } + Self.paths(in: text)
                for path in paths where !known.contains(path) {
                    findings.append(page.finding(line, "there is no \(path); name what is there"))
                }
            }
        }
        return findings + missingFolders(in: files)
    }

    private func missingFolders(in files: [SourceFile]) -> [Finding] {
        guard let design = files.first(where: { $0.path == "docs/architecture.md" }) else { return [] }
        let parts = files.filter { $0.path.hasPrefix("Sources/") }.map { $0.path.split(separator: "/")[1] }
        return Set(parts).sorted().filter {
            !design.text.contains("`Sources/\($0)`") && !design.text.contains("`\($0)`")
        }
        .map { design.finding(0, "Sources/\($0) is missing in the table of modules; add it") }
    }

    /// The targets of links to files, without their fragments.
    private static func links(in line: String) -> [String] {
        line.components(separatedBy: "](").dropFirst().compactMap { rest in
            let target = rest.prefix { $0 != ")" && $0 != "#" }
            return target.isEmpty || target.contains(":") || target.contains(" ") ? nil : String(target)
        }
    }

    /// Code that is one path, without patterns.
    private static func paths(in line: String) -> [String] {
        let parts = line.split(separator: "`", omittingEmptySubsequences: false)
        return parts.indices.filter { !$0.isMultiple(of: 2) }.compactMap { index in
            let path = parts[index].last == "/" ? parts[index].dropLast() : parts[index]
            let isPath = Self.folders.contains { path.hasPrefix($0) }
            return isPath && !path.contains(where: { " *<>{}…".contains($0) }) ? String(path) : nil
        }
    }

    private static func resolve(_ target: String, from page: String) -> String {
        var parts = page.split(separator: "/").dropLast().map(String.init)
        for part in target.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(String(part)) }
        }
        return parts.joined(separator: "/")
    }
}
