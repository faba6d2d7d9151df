import StrataModel
import StrataTree

extension ViewTree {
    /// What a tree is called (docs/format-keys.md §3).
    public static func name(of id: TreeID) -> String { words[id] ?? "tree \(id.rawValue)" }

    private static let words: [TreeID: String] = [
        records: "records", zones: "zones", zoneChanges: "zone changes", references: "references",
        subscriptions: "subscriptions", schema: "schema", users: "users", devices: "devices",
        clientTokens: "client tokens", names: "names", ordinals: "ordinals", databases: "databases",
        expiredTokens: "expired tokens", subscriptionContents: "subscription contents", deliveries: "deliveries",
        index: "index", indexCatalog: "indexes", firedSubscriptions: "fired subscriptions", assets: "assets",
    ]
}

/// Says in words which entry of the trees a key is: `record milk of zone Notes`.
public struct ViewEntryText<Trees: TreeReading> {
    private let trees: Trees

    /// - Parameter trees: what ordinals stand for.
    public init(_ trees: Trees) { self.trees = trees }

    /// Of bytes that are no key of the tree, only the bytes.
    public func text(_ id: TreeID, _ key: [UInt8]) -> String {
        let text = try? key.withUnsafeBytes { try words(of: id, $0) }
        return text.flatMap { $0 } ?? "\(ViewTree.name(of: id)): \(key.map { hexadecimal($0) }.joined())"
    }

    private func words(of id: TreeID, _ key: UnsafeRawBufferPointer) throws -> String? {
        var reader = KeyReader(key)
        switch id {
        case ViewTree.records: return try record(key)
        case ViewTree.zones:
            _ = try reader.readNumber()
            return zone(try reader.readNumber())
        case ViewTree.zoneChanges:
            _ = try reader.readNumber()
            let offset = try reader.readNumber()
            return "change by commit \(offset) of \(zone(try reader.readNumber()))"
        case ViewTree.references:
            let row = try ReferenceRow(key)
            let source = try row.sourceKey.withUnsafeBytes { try record($0) }
            return "reference from \(source) to record \(string(row.targetName)) of \(zone(row.targetZone))"
        case ViewTree.index: return try indexRow(key)
        case ViewTree.indexCatalog: return index(try IndexID(key: key))
        case ViewTree.assets: return "asset " + key.map { hexadecimal($0) }.joined()
        case ViewTree.ordinals:
            let noun = Self.noun(try reader.readByte())
            return "ordinal of a \(noun) whose key ends in \(string(key.suffix(40)))"
        case ViewTree.names:
            let namespace = try reader.readByte()
            let ordinal = try reader.readNumber()
            return "name of \(Self.noun(namespace)) \(ordinal)"
        default: return try others(id, &reader)
        }
    }

    /// Of what users and devices have.
    private func others(_ id: TreeID, _ reader: inout KeyReader) throws -> String? {
        switch id {
        case ViewTree.subscriptions:
            _ = try reader.readNumber()
            let user = name(.user, try reader.readNumber())
            return "subscription \(string(try reader.readLastText())) of user \(user)"
        case ViewTree.subscriptionContents:
            _ = try reader.readNumber()
            let user = name(.user, try reader.readNumber())
            try reader.skip(MemoryLayout<UInt128>.size)
            return "content of subscription \(string(try reader.readLastText())) of user \(user)"
        case ViewTree.firedSubscriptions:
            let user = name(.user, try reader.readNumber())
            _ = try reader.readNumber()
            return "fired subscription \(string(try reader.readLastText())) of user \(user)"
        case ViewTree.schema: return "schema of type \(name(.recordType, try reader.readNumber()))"
        case ViewTree.users: return "user \(name(.user, try reader.readNumber()))"
        case ViewTree.devices: return "device \(name(.device, try reader.readNumber()))"
        case ViewTree.deliveries: return "what device \(name(.device, try reader.readNumber())) was told of"
        case ViewTree.clientTokens:
            let zone = zone(try reader.readNumber())
            return "client token of device \(name(.device, try reader.readNumber())) for \(zone)"
        case ViewTree.databases: return "database \(try reader.readNumber())"
        case ViewTree.expiredTokens: return "expired tokens of database \(try reader.readNumber())"
        default: return nil
        }
    }

    private func indexRow(_ key: UnsafeRawBufferPointer) throws -> String {
        let (id, byteCount) = try IndexID.start(ofRow: key)
        let source = try IndexRow(key, behind: byteCount).recordKey.withUnsafeBytes { try record($0) }
        return "\(index(id)), row of \(source)"
    }

    private func index(_ id: IndexID) -> String {
        let subject = id.subject.field.map { name(.field, UInt64($0)) } ?? "subject \(id.subject.rawValue)"
        return "index of \(name(.recordType, id.type)).\(subject) (\(id.form))"
    }

    private func record(_ key: UnsafeRawBufferPointer) throws -> String {
        var reader = KeyReader(key)
        let zone = zone(try reader.readNumber())
        return "record \(string(try reader.readLastText())) of \(zone)"
    }

    private func zone(_ ordinal: UInt64) -> String { "zone \(name(.zone, ordinal))" }

    private func string(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }

    private static func noun(_ number: UInt8) -> String {
        Namespace(rawValue: number)?.noun ?? "namespace \(number)"
    }

    /// A name, or its ordinal where it is not known.
    private func name(_ namespace: Namespace, _ ordinal: UInt64) -> String {
        (try? trees.name(namespace, ordinal))??.text ?? "\(ordinal)"
    }
}
