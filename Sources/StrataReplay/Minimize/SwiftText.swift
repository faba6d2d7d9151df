import StrataModel

/// Pieces of Swift source, laid out as swift-format does.
enum SwiftText {
    private static let maximumColumns = 120

    static func indented(_ line: String, _ count: Int) -> String { String(repeating: " ", count: count) + line }

    /// Returns a call on one line, or with one argument per line if that is too long.
    static func call(_ name: String, _ arguments: [String], _ indentation: Int, suffix: String = "") -> [String] {
        let line = indented("\(name)(\(arguments.joined(separator: ", ")))\(suffix)", indentation)
        if line.count <= maximumColumns { return [line] }
        var lines = [indented("\(name)(", indentation)]
        for (index, argument) in arguments.enumerated() {
            let isLast = index == arguments.count - 1
            lines.append(indented(argument + (isLast ? "" : ","), indentation + 4))
        }
        lines.append(indented(")\(suffix)", indentation))
        return lines
    }

    /// Returns `target = "text"`. A long text is one multiline literal, since compilers are slow to concatenate many.
    static func assignment(of text: String, to target: String, _ indentation: Int) -> [String] {
        let line = indented("\(target) = \(literal(text))", indentation)
        if line.count <= maximumColumns { return [line] }
        let room = maximumColumns - indentation - 5
        var lines = [indented("\(target) = \"\"\"", indentation)]
        var piece = ""
        for character in text {
            let escaped = escaped(character.unicodeScalars)
            if piece.count + escaped.count > room {
                lines.append(indented(piece + "\\", indentation + 4))
                piece = ""
            }
            piece += escaped
        }
        return lines + [piece, "\"\"\""].map { indented($0, indentation + 4) }
    }

    /// Returns `target = [ … ]`, with one element per line if that is too long.
    static func assignment(of elements: [String], to target: String, _ indentation: Int) -> [String] {
        let line = indented("\(target) = [\(elements.joined(separator: ", "))]", indentation)
        if line.count <= maximumColumns { return [line] }
        return [indented("\(target) = [", indentation)] + elements.map { indented($0 + ",", indentation + 4) }
            + [indented("]", indentation)]
    }

    /// Returns a comment, wrapped to the width of a line.
    static func comment(_ text: String, indentation: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        let words = text.split(whereSeparator: \.isNewline).joined(separator: " ").split(separator: " ")
        for word in words.map({ spelt($0.unicodeScalars) }) {
            if !line.isEmpty, indentation + 4 + line.count + word.count > maximumColumns {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return (lines + [line]).map { indented("// \($0)", indentation) }
    }

    static func literal(_ text: String) -> String { "\"\(escaped(text.unicodeScalars))\"" }

    private static func escaped(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        var text = ""
        for scalar in scalars {
            switch scalar {
            case "\"", "\\": text += "\\\(scalar)"
            case "\n": text += "\\n"
            case "\t": text += "\\t"
            case "\r": text += "\\r"
            default: text.unicodeScalars += spelt(CollectionOfOne(scalar)).unicodeScalars
            }
        }
        return text
    }

    private static func spelt(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        var text = ""
        for scalar in scalars {
            if hides(scalar) {
                text += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    /// Returns true for a scalar that is invisible or changes how the text around it is displayed.
    private static func hides(_ scalar: Unicode.Scalar) -> Bool {
        [.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
    }

    /// Returns a literal that Swift reads as exactly the same number.
    static func literal(_ number: Double) -> String {
        guard number.isFinite, number.sign == .plus || number != 0 else {
            return "Double(bitPattern: \(number.bitPattern))"
        }
        return "\(number)"
    }
}

/// Unique names for the declarations of a program.
struct SwiftNames {
    /// Names that the program declares itself, and reserved words.
    private static let reserved: Set<String> = [
        "answer", "as", "associatedtype", "async", "await", "break", "case", "catch", "class", "clock", "continue",
        "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for",
        "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "isFound", "let", "names", "nil",
        "operator", "options", "precedencegroup", "private", "protocol", "public", "query", "question", "repeat",
        "rethrows", "return", "self", "static", "store", "struct", "subscript", "super", "switch", "throw", "throws",
        "true", "try", "typealias", "var", "where", "while",
    ]
    /// Types that the program uses, and reserved words.
    private static let reservedTypes: Set<String> = [
        "Any", "CKQuery", "CKRecord", "CKRecordZone", "CKShare", "CLLocation", "CLLocationCoordinate2D", "CloudStore",
        "Data",
        "Date", "Double", "NSPredicate", "Self", "String", "UInt8",
    ]
    private static let maximumCount = 40

    private var used: Set<String> = []

    /// Returns a unique name: `milk5` for `milk` and `5`, or one with `item` first if it would not begin with a letter.
    mutating func variable(_ parts: String...) -> String {
        let words = parts.flatMap { Self.words(of: $0) }
        var name = words.first?.lowercasedFirst ?? ""
        name += words.dropFirst().map(\.uppercasedFirst).joined()
        if !(name.first?.isLetter ?? false) { name = "item" + name.uppercasedFirst }
        name = String(name.prefix(Self.maximumCount))
        var candidate = Self.reserved.contains(name) ? name + "Item" : name
        var count = 1
        while !used.insert(candidate).inserted {
            count += 1
            candidate = "\(name)Copy\(count)"
        }
        return candidate
    }

    /// Returns `LostUpdate` for `lost-update`.
    static func typeName(of text: String) -> String {
        let name = words(of: text).map(\.uppercasedFirst).joined()
        if reservedTypes.contains(name) { return name + "History" }
        return name.first?.isLetter ?? false ? String(name.prefix(maximumCount)) : "Minimal" + name
    }

    private static func words(of text: String) -> [String] {
        text.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }.map(String.init)
    }
}

extension String {
    fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
    fileprivate var uppercasedFirst: String { prefix(1).uppercased() + dropFirst() }
}
