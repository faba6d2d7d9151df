import StrataModel

/// The rules for names (docs/rules.md §5).
enum NameRules {
    static let maximumCharacters = SchemaName.maximumCharacters

    /// Returns true for a valid name of a record or zone: 1 to 255 UTF-16 units without control characters.
    static func isName(_ name: String) -> Bool {
        if isPlain(name) { return true }
        return isLength(name)
            && name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    /// Returns true for printable ASCII of valid length, which nearly all names are.
    private static func isPlain(_ name: String) -> Bool {
        let utf8 = name.utf8
        return !utf8.isEmpty && utf8.count <= maximumCharacters && utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
    }

    static func isLength(_ name: String) -> Bool {
        !name.isEmpty && (name.utf8.count <= maximumCharacters || name.utf16.count <= maximumCharacters)
    }
}
