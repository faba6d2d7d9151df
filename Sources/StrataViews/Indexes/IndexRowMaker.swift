import StrataModel
import StrataTree

/// Makes the rows that records have in some indexes.
///
/// An index that is being built has the rows of the records up to a key; those of later records come with the build
/// (``IndexBuild``).
struct IndexRowMaker {
    private struct Index {
        let id: IndexID
        /// The key of the last record whose rows are there; nil if those of all records are.
        let last: [UInt8]?

        func covers(_ record: UnsafeRawBufferPointer) -> Bool {
            last?.withUnsafeBytes { RecordSlice.compare(record, $0) <= 0 } ?? true
        }
    }

    private let byType: [UInt64: [Index]]

    /// Makes the rows that the indexes of a catalog have.
    init(_ catalog: IndexCatalog) {
        self.init(
            catalog.progress.compactMap { id, progress in
                switch progress {
                case .ready: Index(id: id, last: nil)
                case .building(upTo: let last): last.isEmpty ? nil : Index(id: id, last: last)
                case .leaving, .returning: nil
                }
            })
    }

    /// Makes the rows of all records in some indexes.
    init(_ ids: [IndexID]) { self.init(ids.map { Index(id: $0, last: nil) }) }

    private init(_ indexes: [Index]) {
        byType = Dictionary(grouping: indexes.sorted { $0.id < $1.id }, by: \.id.type)
    }

    var isEmpty: Bool { byType.isEmpty }
    /// The indexes, in no particular order.
    var ids: [IndexID] { byType.values.flatMap { $0.map(\.id) } }

    /// Appends the rows of a record.
    ///
    /// - Parameter other: a state whose rows are left out of indexes in which both certainly have the same ones.
    func append(
        _ state: IndexedState, unlessIn other: IndexedState? = nil, of record: UnsafeRawBufferPointer,
        in database: UInt64, to rows: inout IndexRowList
    ) throws {
        guard let indexes = byType[state.header.type] else { return }
        var maker: IndexRows?
        for index in indexes where index.covers(record) {
            if let other, try state.hasSameRows(as: other, in: index.id) { continue }
            let known = try maker ?? IndexRows(of: record, in: database)
            maker = known
            try known.append(index.id, state, to: &rows)
        }
    }
}
