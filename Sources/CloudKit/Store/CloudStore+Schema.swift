import Foundation
import StrataModel

extension CloudStore {
    /// Returns the schema in CloudKit's schema language: all record types that have been saved or imported, sorted, so
    /// that two exports of the same schema are identical.
    ///
    /// ```swift
    /// try store.exportSchema().write(to: URL(fileURLWithPath: "Notes.ckdb"), atomically: true, encoding: .utf8)
    /// ```
    ///
    /// - Throws: `CKError` if the store is closed or cannot be read.
    public func exportSchema() throws -> String {
        do { return try store.schema().text } catch { throw CKError(engine: error) }
    }

    /// Declares a schema in CloudKit's schema language, as `cktool import-schema` does: record types, their fields with
    /// types and indexes, and the permissions of roles. Anything that the text does not name stays unchanged.
    ///
    /// ```swift
    /// try store.importSchema("""
    ///     DEFINE SCHEMA
    ///         RECORD TYPE Note (
    ///             title STRING QUERYABLE SORTABLE,
    ///             tags  LIST<STRING> QUERYABLE
    ///         );
    ///     """)
    /// ```
    ///
    /// - Throws: `CKError`, with nothing changed: `invalidArguments` for a mistake in the text, with its line and
    ///   column in the message, and for conflicts with the existing schema, such as a different field type.
    public func importSchema(_ text: String) throws {
        try withSchema(text) { try store.declareSchema($0) }
    }

    /// Validates a schema as ``importSchema(_:)`` would, without changing anything.
    ///
    /// ```swift
    /// do { try store.validateSchema(text) } catch { print(error) }
    /// ```
    ///
    /// - Throws: The `CKError` that ``importSchema(_:)`` would throw.
    public func validateSchema(_ text: String) throws {
        try withSchema(text) { try store.validateSchema($0) }
    }

    private func withSchema(_ text: String, _ body: (SchemaDefinition) throws -> Void) throws {
        do { try body(SchemaDefinition(reading: text)) } catch let error as StrataError {
            guard let line = error.context.line, let column = error.context.column else { throw CKError(engine: error) }
            throw CKError(
                .invalidArguments,
                message: """
                    The schema has a mistake in line \(line), column \(column): expected \
                    \(error.context.expected ?? "something else"), found \(error.context.found ?? "this").
                    """, cause: error)
        } catch { throw CKError(engine: error) }
    }
}
