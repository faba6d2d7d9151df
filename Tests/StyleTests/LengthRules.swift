/// Files that nobody can hold in mind want to be split.
struct FileLengthRule: FileRule {
    static let limit = 1_000

    func findings(in file: SourceFile) -> [Finding] {
        let count = file.text.hasSuffix("\n") ? file.lines.count - 1 : file.lines.count
        guard file.isSwift, count > Self.limit else { return [] }
        return [file.finding(Self.limit, "\(count) lines, more than \(Self.limit); split it: Type+Topic.swift")]
    }
}

struct LineLengthRule: FileRule {
    static let limit = 120

    func findings(in file: SourceFile) -> [Finding] {
        guard [".swift", ".c", ".h", ".py"].contains(where: file.path.hasSuffix) else { return [] }
        return file.lines.indices.compactMap { line in
            let columns = file.lines[line].count
            guard columns > Self.limit else { return nil }
            return file.finding(line, "\(columns) columns, more than \(Self.limit); break the line")
        }
    }
}

/// Functions, initialisers, subscripts and accessors, from the keyword to the closing brace.
struct FunctionLengthRule: FileRule {
    static let limit = 70

    func findings(in file: SourceFile) -> [Finding] {
        let tokens = file.tokens
        return tokens.indices.compactMap { index in
            guard let open = bodyStart(tokens, of: index), let close = tokens.closingBrace(of: open) else { return nil }
            let first = tokens[index].line
            let count = tokens[close].line - first + 1
            guard count > Self.limit else { return nil }
            let next = tokens.text(index + 1)
            let name = next == "{" || next == "(" ? tokens[index].text : "\(tokens[index].text) \(next)"
            return file.finding(first, "`\(name)` has \(count) lines, more than \(Self.limit); split it by steps")
        }
    }

    /// The brace that opens the body of what is declared at `index`, if something with a body is.
    private func bodyStart(_ tokens: [Token], of index: Int) -> Int? {
        guard !tokens.isMember(index) else { return nil }
        switch tokens[index].text {
        case "func", "init", "deinit", "subscript": return brace(tokens, after: index, stoppingAt: Token.declarations)
        case "var": return brace(tokens, after: index, stoppingAt: Token.declarations.union(["="]))
        case "get", "set", "willSet", "didSet", "_read", "_modify": return accessorBrace(tokens, after: index)
        default: return nil
        }
    }

    /// The first brace outside parentheses; none when `stops` comes before it, as in a protocol's requirement.
    private func brace(_ tokens: [Token], after index: Int, stoppingAt stops: Set<String>) -> Int? {
        var depth = 0
        for next in tokens.indices[(index + 1)...] {
            switch tokens[next].text {
            case "(", "[": depth += 1
            case ")", "]": depth -= 1
            case "{" where depth == 0: return next
            case "}" where depth == 0: return nil
            // The name of an operator may be a stop.
            case let text where depth == 0 && next > index + 1 && stops.contains(text): return nil
            default: break
            }
            if depth < 0 { return nil }
        }
        return nil
    }

    /// Accessors' names are ordinary words elsewhere, so that only `async`, `throws` and a parameter may come between.
    private func accessorBrace(_ tokens: [Token], after index: Int) -> Int? {
        var next = index + 1
        if tokens.text(next) == "(", tokens.text(next + 2) == ")" { next += 3 }
        while ["async", "throws"].contains(tokens.text(next)) { next += 1 }
        return tokens.text(next) == "{" ? next : nil
    }
}
