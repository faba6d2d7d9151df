import StrataModel
import StrataTree

/// Keeps the rows of indexes as the records are, while these are folded.
struct IndexWriter {
    private let maker: IndexRowMaker
    /// The rows of a record before and after a change.
    private var old = IndexRowList()
    private var new = IndexRowList()

    init(_ catalog: IndexCatalog) { maker = IndexRowMaker(catalog) }

    var isEmpty: Bool { maker.isEmpty }

    /// Replaces the rows of a record. Rows that stay are not touched.
    ///
    /// - Parameters:
    ///   - oldState: the state before the change; nil if there was no record.
    ///   - newState: the state after it; nil if the record is gone.
    mutating func update(
        _ record: UnsafeRawBufferPointer, in database: UInt64, from oldState: UnsafeRawBufferPointer?,
        to newState: UnsafeRawBufferPointer?, _ fork: Fork
    ) throws {
        old.removeAll()
        new.removeAll()
        let oldState = try oldState.map { try IndexedState($0) }
        let newState = try newState.map { try IndexedState($0) }
        if let oldState { try maker.append(oldState, unlessIn: newState, of: record, in: database, to: &old) }
        if let newState { try maker.append(newState, unlessIn: oldState, of: record, in: database, to: &new) }
        old.sort()
        new.sort()
        let none = UnsafeRawBufferPointer(start: nil, count: 0)
        try IndexRowList.forEachChange(from: old, to: new) { isAddition, row in
            if isAddition {
                try fork.put(ViewTree.index, row, none)
            } else {
                try fork.deleteKnown(ViewTree.index, row)
            }
        }
    }

    /// Removes the rows of all records of a zone.
    func removeRows(ofZone zone: UInt64, in database: UInt64, from fork: Fork) throws {
        for id in maker.ids {
            try IndexKey.withBounds(of: IndexKey.start(database, id, zone: zone)) { lower, upper in
                try fork.deleteRange(ViewTree.index, from: lower, to: upper)
            }
        }
    }
}
