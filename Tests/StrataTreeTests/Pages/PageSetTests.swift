import TestSupport
import Testing

@testable import StrataTree

@Suite("Sets of pages")
struct PageSetTests {
    @Test("Against sets of numbers: members, runs, union and difference", arguments: seeds(6))
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        func sample() -> (set: PageSet, model: Set<PageNumber>) {
            var (set, model) = (PageSet(), Set<PageNumber>())
            for _ in 0..<Int.random(in: 0...40, using: &random) {
                let first = PageNumber.random(in: 0..<600, using: &random)
                let range = first..<first + [1, 1, 2, 63, 64, 65, 130].randomElement(using: &random)!
                if Int.random(in: 0..<4, using: &random) == 0 {
                    set.remove(range)
                    model.subtract(range)
                } else {
                    set.insert(range)
                    model.formUnion(range)
                }
            }
            return (set, model)
        }
        for _ in 0..<200 {
            var (set, model) = sample()
            let (other, otherModel) = sample()
            if Bool.random(using: &random) {
                set.formUnion(other)
                model.formUnion(otherModel)
            } else {
                set.subtract(other)
                model.subtract(otherModel)
            }
            #expect(set.numbers == model.sorted() && set.count == model.count && set.isEmpty == model.isEmpty)
            let runs = set.runs
            #expect(runs.flatMap { Array($0.range) } == model.sorted() && set.runCount == runs.count)
            #expect(zip(runs, runs.dropFirst()).allSatisfy { $0.range.upperBound < $1.first })
            #expect(PageSet(runs) == set && (set == other) == (model == otherModel))
        }
    }
}
