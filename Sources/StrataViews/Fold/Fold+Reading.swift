import StrataModel
import StrataTree

/// Reads the state folded so far. Gathered events that may affect the result are folded first.
extension Fold {
    /// Returns the fork after folding all gathered events.
    package func whole() throws -> Fork {
        if slice.count > 0 { try flush() }
        return fork
    }

    /// Returns true if records may hold a record as their parent or with `deleteSelf`; false only if none does.
    package func mayBeReferred(to target: RecordKey) throws -> Bool {
        if try sorter != nil || slice.mayHaveLinks() { return true }
        var isReferred = false
        try fork.forEachSource(of: target, .parent, through: .deleting) { _, _ in
            isReferred = true
            return false
        }
        return isReferred
    }

    /// Calls `body` with the index and the encoded state of each record, in order; nil for a record that does not
    /// exist. A state is valid only inside it.
    package func withEach(
        _ records: [RecordKey], _ body: (_ index: Int, _ state: UnsafeRawBufferPointer?) throws -> Void
    ) throws {
        var (keys, key) = (KeyList(), KeyWriter(reserving: 64))
        for record in records {
            key.removeAll()
            key.append(number: record.zone)
            key.append(lastRecordName: record.name)
            keys.append(key.bytes)
        }
        if slice.count > 0 {
            for index in keys.indices {
                try keys.withKey(index) { if slice.mayContain($0) { try settle($0) } }
            }
        }
        try fork.getEach(ViewTree.records, keys, in: keys.indices) { index, state in
            if let state { try RecordStateView(state, in: 0..<state.count).require(name: records[index].name) }
            try body(index, state)
            return true
        }
    }

    /// Calls `body` with the encoded state of a record, which is valid only inside it; returns nil if there is no
    /// record.
    package func withRecord<Result>(
        _ record: RecordKey, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result? {
        try ViewKeys.record(record).withUnsafeBytes { key in
            if slice.count > 0, slice.mayContain(key) { try settle(key) }
            return try fork.withRecord(record, at: key, body)
        }
    }
}
