import StrataModel

/// Requests for plain records, as short as tests like them.
enum NoteRequest {
    static let database = DatabaseID(.private)
    static let zone = ZoneID("Notes")

    /// Saves a note for each name, all with the same values.
    static func saving(
        _ names: [String], _ fields: [(String, FieldValue)] = [("title", .string("x"))], in zone: ZoneID = zone,
        policy: SavePolicy = .allKeys
    ) -> Request {
        var request = Request(database: database, .modifyRecords(ModifyRecordsRequest()))
        let zone = request.names.ordinal(of: zone)
        let type = request.names.ordinal(ofType: "Note")
        let changes = fields.map { FieldChange(request.names.ordinal(ofKey: $0.0), $0.1) }
        request.content = .modifyRecords(
            ModifyRecordsRequest(
                saves: names.map { .init(RecordKey(zone: zone, name: $0), type: type, fields: changes) },
                policy: policy))
        return request
    }

    static func deleting(_ names: [String], in zone: ZoneID = zone) -> Request {
        var request = Request(database: database, .modifyRecords(ModifyRecordsRequest()))
        let zone = request.names.ordinal(of: zone)
        request.content = .modifyRecords(
            ModifyRecordsRequest(deletes: names.map { RecordKey(zone: zone, name: $0) }))
        return request
    }

    static func makingZones(_ zones: [ZoneID] = [zone]) -> Request {
        var request = Request(database: database, .modifyZones(ModifyZonesRequest()))
        request.content = .modifyZones(
            ModifyZonesRequest(saves: zones.map { .init(request.names.ordinal(of: $0)) }))
        return request
    }

    static func deletingZones(_ zones: [ZoneID]) -> Request {
        var request = Request(database: database, .modifyZones(ModifyZonesRequest()))
        request.content = .modifyZones(ModifyZonesRequest(deletes: zones.map { request.names.ordinal(of: $0) }))
        return request
    }

    static func id(_ name: String, in zone: ZoneID = zone) -> RecordID { RecordID(name, zone: zone) }
}
