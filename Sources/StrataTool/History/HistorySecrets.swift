import StrataModel
import StrataStore

/// Decrypts the values in the histories of records.
final class HistorySecrets {
    let secrets = Secrets()
    private let store: Store
    private let names: KnownNames

    /// - Throws: ``StrataError`` if the store cannot be opened for reading.
    init(_ path: String, _ names: KnownNames) throws {
        store = try StateAccess.open(path).store
        self.names = names
    }

    deinit { try? store.close() }

    /// Returns the changes of a step with decrypted values.
    func revealed(_ step: TimelineStep, of record: RecordKey) throws -> TimelineStep {
        var step = step
        step.changes = try step.changes.map { change in
            try change.mappingValues { try revealed($0, change.key, of: record) }
        }
        return step
    }

    /// Returns the value of a key, decrypted if that is possible.
    func revealed(_ value: FieldValue, _ key: TimelineChange.Key, of record: RecordKey) throws -> FieldValue {
        guard value.kind.isSealed, case .field(let ordinal) = key, let name = names.field(UInt64(ordinal)),
            let zone = names.zone(record.zone), let database = names.databaseID(ofZone: record.zone)
        else { return value }
        let id = RecordID(record.name, zone: ZoneID(zone))
        return try secrets.opened { try store.opened(value, of: name, in: id, of: database) } ?? value
    }
}
