/// A file of the product is named after a type that it declares or extends, so that the type is found by its name.
///
/// A topic may follow: `Store+Schema`. Where every extension adds the same protocol, the file may have the protocol's
/// name. Files without any type, such as one of constants, are named by what they hold.
struct FileNameRule: FileRule {
    private static let declaring: Set<String> = ["struct", "class", "enum", "actor", "protocol", "typealias"]

    func findings(in file: SourceFile) -> [Finding] {
        guard file.isSwift, file.module != nil, file.name != "main.swift" else { return [] }
        let types = types(of: file.tokens)
        guard !types.isEmpty, let name = file.name.dropLast(6).split(separator: "+").first.map(String.init),
            !types.contains(name)
        else { return [] }
        let known = types.sorted().prefix(4).joined(separator: ", ")
        return [file.finding(0, "no type here is called \(name); name the file after one of them (\(known))")]
    }

    /// Types that are declared or extended at the top level, and protocols that extensions add.
    private func types(of tokens: [Token]) -> Set<String> {
        var types: Set<String> = []
        var depth = 0
        for (index, token) in tokens.enumerated() {
            switch token.text {
            case "{": depth += 1
            case "}": depth -= 1
            case "extension" where depth == 0:
                types.formUnion(tokens[(index + 1)...].prefix { $0.text != "{" && $0.text != "where" }.map(\.text))
            case let word where depth == 0 && Self.declaring.contains(word): types.insert(tokens.text(index + 1))
            default: break
            }
        }
        return types.filter { $0.utf8.first?.isInIdentifier ?? false }
    }
}
