import StrataSystem

/// The methods of the store that take an actor, found in its sources.
enum ActorMethods {
    /// Returns the methods of all files of the module.
    static func inSources() throws -> Set<String> {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4)
        let files = RealFileSystem()
        let module = root.joined(separator: "/") + "/Sources/StrataStore"
        var methods: Set<String> = []
        for folder in try files.list(module) where !folder.hasSuffix(".swift") {
            for file in try files.list("\(module)/\(folder)") where file.hasSuffix(".swift") {
                let bytes = try files.readAll("\(module)/\(folder)/\(file)", atMost: 1 << 20)
                methods.formUnion(found(in: String(decoding: bytes, as: UTF8.self)))
            }
        }
        return methods
    }

    /// Returns the public and package methods of a source, with the labels of their parameters.
    static func found(in source: String) -> Set<String> {
        var methods: Set<String> = []
        for line in source.ranges(of: /(?:public|package) func \w+\(/) {
            let list = parameters(of: source[line.upperBound...])
            guard list.contains(where: { $0.hasSuffix("actor: Actor") }) else { continue }
            let labels = list.map { $0.prefix { $0 != " " && $0 != ":" } + ":" }
            let name = source[line].dropLast().split(separator: " ").last ?? ""
            methods.insert("\(name)(\(labels.joined()))")
        }
        return methods
    }

    /// Returns the parameters of a list, up to the parenthesis that ends it.
    private static func parameters(of text: Substring) -> [String] {
        var (list, depth): ([String], Int) = ([""], 0)
        for character in text {
            switch character {
            case "(", "[", "{": depth += 1
            case ")", "]", "}": depth -= 1
            case "," where depth == 0:
                list.append("")
                continue
            default: break
            }
            if depth < 0 { break }
            list[list.count - 1].append(character)
        }
        return list.map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
    }
}
