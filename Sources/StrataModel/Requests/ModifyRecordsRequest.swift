/// A request to save and delete records. Its ordinals, also those in values, are those of the request's own names.
package struct ModifyRecordsRequest: Sendable, Hashable {
    package struct Save: Sendable, Hashable {
        package var record: RecordKey
        package var type: UInt64
        /// The version that the client's change tag denotes.
        package var base: Version?
        package var parent: LinkChange
        package var share: LinkChange
        /// The sent keys, in the order of their ordinals; a key without a value is removed.
        package var fields: [FieldChange]
        /// The changes of a share's own state; nil for every other record.
        package var sharing: ShareChange?

        package init(
            _ record: RecordKey, type: UInt64, base: Version? = nil, parent: LinkChange = .kept,
            share: LinkChange = .kept, fields: [FieldChange] = [], sharing: ShareChange? = nil
        ) {
            self.record = record
            self.type = type
            self.base = base
            self.parent = parent
            self.share = share
            self.fields = fields
            self.sharing = sharing
        }
    }

    package var saves: [Save]
    package var deletes: [RecordKey]
    package var policy: SavePolicy
    package var isAtomic: Bool
    package var clientToken: [UInt8]?

    package init(
        saves: [Save] = [], deletes: [RecordKey] = [], policy: SavePolicy = .ifServerRecordUnchanged,
        isAtomic: Bool = true, clientToken: [UInt8]? = nil
    ) {
        self.saves = saves
        self.deletes = deletes
        self.policy = policy
        self.isAtomic = isAtomic
        self.clientToken = clientToken
    }

    private static let clientToken: UInt64 = 2

    func encode(into writer: inout ByteWriter) throws {
        writer.append(policy.rawValue | (isAtomic ? 4 : 0))
        var builder = FieldTableBuilder()
        try writer.appendList(saves) { save, writer in
            try writer.appendMeasured { try save.encode(into: &$0, with: &builder) }
        }
        try writer.appendList(deletes) { record, writer in
            writer.appendVarint(record.zone)
            try writer.append(name: record.name)
        }
        let limit = ClientTokenEvent.maximumBytes
        try StrataError.check("a client token's bytes", count: clientToken?.count ?? 0, atMost: limit)
        writer.appendField(Self.clientToken, bytes: clientToken)
    }

    init(from reader: inout ByteReader) throws {
        let flags = try reader.read(UInt8.self, "the flags of a request")
        guard flags < 8, let policy = SavePolicy(rawValue: flags & 3) else {
            throw StrataError.newer("the flags of a request", flags, reader)
        }
        self.init(policy: policy, isAtomic: flags & 4 != 0)
        saves = try reader.readList("the number of saves") { reader in
            let length = try reader.readVarint("the length of a save")
            return try Save(from: try reader.readReader(count: length, "a save"))
        }
        deletes = try reader.readList("the number of deletes") { reader in
            let zone = try reader.readVarint("a record's zone")
            return RecordKey(zone: zone, name: try reader.readName("a record name"))
        }
        var fields = KeyedFields(restOf: &reader)
        try fields.read(only: Self.clientToken) {
            clientToken = try $0.bytes("a client token", atMost: ClientTokenEvent.maximumBytes)
        }
    }
}

extension ModifyRecordsRequest.Save {
    private static let base: UInt64 = 2
    private static let parent: UInt64 = 4
    private static let share: UInt64 = 6
    private static let sharing: UInt64 = 8

    fileprivate func encode(into writer: inout ByteWriter, with builder: inout FieldTableBuilder) throws {
        writer.appendVarint(record.zone)
        writer.appendVarint(type)
        try writer.append(name: record.name)
        try writer.appendMeasured { writer in
            writer.appendField(Self.base, base?.packed ?? 0)
            try writer.appendField(Self.parent, parent)
            try writer.appendField(Self.share, share)
            if let sharing { try writer.appendField(Self.sharing) { try sharing.encode(into: &$0) } }
        }
        try builder.append(fields)
        builder.finish(into: &writer)
    }

    fileprivate init(from reader: ByteReader) throws {
        var reader = reader
        let zone = try reader.readVarint("a record's zone")
        let type = try reader.readVarint("a record's type")
        self.init(RecordKey(zone: zone, name: try reader.readName("a record name")), type: type)
        var fields = try KeyedFields(from: &reader, "the fields of a save")
        while var field = try fields.next() {
            switch field.key {
            case Self.base: base = try field.version()
            case Self.parent: parent = try field.linkChange()
            case Self.share: share = try field.linkChange()
            case Self.sharing:
                sharing = try ShareChange(from: &field.value)
                try field.value.expectEnd("the changes of a share")
            default: try field.skip()
            }
        }
        let table = reader.position..<reader.position + reader.remaining
        self.fields = try FieldTable(reader.bytes, in: table).changes()
    }
}
