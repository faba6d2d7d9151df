import StrataModel
import StrataStore

extension DatabaseCall {
    /// Returns the sealed form of a value, for sending.
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
