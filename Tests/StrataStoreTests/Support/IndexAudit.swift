@testable import StrataStore
@testable import StrataViews

/// Compares the indexes that a query would read with the records of the same state.
struct IndexAudit {
    struct Failure: Error {
        var text: String
    }

    let store: Store

    init(_ store: Store) { self.store = store }

    /// - Throws: ``Failure`` if rows differ from those that the records have.
    func check() throws {
        let trees = store.snapshot().trees
        let report = try Views.compare(trees, with: trees)
        guard !report.isWhole else { return }
        throw Failure(
            text: "\(report.differences.count) rows differ at \(store.offset): \(report.differences[0].kind) in "
                + ViewTree.name(of: report.differences[0].tree))
    }
}
