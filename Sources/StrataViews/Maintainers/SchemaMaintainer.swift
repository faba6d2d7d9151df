import StrataModel
import StrataTree

extension ViewTree {
    package static let schema = TreeID(rawValue: 6)
}

/// The schema of each record type: type → fields and grants. The catalog of indexes follows it.
enum SchemaMaintainer: EventRowMaintainer {
    typealias Body = SchemaChangedEvent

    static let tree = ViewTree.schema
    static let name = "schema"

    static func key(of event: Body) -> [UInt8] { ViewKeys.numbers(event.type) }

    /// Keeps the fields that the event does not name, and the grants if the event has none.
    static func apply(_ kind: EventKind, _ body: UnsafeRawBufferPointer, at place: EventPlace, to fold: Fold) throws {
        var event = try Body(decoding: body)
        var fields: [UInt32: SchemaField] = [:]
        let before = try fold.fork.declaration(of: event.type)
        for field in (before?.fields ?? []) + event.fields { fields[field.field] = field }
        if event.grants.isEmpty { event.grants = before?.grants ?? [] }
        event.fields = fields.values.sorted { $0.field < $1.field }
        try Array(try event.event().body).withUnsafeBytes { try put(event, $0, at: place, in: fold) }
        try IndexCatalog.follow(event.fields, of: event.type, in: fold.fork)
        fold.records.forgetIndexes()
    }

    static func content(of event: Body, in fold: Fold) throws -> UInt128? {
        var sum: UInt128 = 0
        for field in event.fields {
            let kind = UInt64(field.kind.rawValue) | (field.isEncrypted ? 0x80 : 0)
            let name = try fold.records.names.hash(.field, UInt64(field.field), in: fold.fork)
            sum &+= DigestHash.hash(name, words: [kind, UInt64(field.indexes.rawValue)])
        }
        for grant in event.grants {
            // A role has no ordinal, so its text is hashed like a name without a namespace.
            let role = DigestHash.hash(0, text: grant.role)
            sum &+= DigestHash.hash(role, words: [UInt64(grant.permissions.rawValue)])
        }
        let seed = seed(try fold.records.names.hash(.recordType, event.type, in: fold.fork))
        return DigestHash.hash(seed, words: [sum.low, sum.high])
    }

    static func describe(_ key: UnsafeRawBufferPointer, _ words: EntryWords) throws -> String {
        var reader = KeyReader(key)
        return "schema of type \(words.name(.recordType, try reader.readNumber()))"
    }
}
