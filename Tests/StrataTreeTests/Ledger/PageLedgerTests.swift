import StrataModel
import TestSupport
import Testing

@testable import StrataTree

/// Who pins what, and when a page may be used again.
@Suite("The ledger of pages")
struct PageLedgerTests {
    private let run = PageRun(first: 50, count: 2)

    private func ledger(pins: [UInt64] = []) -> PageLedger {
        var ledger = PageLedger(pageCount: 100, capacity: 1_000)
        for pin in pins { ledger.pin(pin) }
        return ledger
    }

    private func retired(_ birth: UInt64, _ retired: UInt64) -> RetiredRun {
        RetiredRun(run: run, birth: birth, retired: retired)
    }

    @Test("A page waits for the pins from its birth up to in front of its end, and no others")
    func whoHolds() {
        for (pin, isHeld) in [(3, false), (4, true), (6, true), (7, false), (8, false)] as [(UInt64, Bool)] {
            var ledger = ledger(pins: [pin])
            #expect(ledger.retire(retired(4, 7)) == (isHeld ? [] : [run]), "pin \(pin)")
            #expect(ledger.waitingCount == (isHeld ? 2 : 0))
            #expect(ledger.unpin(pin) == (isHeld ? [run] : []))
            #expect(ledger.freeCount == 2 && ledger.waitingCount == 0)
        }
    }

    @Test("A page is free when the last of its pins goes, in whichever order they go")
    func everyOrder() {
        let orders: [[UInt64]] = [[2, 4, 6], [2, 6, 4], [4, 2, 6], [4, 6, 2], [6, 2, 4], [6, 4, 2]]
        for order in orders {
            var ledger = ledger(pins: [1, 2, 4, 6, 9])
            #expect(ledger.retire(retired(2, 8)).isEmpty)
            #expect(ledger.unpin(1).isEmpty && ledger.unpin(9).isEmpty)
            #expect(ledger.unpin(order[0]).isEmpty, "\(order)")
            #expect(ledger.unpin(order[1]).isEmpty, "\(order)")
            #expect(ledger.unpin(order[2]) == [run], "\(order)")
        }
    }

    @Test("All pages that the same pins hold share a list, whether the oldest or the newest pin goes first")
    func lists() {
        for isOldestFirst in [true, false] {
            var ledger = ledger(pins: [10, 20, 30, 40])
            for place in 0..<300 {
                let birth = UInt64(1 + place % 30)
                let run = PageRun(first: PageNumber(100 + 5 * place), count: 1 + place % 2)
                #expect(ledger.retire(RetiredRun(run: run, birth: birth, retired: 41)).isEmpty)
            }
            #expect(ledger.waiting.listCount == 3 && ledger.waitingCount == 450)
            for pin in (isOldestFirst ? [10, 20, 30] : [40, 30, 20]) as [UInt64] {
                let freed = ledger.unpin(pin).reduce(0) { $0 + $1.count }
                #expect(freed == (isOldestFirst || pin == 40 ? 0 : 150))
            }
            #expect(ledger.waiting.listCount == 1)
            #expect(ledger.unpin(isOldestFirst ? 40 : 10).reduce(0) { $0 + $1.count } == (isOldestFirst ? 450 : 150))
        }
    }

    @Test("What a pin held can be set free part by part, and a checkpoint counts it as free meanwhile")
    func parts() throws {
        var ledger = ledger(pins: [4])
        let pages = try ledger.lendRun(50, to: 4)
        _ = ledger.publish(fork: 4, unused: [], retired: [])
        ledger.pin(5)
        for number in pages.range {
            _ = ledger.retire(RetiredRun(run: PageRun(first: number, count: 1), birth: 4, retired: 5))
        }
        #expect(ledger.unpin(4, atMost: 10).count == 10)
        #expect(ledger.waitingCount == 40 && ledger.freeCount == 10)
        #expect(ledger.unreachable.waiting.count == 40)
        let plan = try ledger.planCheckpoint(at: 5, owner: 6, otherBytes: 100)
        #expect(plan.dirty.isEmpty && plan.retired.isEmpty)
        #expect(plan.free.count + plan.record.count == 50)
        while !ledger.release(atMost: 15).isEmpty {}
        #expect(ledger.waitingCount == 0 && ledger.dirty.count == 0)
        #expect(ledger.freeCount + plan.record.count == 50)
    }

    @Test("A checkpoint lists what its state does not reach, and all records")
    func planned() throws {
        var ledger = ledger(pins: [3, 5, 7])
        let runs = (0..<4).map { PageRun(first: PageNumber(10 + 10 * $0), count: 1 + $0) }
        _ = ledger.retire(RetiredRun(run: runs[0], birth: 2, retired: 4))
        _ = ledger.retire(RetiredRun(run: runs[1], birth: 4, retired: 7))
        _ = ledger.retire(RetiredRun(run: runs[2], birth: 4, retired: 8))
        _ = ledger.retire(.record(runs[3], of: 7))
        func lists(at epoch: UInt64, owner: UInt64) throws -> [[PageRun]] {
            try ledger.planCheckpoint(at: epoch, owner: owner, otherBytes: 100).retired.map { list in
                list.runs.singles.map { PageRun(first: $0, count: 1) } + list.runs.longer
            }
        }
        #expect(try lists(at: 7, owner: 100) == [[runs[0]], [runs[1]], [runs[3]]])
        #expect(try lists(at: 5, owner: 101) == [[runs[0]]])
    }

    @Test("What is pinned twice is let go twice")
    func counted() {
        var ledger = ledger(pins: [5, 5])
        #expect(ledger.retire(retired(5, 6)).isEmpty)
        #expect(ledger.unpin(5).isEmpty)
        #expect(ledger.unpin(5) == [run])
    }

