import StrataModel

/// Keys that are made in several places.
enum ViewKeys {
    static func name(_ namespace: Namespace, _ ordinal: UInt64) -> [UInt8] {
        var key = KeyWriter()
        key.append(byte: namespace.rawValue)
        key.append(number: ordinal)
        return key.bytes
    }

    static func ordinal(of name: InternedName.Name) -> [UInt8] {
        var key = KeyWriter()
        key.append(byte: name.namespace.rawValue)
        switch name {
        case .user(let text), .recordType(let text), .field(let text): key.append(lastName: text)
        case .device(let user, let text):
            key.append(number: user)
            key.append(lastName: text)
        case .database(let scope, let owner):
            key.append(byte: scope.rawValue)
            key.append(number: owner)
        case .zone(let database, let owner, let text):
            key.append(number: database)
            key.append(number: owner)
            key.append(lastName: text)
        }
        return key.bytes
    }

    static func zone(_ database: UInt64, _ zone: UInt64) -> [UInt8] {
        var key = KeyWriter()
        key.append(number: database)
        key.append(number: zone)
        return key.bytes
    }

    static func zoneChange(_ database: UInt64, _ offset: UInt64, _ zone: UInt64) -> [UInt8] {
        var key = KeyWriter()
        key.append(number: database)
        key.append(number: offset)
        key.append(number: zone)
        return key.bytes
    }

    static func record(_ record: RecordKey) -> [UInt8] {
        var key = KeyWriter()
        key.append(number: record.zone)
        key.append(lastName: record.name)
        return key.bytes
    }

    /// Returns the common prefix of the keys of all references of a kind to a record; with `behind`, the first key
    /// after them.
    static func reference(_ target: RecordKey, _ kind: ReferenceKind, behind: Bool = false) -> KeyWriter {
        var key = KeyWriter()
        key.append(number: target.zone)
        key.append(name: target.name)
        key.append(byte: kind.rawValue + (behind ? 1 : 0))
        return key
    }

    /// The keys that begin with a number.
    static func withBounds<Result>(
        ofNumber number: UInt64, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        let lower = ViewKeys.numbers(number)
        // No key continues with FF where a number ends: numbers order as their values do.
        let upper = number == .max ? [0xFF] : ViewKeys.numbers(number + 1)
        return try lower.withUnsafeBytes { lower in try upper.withUnsafeBytes { try body(lower, $0) } }
    }

    static func numbers(_ numbers: UInt64...) -> [UInt8] {
        var key = KeyWriter()
        for number in numbers { key.append(number: number) }
        return key.bytes
    }
}

extension RecordKey {
    /// The key that a record has in ``ViewTree/records``.
    public static func viewKey(zone: UInt64, name: [UInt8]) -> [UInt8] {
        var key = KeyWriter()
        key.append(number: zone)
        name.withUnsafeBytes { key.append(lastName: $0) }
        return key.bytes
    }
}
