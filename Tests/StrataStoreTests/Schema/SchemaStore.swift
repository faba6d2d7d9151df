import StrataModel
import Testing

@testable import StrataStore

/// Short ways to declare a schema.
extension Client {
    typealias Field = SchemaDefinition.Field

    func declare(_ type: String, _ fields: [Field], grants: [SchemaGrant] = []) throws {
        try store.declareSchema(
            SchemaDefinition(recordTypes: [SchemaDefinition.RecordType(type, fields: fields, grants: grants)]))
    }

    /// Why a declaration is refused; nil if it is not.
    func refusalOfDeclaring(_ type: String, _ fields: [Field], grants: [SchemaGrant] = []) -> Refusal? {
        do { try declare(type, fields, grants: grants) } catch { return error as? Refusal }
        return nil
    }

    func recordType(_ name: String) throws -> SchemaDefinition.RecordType {
        try #require(try store.schema().recordTypes.first { $0.name == name })
    }

    func field(_ name: String, of type: String = "Note") throws -> Field? {
        try recordType(type).fields.first { $0.name == name }
    }
}
