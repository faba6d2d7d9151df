/// Writes a predicate as text that parses to the same tree.
package struct PredicateWriter {
    private(set) var text = ""

    package static func text(of tree: PredicateTree) -> String {
        var writer = PredicateWriter()
        writer.append(tree)
        return writer.text
    }

    private mutating func append(_ tree: PredicateTree) {
        switch tree {
        case .constant(let isTrue): text += isTrue ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .comparison(let comparison): append(comparison)
        case .and(let parts): append(parts, joinedBy: " AND ")
        case .or(let parts): append(parts, joinedBy: " OR ")
        case .not(let part):
            text += "NOT "
            appendPart(part)
        }
    }

    private mutating func append(_ parts: [PredicateTree], joinedBy separator: String) {
        for (index, part) in parts.enumerated() {
            if index > 0 { text += separator }
            appendPart(part)
        }
    }

    private mutating func appendPart(_ part: PredicateTree) {
        let needsParentheses =
            switch part {
            case .and, .or: true
            case .constant, .comparison, .not: false
            }
        if needsParentheses { text += "(" }
        append(part)
        if needsParentheses { text += ")" }
    }

    private mutating func append(_ comparison: PredicateComparison) {
        if let quantifier = comparison.quantifier { text += quantifier.rawValue + " " }
        append(comparison.left)
        text += " " + comparison.relation.rawValue
        let letters = PredicateComparison.Options.letters.filter { comparison.options.contains($0.option) }
        if !letters.isEmpty { text += "[" + String(letters.map(\.letter)) + "]" }
        text += " "
        append(comparison.right)
    }

    private mutating func append(_ expression: PredicateExpression) {
        switch expression {
        case .value(let value): append(value)
        case .keyPath(let path): appendPath(path)
        case .evaluatedObject: text += "SELF"
        case .variable(let name): text += "$" + name
        case .aggregate(let parts): append(parts, between: "{", and: "}")
        case .function(let name, let parts):
            if let sign = PredicateFunction.arithmetic[name], parts.count == 2 {
                text += "("
                append(parts[0])
                text += " \(sign) "
                append(parts[1])
                text += ")"
            } else {
                text += name
                append(parts, between: "(", and: ")")
            }
        }
    }

    private mutating func append(_ parts: [PredicateExpression], between open: String, and close: String) {
        text += open
        for (index, part) in parts.enumerated() {
            if index > 0 { text += ", " }
            append(part)
        }
        text += close
    }

    private mutating func append(_ value: PredicateValue) {
        switch value {
        // Opaque values have no textual form, and no text can produce one.
        case .null, .opaque: text += "nil"
        case .string(let string): appendQuoted(string)
        case .int64(let number): text += "\(number)"
        case .double(let number): text += number.isFinite ? "\(number)" : "CAST(\"\(number)\", \"NSNumber\")"
        case .date(let seconds): appendCast(.double(seconds), "NSDate")
        case .data(let bytes): appendCast(.string(Self.hex(bytes)), "NSData")
        case .location(let latitude, let longitude):
            appendCast(.list([.double(latitude), .double(longitude)]), "CLLocation")
        case .reference(let target):
            let names = [target.recordName, target.zoneName, target.ownerName]
            appendCast(.list(names.map(PredicateValue.string)), "CKReference")
        case .list(let values): append(values.map(PredicateExpression.value), between: "{", and: "}")
        }
    }

    private mutating func appendCast(_ value: PredicateValue, _ type: String) {
        text += "CAST("
        append(value)
        text += ", \"\(type)\")"
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef")
        return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }

    private mutating func appendPath(_ path: String) {
        // An operator or keyword must be escaped, and a path that is not made of words quoted.
        let names = path.split(separator: ".", omittingEmptySubsequences: false)
        let areWords = names.enumerated().allSatisfy { index, name in Self.isWord(name, isFirst: index == 0) }
        guard areWords else {
            text += "#"
            return appendQuoted(path)
        }
        if PredicateToken.keywords.contains(names[0].uppercased()) { text += "#" }
        text += path
    }

    private static func isWord(_ name: Substring, isFirst: Bool) -> Bool {
        let bytes = (name.first == "@" && !isFirst ? name.dropFirst() : name).utf8
        guard let first = bytes.first, PredicateLexer.isWordStart(first) else { return false }
        return bytes.allSatisfy { PredicateLexer.isWordStart($0) || (0x30...0x39).contains($0) }
    }

    private mutating func appendQuoted(_ string: String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
