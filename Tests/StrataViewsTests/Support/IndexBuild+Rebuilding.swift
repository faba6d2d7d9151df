import StrataTree
import Testing

@testable import StrataViews

extension IndexBuild {
    /// Builds all indexes of the newest state, each slice a state of its own.
    static func finish(in pages: PageStore) throws {
        var build = IndexBuild()
        var hasMore = true
        while hasMore {
            let fork = pages.fork()
            hasMore = try build.advance(fork, from: pages.snapshot()) { true }
            try pages.publish(fork)
        }
    }

    /// Returns the number of index rows that a state lacks or has too many, compared with indexes that are built from
    /// its records again. An index that is being built has the rows up to its key, and no others.
    static func differences(of snapshot: Snapshot) throws -> Int {
        let catalog = try IndexCatalog(snapshot)
        let rebuilt = Fork(on: snapshot)
        try rebuilt.deleteRange(ViewTree.index, from: nil, to: nil)
        for id in catalog.declared { try IndexCatalog.put(id, .building(upTo: []), in: rebuilt) }
        var build = IndexBuild()
        #expect(try !build.advance(rebuilt, from: snapshot) { false })
        /// Nil if the index need not have rows.
        func mustHave(_ row: UnsafeRawBufferPointer) throws -> Bool? {
            let (id, byteCount) = try IndexID.start(ofRow: row)
            switch catalog[id] {
            case .ready?: return true
            case .building(upTo: let last)?:
                return try !last.lexicographicallyPrecedes(IndexRow(row, after: byteCount).recordKey)
            case .leaving?, .returning?: return nil
            case nil: return false
            }
        }
        var count = 0
        try rebuilt.forEachChange(of: ViewTree.index, since: snapshot) { row, change in
            switch change {
            case .added: if try mustHave(row) == true { count += 1 }
            case .removed: if try mustHave(row) == true { count += 1 }
            case .replaced: break
            }
            return true
        }
        try snapshot.scan(ViewTree.index) { row, _ in
            if try mustHave(row) == false { count += 1 }
            return true
        }
        return count
    }
}
