/// Finds functions with several parameters without labels, whose calls do not say what is what. A closure in last place
/// does not count, since it follows the parentheses.
struct LabelsRule: FileRule {
    static let maximumUnlabeled = 3
    /// The modules that follow the rule; the list only grows.
    static let modules: Set<String> = ["CloudKit", "CoreLocation", "StrataOS", "StrataRules", "StrataSystem", "strata"]

    func findings(in file: SourceFile) -> [Finding] {
        guard let module = file.module, Self.modules.contains(module) else { return [] }
        let tokens = file.tokens
        return tokens.indices.compactMap { index in
            guard ["func", "init"].contains(tokens[index].text), !tokens.isMember(index) else { return nil }
            let count = unlabeledCount(tokens, after: index)
            guard count > Self.maximumUnlabeled else { return nil }
            return file.finding(
                tokens[index].line, "\(count) parameters without labels, more than \(Self.maximumUnlabeled); name them")
        }
    }

    private func unlabeledCount(_ tokens: [Token], after index: Int) -> Int {
        guard let open = tokens[index...].firstIndex(where: { $0.text == "(" }) else { return 0 }
        var (count, depth) = (0, 0)
        var isLastAClosure = false
        for next in tokens.indices[open...] {
            let text = tokens[next].text
            let isArrow = text == ">" && tokens.text(next - 1) == "-"
            if isArrow { isLastAClosure = true }
            if ["(", "[", "<", "{"].contains(text) { depth += 1 }
            if [")", "]", ">", "}"].contains(text), !isArrow { depth -= 1 }
            if depth == 0 { break }
            guard depth == 1, next == open || text == "," else { continue }
            isLastAClosure = false
            if tokens.text(next + 1) == "_" { count += 1 }
        }
        return isLastAClosure ? count - 1 : count
    }
}
