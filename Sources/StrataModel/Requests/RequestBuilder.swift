/// Builds a request for records by their names.
///
/// ```swift
/// var builder = RequestBuilder(DatabaseID(.private))
/// builder.save(RecordID("note-1", zone: notes), type: "Note", fields: ["text": .string("Buy milk")])
/// try store.modify(builder.request, as: anna)
/// ```
public struct RequestBuilder: Sendable {
    private var names = RequestNames()
    private var body: ModifyRecordsRequest
    private let database: DatabaseID

    public init(
        _ database: DatabaseID, policy: SavePolicy = .ifServerRecordUnchanged, isAtomic: Bool = true,
        clientToken: [UInt8]? = nil
    ) {
        self.database = database
        body = ModifyRecordsRequest(policy: policy, isAtomic: isAtomic, clientToken: clientToken)
    }

    public var request: Request { Request(database: database, names: names, .modifyRecords(body)) }

    /// - Parameters:
    ///   - base: The version that the client has seen; nil for a new record.
    ///   - parent: The name of a record of the same zone.
    ///   - fields: The values to send; nil removes a key.
    public mutating func save(
        _ id: RecordID, type: String, base: Version? = nil, parent: LinkedName = .kept,
        fields: KeyValuePairs<String, FieldValue?> = [:]
    ) {
        let zone = names.ordinal(of: id.zone)
        var save = ModifyRecordsRequest.Save(
            RecordKey(zone: zone, name: id.name), type: names.ordinal(ofType: type), base: base)
        switch parent {
        case .kept: break
        case .removed: save.parent = .removed
        case .set(let name): save.parent = .set(RecordKey(zone: zone, name: name))
        }
        save.fields = fields.map { FieldChange(names.ordinal(ofKey: $0.key), $0.value) }
        save.fields.sort { $0.field < $1.field }
        body.saves.append(save)
    }

    public mutating func delete(_ id: RecordID) {
        body.deletes.append(RecordKey(zone: names.ordinal(of: id.zone), name: id.name))
    }

    /// Returns a value that refers to a record, for this request only.
    public mutating func reference(
        to id: RecordID, action: FieldValue.Reference.Action = .none
    ) -> FieldValue {
        .reference(.init(RecordKey(zone: names.ordinal(of: id.zone), name: id.name), action: action))
    }

    /// The change to a record's link to another record of its zone.
    public enum LinkedName: Sendable, Hashable {
        case kept
        case removed
        case set(String)
    }
}

extension Request {
    /// Creates a request that saves and deletes zones of the requesting user's private database.
    ///
    /// ```swift
    /// try store.modify(.zones(saving: [ZoneID("Notes")]), as: anna)
    /// ```
    public static func zones(
        saving saves: [ZoneID] = [], deleting deletes: [ZoneID] = [], encryptionScope: EncryptionScope = .record,
        in database: DatabaseID = DatabaseID(.private)
    ) -> Request {
        var names = RequestNames()
        let body = ModifyZonesRequest(
            saves: saves.map { .init(names.ordinal(of: $0), encryptionScope: encryptionScope) },
            deletes: deletes.map { names.ordinal(of: $0) })
        return Request(database: database, names: names, .modifyZones(body))
    }
}
