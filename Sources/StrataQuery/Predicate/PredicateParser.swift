import StrataModel

/// Parses a predicate's format, with the arguments for its placeholders.
///
/// Parses in one pass without backtracking: a parenthesis may contain a predicate or a value, which is determined at
/// its end.
public struct PredicateParser {
    private enum Node {
        case predicate(PredicateTree)
        case expression(PredicateExpression)
    }

    var lexer: PredicateLexer
    var token: PredicateToken
    private var arguments: ArraySlice<PredicateArgument>
    private var depth = 0

    public static func parse(_ format: String, _ arguments: [PredicateArgument] = []) throws(StrataError)
        -> PredicateTree
    {
        try parse(format, arguments, maximumBytes: PredicateLexer.maximumBytes)
    }

    /// A predicate with its arguments inserted may print as more bytes than a format may have.
    static func parse(
        _ format: String, _ arguments: [PredicateArgument] = [], maximumBytes: Int
    ) throws(StrataError) -> PredicateTree {
        var parser = try PredicateParser(format, arguments, maximumBytes: maximumBytes)
        let tree = try parser.predicate(parser.disjunction())
        guard parser.token.kind == .end else { throw parser.mistake(expected: "AND, OR or the end") }
        guard tree.depth <= PredicateTree.maximumDepth else { throw tooDeep(at: nil) }
        return tree
    }

    private init(_ format: String, _ arguments: [PredicateArgument], maximumBytes: Int) throws(StrataError) {
        lexer = try PredicateLexer(format, maximumBytes: maximumBytes)
        token = try lexer.next()
        self.arguments = arguments[...]
    }

    private mutating func disjunction() throws(StrataError) -> Node {
        try nested { parser throws(StrataError) in
            try parser.joined(by: "OR", or: "||", PredicateTree.or) { parser throws(StrataError) in
                try parser.joined(by: "AND", or: "&&", PredicateTree.and) { parser throws(StrataError) in
                    try parser.negation()
                }
            }
        }
    }

    private mutating func joined(
        by keyword: String, or sign: String, _ join: ([PredicateTree]) -> PredicateTree,
        _ part: (inout PredicateParser) throws(StrataError) -> Node
    ) throws(StrataError) -> Node {
        let first = try part(&self)
        guard isNext(keyword, or: sign) else { return first }
        var parts = [try predicate(first)]
        while isNext(keyword, or: sign) {
            try advance()
            parts.append(try predicate(part(&self)))
        }
        return .predicate(join(parts))
    }

    private mutating func negation() throws(StrataError) -> Node {
        guard isNext("NOT", or: "!") else { return try comparison() }
        try advance()
        let part = try nested { parser throws(StrataError) in try parser.negation() }
        return .predicate(.not(try predicate(part)))
    }

    private mutating func comparison() throws(StrataError) -> Node {
        let start = token.range.lowerBound
        let quantifier = try readQuantifier()
        let node = try sum()
        if case .predicate = node {
            guard quantifier == nil else { throw mistake(at: start, expected: "a value", found: "a predicate") }
            return node
        }
        let place = TextPlace(lexer.character(at: token.range.lowerBound))
        guard let relation = try readRelation() else {
            guard quantifier == nil else { throw mistake(expected: "a comparison such as =") }
            return node
        }
        let left = try expression(node, at: start)
        let options = try readOptions()
        let rightStart = token.range.lowerBound
        let right = try expression(sum(), at: rightStart)
        return .predicate(
            .comparison(
                PredicateComparison(
                    quantifier: quantifier, left: left, relation: relation, options: options, right: right,
                    place: place)))
    }

    private mutating func readQuantifier() throws(StrataError) -> PredicateComparison.Quantifier? {
        let quantifier: PredicateComparison.Quantifier? =
            switch token.keyword {
            case "ANY", "SOME": .any
            case "ALL": .all
            case "NONE": .notAny
            default: nil
            }
        if quantifier != nil { try advance() }
        return quantifier
    }

    private static let relationsBySign: [String: PredicateComparison.Relation] = [
        "=": .equal, "==": .equal, "!=": .notEqual, "<>": .notEqual, "<": .less, "<=": .lessOrEqual,
        "=<": .lessOrEqual, ">": .greater, ">=": .greaterOrEqual, "=>": .greaterOrEqual,
    ]

    private mutating func readRelation() throws(StrataError) -> PredicateComparison.Relation? {
        let relation: PredicateComparison.Relation? =
            switch token.kind {
            case .sign(let sign): Self.relationsBySign[sign]
            case .word: token.keyword.flatMap(PredicateComparison.Relation.init(rawValue:))
            default: nil
            }
        if relation != nil { try advance() }
        return relation
    }

