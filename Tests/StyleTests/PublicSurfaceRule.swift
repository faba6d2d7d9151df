/// Compares the public declarations of the engine with a checked-in list, so that none becomes public by accident.
///
/// In all modules but those with an API of Apple's, `package` is the default and each `public` a promise.
/// `STRATA_UPDATE_GOLDEN=1` makes ``StyleTests`` write the list again.
struct PublicSurfaceRule: StyleRule {
    static let list = "Tests/StyleTests/EngineSurface.txt"
    private static let otherModules: Set = ["CloudKit", "CoreLocation", "StrataOS", "StrataPorting", "StrataTool"]

    func findings(in files: [SourceFile]) -> [Finding] {
        let list = files.first { $0.path == Self.list }
        var listed: [String: [Int]] = [:]
        for (line, text) in (list?.lines ?? []).enumerated() where !text.isEmpty {
            listed[String(text), default: []].append(line)
        }
        var findings: [Finding] = []
        for (declaration, file, line) in Self.declarations(in: files) where listed[declaration]?.popLast() == nil {
            findings.append(file.finding(line, "public, but not in \(Self.list); make it package, or list it"))
        }
        guard let list else { return findings }
        return findings
            + listed.values.joined().sorted().map { list.finding($0, "no such public declaration; update the list") }
    }

    /// Returns the public declarations with the module and file of each, in the order of the files.
    static func declarations(in files: [SourceFile]) -> [(text: String, file: SourceFile, line: Int)] {
        files.filter(\.isLibrary).sorted { $0.path < $1.path }.flatMap { file in
            guard let module = file.module, !otherModules.contains(module) else {
                return [(text: String, file: SourceFile, line: Int)]()
            }
            return file.code.indices.compactMap { line in
                guard file.code[line].split(separator: " ").prefix(3).contains("public") else { return nil }
                return ("\(module)/\(file.name): \(declaration(at: line, in: file.code))", file, line)
            }
        }
    }

    /// Returns a declaration up to its body or its value, on one line.
    private static func declaration(at line: Int, in code: [String]) -> String {
        var text = ""
        var depth = 0
        for line in code[line...] {
            for word in line.split(separator: " ") {
                if depth == 0, word.hasPrefix("{") || word == "=" { break }
                depth += word.count { "([".contains($0) } - word.count { ")]".contains($0) }
                text += (text.isEmpty ? "" : " ") + word
            }
            if depth == 0 { break }
        }
        return text
    }
}
