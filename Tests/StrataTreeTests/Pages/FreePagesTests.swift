import TestSupport
import Testing

@testable import StrataTree

@Suite("Free pages")
struct FreePagesTests {
    @Test("A run comes back whole, is cut from a longer one, or is not there")
    func runs() {
        var free = FreePages()
        free.give(PageRun(first: 10, count: 4))
        free.give(PageRun(first: 100, count: 7))
        #expect(free.takeRun(4) == 10)
        #expect(free.takeRun(5) == 100)
        #expect(free.count == 2)
        #expect(free.takeRun(3) == nil)
        #expect(free.takeRun(2) == 105)
        #expect(free.takeSingle() == nil)
        #expect(free.count == 0 && free.all.isEmpty)
    }

    @Test("Singles come before runs are cut")
    func singles() {
        var free = FreePages()
        free.give(PageRun(first: 10, count: 2))
        free.give(PageRun(first: 20, count: 1))
        #expect(free.takeSingle() == 20)
        #expect(free.takeSingle() == 10)
        #expect(free.takeSingle() == 11)
        #expect(free.takeSingle() == nil)
    }

    @Test("Neighbours that came back singly make up a run again")
    func joined() {
        var free = FreePages()
        for number in (50..<150).reversed() { free.give(PageRun(first: PageNumber(number), count: 1)) }
        free.give(PageRun(first: 200, count: 3))
        #expect(free.takeRun(100) == 50)
        #expect(free.all == [PageRun(first: 200, count: 3)])
    }

    @Test("No page is given twice or lost, whatever is taken and given", arguments: seeds(5))
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var free = FreePages()
        var used: [PageRun] = []
        free.give(PageRun(first: 2, count: 3_000))
        for _ in 0..<2_000 {
            if Bool.random(using: &random), let run = used.indices.randomElement(using: &random) {
                free.give(used.remove(at: run))
            } else {
                let length = [1, 1, 2, 3, 17, 60, 250].randomElement(using: &random) ?? 1
                let first = length == 1 ? free.takeSingle() : free.takeRun(length)
                if let first { used.append(PageRun(first: first, count: length)) }
            }
        }
        let pages = (used + free.all).flatMap { Array($0.range) }.sorted()
        #expect(pages == Array(2..<3_002))
        #expect(free.count == free.all.reduce(0) { $0 + $1.count })
    }

    /// Long values of many lengths, replaced again and again beside pages of trees: what they leave must be used again.
    @Test("A file stops growing when what it holds does not grow")
    func steady() throws {
        var random = SeededGenerator(seed: 8)
        var ledger = PageLedger(pageCount: 2, capacity: 1 << 22)
        var held: [[PageRun]] = []
        var counts: [Int] = []
        for round in 0..<2_000 {
            let fork = UInt64(round + 2)
            var runs = try ledger.lend(20, to: fork).map { PageRun(first: $0, count: 1) }
            for _ in 0..<3 { runs.append(try ledger.lendRun(Int.random(in: 2...60, using: &random), to: fork)) }
            _ = ledger.publish(fork: fork, unused: [], retired: [])
            held.append(runs)
            guard held.count > 60 else { continue }
            let old = held.remove(at: Int.random(in: 0..<held.count, using: &random))
            for run in old { _ = ledger.retire(RetiredRun(run: run, birth: 1, retired: fork)) }
            if round % 500 == 499 { counts.append(ledger.pageCount) }
        }
        let live = held.reduce(0) { $0 + $1.reduce(0) { $0 + $1.count } }
        #expect(ledger.pageCount < 2 * live, "\(counts) pages for \(live)")
    }
}
