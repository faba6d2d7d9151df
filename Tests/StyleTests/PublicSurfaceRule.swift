/// Compares the public declarations of the engine with a checked-in list, so that none becomes public by accident.
///
/// Every module but CloudKit's is the engine's own: `package` is its default, and each `public` is a promise.
/// `STRATA_UPDATE_GOLDEN=1` makes ``StyleTests`` write the list again.
struct PublicSurfaceRule: StyleRule {
    static let list = "Tests/StyleTests/EngineSurface.txt"
    private static let openModules: Set = ["CloudKit", "CoreLocation"]

    func findings(in files: [SourceFile]) -> [Finding] {
        let list = files.first { $0.path == Self.list }
        var missing: [String: Int] = [:]
        for (line, text) in (list?.lines ?? []).enumerated() where !text.isEmpty { missing[String(text)] = line }
        let known = Set(missing.keys)
        var findings: [Finding] = []
        for (declaration, file, line) in Self.declarations(in: files) {
            if known.contains(declaration) {
                missing[declaration] = nil
            } else {
                findings.append(file.finding(line, "public, but not in \(Self.list); make it package, or list it"))
            }
        }
        guard let list else { return findings }
        return findings
            + missing.values.sorted().map { list.finding($0, "no such public declaration; update the list") }
    }

    /// Returns the public declarations with the module and file of each, in the order of the files.
    static func declarations(in files: [SourceFile]) -> [(text: String, file: SourceFile, line: Int)] {
        files.filter(\.isLibrary).sorted { $0.path < $1.path }.flatMap { file in
            guard let module = file.module, !openModules.contains(module) else {
                return [(text: String, file: SourceFile, line: Int)]()
            }
            return file.code.enumerated().compactMap { line, code in
                guard code.split(separator: " ").prefix(3).contains("public") else { return nil }
                let text = code.prefix { $0 != "{" && $0 != "=" }.split(separator: " ").joined(separator: " ")
                return ("\(module)/\(file.name): \(text)", file, line)
            }
        }
    }
}
