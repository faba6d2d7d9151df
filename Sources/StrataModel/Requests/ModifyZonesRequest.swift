/// A request to save and delete zones, as ordinals of the request's own names.
package struct ModifyZonesRequest: Sendable, Hashable {
    package struct Save: Sendable, Hashable {
        package var zone: UInt64
        package var encryptionScope: EncryptionScope

        package init(_ zone: UInt64, encryptionScope: EncryptionScope = .record) {
            self.zone = zone
            self.encryptionScope = encryptionScope
        }
    }

    package var saves: [Save]
    package var deletes: [UInt64]

    package init(saves: [Save] = [], deletes: [UInt64] = []) {
        self.saves = saves
        self.deletes = deletes
    }

    func encode(into writer: inout ByteWriter) throws {
        try writer.appendList(saves) { save, writer in
            writer.appendVarint(save.zone)
            writer.append(save.encryptionScope.rawValue)
        }
        try writer.appendList(deletes) { $1.appendVarint($0) }
    }

    init(from reader: inout ByteReader) throws {
        saves = try reader.readList("the number of saves") { reader in
            let zone = try reader.readVarint("a zone")
            return Save(zone, encryptionScope: try reader.readNumbered("an encryption scope"))
        }
        deletes = try reader.readList("the number of deletes") { try $0.readVarint("a zone") }
        var fields = KeyedFields(restOf: &reader)
        try fields.skipAll()
    }
}