    private mutating func readOptions() throws(StrataError) -> PredicateComparison.Options {
        guard token.kind == .sign("[") else { return [] }
        try advance()
        var options: PredicateComparison.Options = []
        guard case .word(let letters, isEscaped: false) = token.kind else {
            throw mistake(expected: "c, d or cd between brackets")
        }
        for letter in letters.lowercased() {
            guard let known = PredicateComparison.Options.letters.first(where: { $0.letter == letter }) else {
                throw mistake(expected: "c, d or cd between brackets")
            }
            options.insert(known.option)
        }
        try advance()
        try expect("]")
        return options
    }
}

extension PredicateParser {
    private static let sums = ["+": "add:to:", "-": "from:subtract:"]
    private static let products = ["*": "multiply:by:", "/": "divide:by:"]
    private static let powers = ["**": "raise:toPower:"]

    private mutating func sum() throws(StrataError) -> Node {
        try chain(Self.sums) { parser throws(StrataError) in
            try parser.chain(Self.products) { parser throws(StrataError) in
                try parser.chain(Self.powers) { parser throws(StrataError) in try parser.factor() }
            }
        }
    }

    /// Parses a chain of operators and operands, from left to right.
    private mutating func chain(
        _ functions: [String: String], _ operand: (inout PredicateParser) throws(StrataError) -> Node
    ) throws(StrataError) -> Node {
        let start = token.range.lowerBound
        var node = try operand(&self)
        var links = 0
        while case .sign(let sign) = token.kind, let function = functions[sign] {
            links += 1
            guard links < PredicateTree.maximumDepth else { throw Self.tooDeep(at: lexer.character(at: start)) }
            let left = try expression(node, at: start)
            try advance()
            let rightStart = token.range.lowerBound
            node = .expression(.function(function, [left, try expression(operand(&self), at: rightStart)]))
        }
        return node
    }

    private mutating func factor() throws(StrataError) -> Node {
        guard token.kind == .sign("-") else { return try primary() }
        try advance()
        if case .number(let text) = token.kind {
            let value = try number("-" + text)
            try advance()
            return .expression(.value(value))
        }
        let start = token.range.lowerBound
        let node = try nested { parser throws(StrataError) in try parser.factor() }
        return .expression(.function("from:subtract:", [.value(.int64(0)), try expression(node, at: start)]))
    }

    private mutating func primary() throws(StrataError) -> Node {
        let kind = token.kind
        switch kind {
        case .string(let text):
            try advance()
            return .expression(.value(.string(text)))
        case .number(let text):
            let value = try number(text)
            try advance()
            return .expression(.value(value))
        case .variable(let name):
            try advance()
            return .expression(.variable(name))
        case .placeholder(let placeholder): return .expression(try argument(placeholder))
        case .sign("("): return try parenthesis()
        case .sign("{"):
            let list = PredicateExpression.aggregate(try list(from: "{", to: "}"))
            return .expression(list.constant.map(PredicateExpression.value) ?? list)
        case .word: return try word()
        case .sign, .end: throw mistake(expected: "a key or a value")
        }
    }

    private mutating func parenthesis() throws(StrataError) -> Node {
        try advance()
        let node = try disjunction()
        try expect(")")
        return node
    }

    private mutating func list(from open: String, to close: String) throws(StrataError) -> [PredicateExpression] {
        try expect(open)
        var parts: [PredicateExpression] = []
        while token.kind != .sign(close) {
            if !parts.isEmpty { try expect(",") }
            let start = token.range.lowerBound
            let node = try nested { parser throws(StrataError) in try parser.sum() }
            parts.append(try expression(node, at: start))
        }
        try advance()
        return parts
    }

    private mutating func word() throws(StrataError) -> Node {
        guard case .word(let word, let isEscaped) = token.kind else { throw mistake(expected: "a word") }
        switch token.keyword {
        case nil: break
        case "TRUEPREDICATE": return try constant(.predicate(.constant(true)))
        case "FALSEPREDICATE": return try constant(.predicate(.constant(false)))
        case "TRUE", "YES": return try constant(.expression(.value(.int64(1))))
        case "FALSE", "NO": return try constant(.expression(.value(.int64(0))))
        case "NULL", "NIL": return try constant(.expression(.value(.null)))
        case "SELF":
            try advance()
            return .expression(token.kind == .sign(".") ? try keyPath(after: nil) : .evaluatedObject)
        case "CAST":
            let start = token.range.lowerBound
            try advance()
            return .expression(try cast(list(from: "(", to: ")"), at: start))
        default: throw mistake(expected: "a key or a value (a key that is a keyword is written #\(word))")
        }
        try advance()
        if !isEscaped, token.kind == .sign("(") || token.kind == .sign(":") {
            return .expression(try call(word))
        }
        return .expression(try keyPath(after: word))
    }

    private mutating func constant(_ node: Node) throws(StrataError) -> Node {
        try advance()
        return node
    }

