import StrataModel
import StrataTree
import StrataViews

/// A declared index.
public struct IndexStatus: Sendable, Hashable {
    public let type: String
    /// A field of the record, or a system field as the schema language spells it.
    public let field: String
    package let form: IndexID.Form
    public let isReady: Bool
    /// The reason why it is not being built; queries do without it. Declaring another index or reopening the store
    /// tries again.
    public let failure: String?
}

extension Store {
    /// All declared indexes.
    public var indexes: [IndexStatus] {
        get throws {
            try gate.requireOpen()
            let failure = pipeline.buildFailure.map { "\($0)" }
            return try engine.reader.context.reading(views.pages.snapshot(), acceptsNewer: true) { trees in
                let catalog = try IndexCatalog(trees)
                return try catalog.declared.map { id in
                    let field = try id.subject.field.map {
                        try engine.reader.context.names.text(.field, UInt64($0), in: trees)
                    }
                    let isReady = catalog[id] == .ready
                    return IndexStatus(
                        type: try engine.reader.context.names.text(.recordType, id.type, in: trees),
                        field: field ?? id.subject.systemFieldName ?? "", form: id.form, isReady: isReady,
                        failure: isReady ? nil : failure)
                }
            }
        }
    }

    /// Returns once all indexes are built, or the store is closed. Does not wait for indexes that cannot be built.
    public func awaitIndexes() { pipeline.awaitIndexes() }
}
