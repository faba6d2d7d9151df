import StrataModel
import StrataTree
import StrataViews

/// A declared index.
public struct IndexStatus: Sendable, Hashable {
    public let type: String
    /// A field of the record, or a system field as the schema language spells it.
    public let field: String
    package let form: IndexID.Form
    /// The progress of building it; nil once it is ready.
    package let progress: IndexBuild.Progress?
    /// The reason why it is not being built; queries do without it. Declaring another index or reopening the store
    /// tries again.
    public let failure: String?

    public var isReady: Bool { progress == nil }
}

extension Store {
    /// All declared indexes and their progress.
    public var indexes: [IndexStatus] {
        get throws {
            try gate.requireOpen()
            let builds = pipeline.indexBuilds
            let failure = builds.failure.map { "\($0)" }
            return try engine.reader.context.reading(views.pages.snapshot(), acceptsNewer: true) { trees in
                let catalog = try IndexCatalog(trees)
                return try catalog.declared.map { id in
                    let field = try id.subject.field.map {
                        try engine.reader.context.names.text(.field, UInt64($0), in: trees)
                    }
                    let isReady = catalog[id] == .ready
                    return IndexStatus(
                        type: try engine.reader.context.names.text(.recordType, id.type, in: trees),
                        field: field ?? id.subject.systemFieldName ?? "", form: id.form,
                        progress: isReady ? nil : builds.progress[id] ?? .init(.waiting),
                        failure: isReady ? nil : failure)
                }
            }
        }
    }

    /// The number of events that the indexes do not show yet.
    public var indexLag: UInt64 { pipeline.indexLag }

    /// Returns once all indexes are built and show everything that was published before the call, or the store is
    /// closed. Does not wait for indexes that cannot be built.
    public func awaitIndexes() { pipeline.awaitIndexes() }

    /// Returns the newest state, and the keys of the records that its indexes may not show correctly. A reader of an
    /// index skips the rows of these records and examines the records themselves.
    ///
    /// A store that was opened for reading first brings the indexes of the page file up to date, so it has no such
    /// records.
    ///
    /// - Parameter maximumTouched: the number of such records above which the indexes are brought up to date first: a
    ///   few rows cost less than examining the records again for each query. If others write faster than that, the
    ///   result may still have more.
    public func indexedSnapshot(
        maximumTouched: Int = 50
    ) throws -> (snapshot: StoreSnapshot, touched: Set<[UInt8]>) {
        try gate.requireOpen()
        if log is any ReadOnlyLog { return (wrap(try engine.caughtUpSnapshot()), []) }
        for attempt in 1... {
            let limit =
                switch attempt {
                case 1: maximumTouched
                case ..<Self.catchUpAttempts: max(maximumTouched, Self.touchedWhileWaiting)
                default: Int.max
                }
            let found = try pipeline.live.reading {
                let (trees, lag) = pipeline.indexedSnapshot()
                return try lag.touched(in: trees, limit: limit).map { (snapshot: wrap(trees), touched: $0) }
            }
            if let found { return found }
            pipeline.awaitCatchUp()
        }
        preconditionFailure("the last attempt must accept any number of touched records")
    }

    private static let catchUpAttempts = 4
    /// The number of records that may be touched while a catch-up is awaited, so that it need not be awaited again.
    private static let touchedWhileWaiting = 1_000
}
