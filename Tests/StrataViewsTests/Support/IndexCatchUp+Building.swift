import StrataTree
import Testing

@testable import StrataViews

extension IndexCatchUp {
    /// Builds all indexes that are declared, each slice a state of its own; returns how often entries went to a file.
    @discardableResult
    func build(
        in pages: PageStore, _ sorter: RunSorter = RunSorter(spill: nil),
        between slices: () throws -> IndexCatchUp? = {
            nil
        }
    ) throws -> Bool {
        var catchUp = self
        let build = IndexBuild(try IndexCatalog(pages.snapshot()).building, from: base, sorter)
        #expect(try build.read { false })
        #expect(build.progress == .init(.loading, total: sorter.count))
        let total = build.progress.total
        func slice(_ body: (Fork) throws -> Bool) throws -> Bool {
            if let next = try slices() { catchUp = next }
            let fork = pages.fork()
            let hasMore = try body(fork)
            try pages.publish(fork)
            return hasMore
        }
        while try slice({ try build.load(into: $0) { true } }) {
            #expect(build.progress.done > 0 && build.progress.done <= total)
        }
        while try slice({ try build.follow(catchUp, in: $0) { true } }) {}
        return sorter.isSpilled
    }
}
