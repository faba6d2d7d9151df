import StrataModel
import StrataTree

@testable import StrataStore
@testable import StrataViews

/// What an indexed read gets, compared with an index that is made of its records alone.
struct IndexAudit {
    struct Failure: Error {
        var text: String
    }

    let store: Store

    init(_ store: Store) { self.store = store }

    /// - Throws: ``Failure`` if the rows of records that were not touched are others than the records have.
    func check() throws {
        let (snapshot, touched) = try store.indexedSnapshot(maximumTouched: .max)
        var differences = 0
        try IndexCatchUp.rebuilt(snapshot.trees).forEachChange(of: ViewTree.index, since: snapshot.trees) {
            row, change in
            if case .replaced = change { return true }
            var reader = KeyReader(row)
            _ = (try reader.readNumber(), try reader.readNumber(), try reader.readNumber(), try reader.readByte())
            let record = try IndexRow(row, after: reader.position).recordKey
            if !touched.contains(record) { differences += 1 }
            return true
        }
        if differences > 0 {
            throw Failure(text: "\(differences) rows differ at \(snapshot.offset), \(touched.count) were touched")
        }
    }
}