    @Test("A dropped fork gives back what it was lent; a published one what it did not use")
    func loans() throws {
        var ledger = ledger()
        let dropped = try ledger.lend(3, to: 7)
        #expect(dropped == [100, 101, 102] && ledger.pageCount == 103)
        #expect(ledger.takeBackLoans(of: 7).flatMap { Array($0.range) } == dropped)
        #expect(ledger.freeCount == 3 && ledger.dirty.count == 0)
        let numbers = try ledger.lend(2, to: 8)
        let long = try ledger.lendRun(4, to: 8)
        #expect(ledger.unreachable.free.flatMap { Array($0.range) }.sorted() == Array(100..<107))
        let unused = [PageRun(first: numbers[0], count: 1)]
        #expect(ledger.publish(fork: 8, unused: unused, retired: [retired(3, 8)]) == unused + [run])
        #expect(ledger.dirty.numbers == ([numbers[1]] + Array(long.range)).sorted())
        #expect(ledger.takeBackLoans(of: 8).isEmpty)
    }

    @Test("What was published and retired again is dirty only while somebody reaches it")
    func dirty() throws {
        var ledger = ledger()
        let pages = try ledger.lendRun(3, to: 5)
        ledger.pin(5)
        _ = ledger.publish(fork: 5, unused: [], retired: [])
        #expect(ledger.dirtyPages(at: 5) == Array(pages.range))
        ledger.pin(6)
        _ = ledger.publish(fork: 6, unused: [], retired: [RetiredRun(run: pages, birth: 5, retired: 6)])
        #expect(ledger.dirtyPages(at: 6).isEmpty, "the newest state does not reach them")
        #expect(ledger.dirty.count == 3, "an older one does")
        #expect(ledger.unpin(5) == [pages])
        #expect(ledger.dirty.count == 0)
        let again = try ledger.lendRun(3, to: 7)
        #expect(again == pages)
        _ = ledger.publish(fork: 7, unused: [], retired: [])
        ledger.markClean(again.range.prefix(2))
        #expect(ledger.dirtyPages(at: 7) == [again.range.upperBound - 1])
    }

    @Test("What only older states reach is not counted as to be written, also after a checkpoint that failed")
    func writable() throws {
        var ledger = ledger()
        let pages = try ledger.lendRun(5, to: 5)
        ledger.pin(5)
        _ = ledger.publish(fork: 5, unused: [], retired: [])
        #expect(ledger.writableCount == 5)
        ledger.pin(6)
        let old = PageRun(first: pages.first, count: 2)
        _ = ledger.publish(fork: 6, unused: [], retired: [RetiredRun(run: old, birth: 5, retired: 6)])
        #expect(ledger.dirty.count == 5 && ledger.writableCount == 3)
        ledger.markClean(pages.range)
        #expect(ledger.dirty.count == 0 && ledger.writableCount == 0)
        ledger.markDirtyAgain(pages.range)
        #expect(ledger.dirty.count == 5 && ledger.writableCount == 3)
        #expect(ledger.dirtyPages(at: 5) == Array(pages.range))
        #expect(ledger.unpin(5) == [old])
        #expect(ledger.dirty.count == 3 && ledger.writableCount == 3)
    }

    @Test("Capacity is a limit, and what a checkpoint kept is there again")
    func capacityAndRestoring() throws {
        var ledger = PageLedger(pageCount: 2, capacity: 10)
        #expect(try ledger.lendRun(8, to: 3).range == 2..<10)
        let error = #expect(throws: StrataError.self) { try ledger.lendRun(1, to: 3) }
        #expect(error?.code == .noSpace)
        ledger.pin(4)
        ledger.restore(
            free: PageSet([PageRun(first: 2, count: 1)]),
            retired: [
                RetiredList(birth: 4, end: 5, runs: RunList([run])), RetiredList(birth: 5, end: 6, runs: RunList([])),
            ])
        #expect(try ledger.lend(1, to: 9) == [2])
        #expect(ledger.waitingCount == 2)
    }

    /// Every page against the rule itself, worked out anew from lists.
    @Test("No pinned page is free, and no free page is kept back", arguments: seeds(6))
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var ledger = PageLedger(pageCount: 10_000, capacity: 10_000)
        var pins: [UInt64] = []
        var waiting: [RetiredRun] = []
        var next: PageNumber = 2
        func isHeld(_ retired: RetiredRun) -> Bool {
            pins.contains { $0 >= retired.birth && $0 < retired.retired }
        }
        for epoch in UInt64(1)...300 {
            ledger.pin(epoch)
            pins.append(epoch)
            var freed: [PageRun] = []
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let birth = UInt64.random(in: 1...epoch, using: &random)
                let run = PageRun(first: next, count: Int.random(in: 1...3, using: &random))
                next += PageNumber(run.count)
                let retired = RetiredRun(run: run, birth: birth, retired: epoch)
                waiting.append(retired)
                freed += ledger.retire(retired)
            }
            while pins.count > 1, Int.random(in: 0..<8, using: &random) < 4 {
                freed += ledger.unpin(pins.remove(at: Int.random(in: 0..<pins.count, using: &random)))
            }
            let expected = waiting.filter { !isHeld($0) }.map(\.run)
            waiting.removeAll { !isHeld($0) }
            #expect(freed.map(\.first).sorted() == expected.map(\.first).sorted(), "epoch \(epoch)")
            #expect(ledger.waitingCount == waiting.reduce(0) { $0 + $1.run.count })
        }
    }
}
