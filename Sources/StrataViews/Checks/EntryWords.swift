import StrataModel

/// The words in which maintainers describe entries.
struct EntryWords {
    /// Resolves ordinals to names.
    let names: any NameResolver

    /// Returns a name, or its ordinal if the name is not known.
    func name(_ namespace: Namespace, _ ordinal: UInt64) -> String {
        (try? names.name(namespace, ordinal))??.text ?? "\(ordinal)"
    }

    func zone(_ ordinal: UInt64) -> String { "zone \(name(.zone, ordinal))" }

    func record(at key: UnsafeRawBufferPointer) throws -> String {
        var reader = KeyReader(key)
        let zone = zone(try reader.readNumber())
        return "record \(try text(packed: [UInt8](try reader.readLastText()))) of \(zone)"
    }

    /// Returns the text of a packed name.
    func text(packed name: [UInt8]) throws -> String {
        try name.withUnsafeBytes { try PackedName.withName(of: $0) { text($0) } }
    }

    func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }

    static func noun(_ number: UInt8) -> String { Namespace(rawValue: number)?.noun ?? "namespace \(number)" }
}
