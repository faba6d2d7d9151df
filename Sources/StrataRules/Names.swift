import StrataModel

/// What names may be (docs/rules.md §5).
enum NameRules {
    static let maximumCharacters = SchemaName.maximumCharacters

    /// Names of records and zones: 1 to 255 characters, as Unicode scalars, without control characters.
    static func isName(_ name: String) -> Bool {
        if isPlain(name) { return true }
        return isLength(name)
            && name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }

    /// Printable ASCII, as nearly all names are.
    private static func isPlain(_ name: String) -> Bool {
        let utf8 = name.utf8
        return !utf8.isEmpty && utf8.count <= maximumCharacters && utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
    }

    static func isLength(_ name: String) -> Bool {
        !name.isEmpty && (name.utf8.count <= maximumCharacters || name.utf16.count <= maximumCharacters)
    }
}

/// Gives ordinals to names that have none, in the order in which a commit first uses them.
struct NameWriter {
    let view: RulesView
    private(set) var new: [InternedName] = []
    private var known: [InternedName.Name: UInt64] = [:]
    /// By namespace, once something is new; 0 is not known yet.
    private var next: [UInt64] = []

    init(_ view: RulesView) { self.view = view }

    mutating func ordinal(of name: InternedName.Name) throws -> UInt64 {
        if let ordinal = try view.ordinal(of: name) { return ordinal }
        if let ordinal = known[name] { return ordinal }
        let namespace = Int(name.namespace)
        if next.isEmpty { next = Array(repeating: 0, count: 7) }
        if next[namespace] == 0 { next[namespace] = try view.nextOrdinal(name.namespace) }
        let ordinal = next[namespace]
        next[namespace] += 1
        known[name] = ordinal
        new.append(InternedName(ordinal: ordinal, name: name))
        return ordinal
    }
}
