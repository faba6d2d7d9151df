/// Compares the imports of each target's files with the dependencies that Package.swift declares, in both directions.
///
/// A module that is imported but not declared builds only while something else happens to build it first. Modules that
/// Package.swift does not declare belong to the system. A dependency on a program may be there to run it.
struct DependenciesRule: StyleRule {
    func findings(in files: [SourceFile]) -> [Finding] {
        guard let manifest = files.first(where: { $0.path == "Package.swift" }) else { return [] }
        let targets = PackageManifest(manifest.text).targets
        let modules = Set(targets.map(\.module))
        var imported: [String: Set<String>] = [:]
        var seen: Set<String> = []
        var findings: [Finding] = []
        for file in files where file.isSwift {
            let owners = targets.filter { file.path.hasPrefix($0.folder + "/") }
            guard let target = owners.max(by: { $0.folder.count < $1.folder.count }) else {
                guard file.module != nil else { continue }
                findings.append(file.finding(0, "no target of Package.swift has this file; declare one, or move it"))
                continue
            }
            seen.insert(target.name)
            let declared = target.dependencies.map(PackageManifest.Target.module)
            for (line, name) in file.imports where modules.contains(name) && name != target.module {
                imported[target.name, default: []].insert(name)
                guard !declared.contains(name) else { continue }
                findings.append(
                    file.finding(line, "\(target.name) does not declare \(name) in Package.swift; add it"))
            }
        }
        let programs = Set(targets.filter(\.isExecutable).map(\.name))
        // A target without files of its own shares those of another by a link.
        for target in targets where seen.contains(target.name) {
            for name in target.dependencies where !programs.contains(name) {
                guard imported[target.name]?.contains(PackageManifest.Target.module(of: name)) != true else { continue }
                findings.append(
                    manifest.finding(target.line, "no file of \(target.name) imports \(name); remove the dependency"))
            }
        }
        return findings
    }
}

extension SourceFile {
    private static let importableKinds: Set<String> = [
        "struct", "class", "enum", "protocol", "typealias", "func", "let", "var",
    ]

    /// The modules that the file imports, with lines from 0.
    var imports: [(line: Int, name: String)] {
        tokens.indices.compactMap { index in
            guard tokens[index].text == "import", !tokens.isMember(index) else { return nil }
            let name = Self.importableKinds.contains(tokens.text(index + 1)) ? index + 2 : index + 1
            guard tokens.indices.contains(name), tokens[name].line == tokens[index].line else { return nil }
            return (tokens[index].line, tokens[name].text)
        }
    }
}