    /// Parses the names after dots.
    private mutating func keyPath(after first: String?) throws(StrataError) -> PredicateExpression {
        var names = first.map { [$0] } ?? []
        while token.kind == .sign(".") {
            try advance()
            guard case .word(let name, _) = token.kind else { throw mistake(expected: "a key after the dot") }
            names.append(name)
            try advance()
        }
        return .keyPath(names.joined(separator: "."))
    }

    /// Parses `name(…)` or `name:label:(…)`.
    private mutating func call(_ first: String) throws(StrataError) -> PredicateExpression {
        var name = first
        if token.kind == .sign(":") {
            name += ":"
            try advance()
            while case .word(let label, _) = token.kind {
                try advance()
                try expect(":")
                name += label + ":"
            }
        }
        return .function(PredicateFunction.selector(name), try list(from: "(", to: ")"))
    }

    private mutating func cast(_ parts: [PredicateExpression], at start: Int) throws(StrataError) -> PredicateExpression
    {
        guard parts.count == 2, case .value(.string(let type)) = parts[1] else {
            throw mistake(at: start, expected: "CAST(value, \"type\")", found: "other operands")
        }
        guard let constant = parts[0].constant else { return .function(PredicateFunction.cast, parts) }
        guard let value = PredicateCast.cast(constant, to: type) else {
            throw mistake(at: start, expected: "a value that can be a \(type)", found: constant.typeName)
        }
        return .value(value)
    }
}

extension PredicateParser {
    private mutating func argument(_ placeholder: PredicateToken.Placeholder) throws(StrataError) -> PredicateExpression
    {
        let start = token.range.lowerBound
        let shown = lexer.excerpt(token)
        guard let argument = arguments.popFirst() else {
            throw mistake(at: start, expected: "an argument for \(shown)", found: "too few arguments")
        }
        try advance()
        guard case .value(let value) = argument else {
            guard case .unsupported(let type) = argument else { return .evaluatedObject }
            throw mistake(
                at: start, expected: "a string, date, data, number, list, reference, record or location", found: type)
        }
        switch (placeholder, value) {
        case (.object, _), (.integer, .int64), (.floatingPoint, .double): return .value(value)
        case (.floatingPoint, .int64(let number)): return .value(.double(Double(number)))
        case (.key, .string(let key)) where !key.isEmpty: return try keyPath(after: key)
        default:
            let wanted = placeholder == .key ? "a key" : placeholder == .integer ? "an integer" : "a number"
            throw mistake(at: start, expected: "\(wanted) for \(shown)", found: value.typeName)
        }
    }

    private mutating func number(_ text: String) throws(StrataError) -> PredicateValue {
        let digits = text.drop { $0 == "-" }
        for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where digits.lowercased().hasPrefix(prefix) {
            let sign = text.hasPrefix("-") ? "-" : ""
            guard let number = Int64(sign + digits.dropFirst(2), radix: radix) else {
                throw mistake(expected: "a number of 64 bits")
            }
            return .int64(number)
        }
        if let number = Int64(text) { return .int64(number) }
        guard let number = Double(text), number.isFinite else { throw mistake(expected: "a number") }
        return .double(number)
    }

    private mutating func predicate(_ node: Node) throws(StrataError) -> PredicateTree {
        guard case .predicate(let tree) = node else {
            throw mistake(expected: "a comparison such as =")
        }
        return tree
    }

    private mutating func expression(_ node: Node, at start: Int) throws(StrataError) -> PredicateExpression {
        guard case .expression(let expression) = node else {
            throw mistake(at: start, expected: "a key or a value", found: "a predicate")
        }
        return expression
    }

    private func isNext(_ keyword: String, or sign: String) -> Bool {
        token.keyword == keyword || token.kind == .sign(sign)
    }

    private mutating func advance() throws(StrataError) { token = try lexer.next() }

    private mutating func expect(_ sign: String) throws(StrataError) {
        guard token.kind == .sign(sign) else { throw mistake(expected: "“\(sign)”") }
        try advance()
    }

    private mutating func mistake(at byte: Int? = nil, expected: String, found: String? = nil) -> StrataError {
        lexer.mistake(
            at: byte ?? token.range.lowerBound, expected: expected, found: found ?? lexer.excerpt(token))
    }

    private mutating func nested<Result>(
        _ body: (inout PredicateParser) throws(StrataError) -> Result
    ) throws(StrataError) -> Result {
        guard depth < PredicateTree.maximumDepth else {
            throw Self.tooDeep(at: lexer.character(at: token.range.lowerBound))
        }
        depth += 1
        defer { depth -= 1 }
        return try body(&self)
    }

    private static func tooDeep(at character: Int?) -> StrataError {
        StrataError.predicate(
            at: character, expected: "at most \(PredicateTree.maximumDepth) levels", found: "deeper nesting")
    }
}
