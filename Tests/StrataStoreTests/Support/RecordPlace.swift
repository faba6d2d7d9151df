import StrataModel
import StrataTree
import StrataViews

@testable import StrataStore

/// Where a record is, by names.
struct RecordPlace: Hashable {
    var database: DatabaseID
    var id: RecordID
}

extension StoreSnapshot {
    /// The version of every record, by reading the state to its end.
    func recordVersions() throws -> [RecordPlace: Version] {
        var versions: [RecordPlace: Version] = [:]
        for index in 0..<(try trees.nameCount(.zone)) {
            let (database, zone) = try zoneName(index + 1, in: trees)
            try trees.forEachRecord(of: index + 1) { name, row in
                let id = RecordID(String(decoding: name, as: UTF8.self), zone: zone)
                versions[RecordPlace(database: database, id: id)] =
                    try RecordStateView(row, in: 0..<row.count).version
                return true
            }
        }
        return versions
    }
}
