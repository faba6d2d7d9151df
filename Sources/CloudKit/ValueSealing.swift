import StrataModel
import StrataStore

/// What becomes of a record of which an encrypted value cannot be read.
enum SealedReading {
    /// It cannot be had (docs/cloudkit.md, "Encrypted values").
    case required
    /// It is as if those keys had not been asked for: what a save made of a record is no error of that save.
    case leftOut
}

extension RecordFields {
    /// The fields of a stored record, what is encrypted opened at once: later nobody could be told of one that does
    /// not open.
    ///
    /// - Throws: ``CKError`` `internalError`, naming the record and the key.
    init(
        _ record: Record, me: String, in zone: CKRecordZoneID, isPartial: Bool, _ reading: SealedReading
    ) throws {
        var opened: [String: FieldValue] = [:]
        var isPartial = isPartial
        try record.forEachSealedField { key, value in
            switch (value, reading) {
            case (.success(let value), _): opened[key] = value
            case (.failure, .leftOut): isPartial = true
            case (.failure(let error), .required): throw CKError(engine: error)
            }
        }
        self.init(.stored(record, me: me), in: zone, isPartial: isPartial, opened: opened)
    }
}

extension DatabaseCall {
    /// What is sent of an encrypted value.
    ///
    /// - Throws: ``CKError`` `invalidArguments` in the public database (B21).
    func sealed(_ value: FieldValue, for key: String, of id: CKRecord.ID) throws -> FieldValue {
        do {
            return try client.opened().store.seal(
                value, for: key, of: id.model(for: client.userRecordName), in: database, as: client.actor)
        } catch {
            throw CKError(engine: error)
        }
    }
}
