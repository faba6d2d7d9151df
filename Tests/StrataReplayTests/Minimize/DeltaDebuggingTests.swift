import TestSupport
import Testing

@testable import StrataReplay

@Suite("Sets made small")
struct DeltaDebuggingTests {
    /// What sets of numbers have if one of some random clauses is there whole, and nothing of what spoils it is.
    private struct Property {
        var clauses: [Set<Int>]
        var spoilers: Set<Int>

        init(_ generator: inout SeededGenerator, count: Int) {
            clauses = (0...generator.next(below: 3)).map { _ in
                Set((0..<1 + generator.next(below: 3)).map { _ in generator.next(below: count) })
            }
            spoilers = Set((0..<generator.next(below: 2)).map { _ in generator.next(below: count) })
        }

        func holds(_ items: [Int]) -> Bool {
            let items = Set(items)
            // What spoils it does so unless all is there, as a part of a history may.
            if items.count < 4, !items.isDisjoint(with: spoilers) { return false }
            return clauses.contains { $0.isSubset(of: items) }
        }
    }

    @Test("No single item of what is left can go, and it is one of those sets that brute force finds")
    func bruteForce() throws {
        try withSeeds(300) { seed in
            var generator = SeededGenerator(seed: seed)
            let count = 1 + generator.next(below: 8)
            let property = Property(&generator, count: count)
            let all = Array(0..<count)
            guard property.holds(all) else { return }
            let left = DeltaDebugging.minimal(all) { property.holds($0) }
            let minimal = (0..<1 << count).map { bits in all.filter { bits >> $0 & 1 == 1 } }.filter { set in
                property.holds(set) && !set.contains { item in property.holds(set.filter { $0 != item }) }
            }
            try #require(minimal.contains(left), "\(property), left \(left), minimal \(minimal)")
        }
    }

    @Test("Canary: leaving out halves alone does not do")
    func canary() {
        // Needs the first and the last item: no half has both.
        let property: ([Int]) -> Bool = { $0.contains(0) && $0.contains(7) }
        let halves = [Array(0..<4), Array(4..<8)].first(where: property) ?? Array(0..<8)
        #expect(halves.contains { item in property(halves.filter { $0 != item }) })
        #expect(DeltaDebugging.minimal(Array(0..<8), property) == [0, 7])
    }

    @Test("What always holds leaves nothing, and few of many take few trials")
    func trials() {
        #expect(DeltaDebugging.minimal(Array(0..<100)) { _ in true }.isEmpty)
        var count = 0
        let left = DeltaDebugging.minimal(Array(0..<100_000)) { items in
            count += 1
            return items.contains(31_415) && items.contains(92_653)
        }
        #expect(left == [31_415, 92_653])
        #expect(count < 150, "\(count) trials")
    }

    @Test("Once it is stopped it gives what it has")
    func stopped() {
        var count = 0
        let left = DeltaDebugging.minimal(Array(0..<64), isStopped: { count >= 3 }) { items in
            count += 1
            return items.contains(1)
        }
        #expect(count == 3 && left.contains(1) && left.count < 64)
    }
}
