import StrataModel
import TestSupport
import Testing

@testable import StrataQuery

@Suite("Predicates from any text and any tree")
struct PredicateFuzzTests {
    @Test("Mutated formats never trap, and what is read prints and reads the same", arguments: seeds(8))
    func mutations(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var (read, refused) = (0, 0)
        for _ in 0..<2_000 {
            let format = mutated(&generator)
            do {
                let tree = try PredicateParser.parse(format, [.value(.int64(7)), .value(.string("k"))])
                let printed = PredicateWriter.text(of: tree)
                try #require(try PredicateParser.parse(printed) == tree, "\(format) → \(printed)")
                read += 1
            } catch let error as StrataError {
                try #require(error.code == .malformed)
                refused += 1
            }
        }
        // Both kinds must occur, or the mutations prove nothing.
        #expect(read > 100 && refused > 100)
    }

    private static let pieces =
        PredicateGrammarTests.good.map(\.0)
        + [
            "%@", "%K", "%d", "(", ")", "{", "}", "[", "]", ",", "'", "\"", "\\", "$", "#", "@", ":", ".", "NOT",
            "\u{0}",
        ]

    private func mutated(_ generator: inout SeededGenerator) -> String {
        var bytes = Array(Self.pieces[generator.next(below: PredicateGrammarTests.good.count)].utf8)
        for _ in 0..<generator.next(below: 4) {
            let position = generator.next(below: bytes.count + 1)
            switch generator.next(below: 4) {
            case 0 where position < bytes.count: bytes.remove(at: position)
            case 1 where position < bytes.count: bytes[position] = UInt8(truncatingIfNeeded: generator.next())
            case 2: bytes.insert(UInt8(generator.next(below: 96) + 32), at: position)
            default: bytes.insert(contentsOf: Self.pieces[generator.next(below: Self.pieces.count)].utf8, at: position)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("Every tree prints as text that reads as the same tree", arguments: seeds(8))
    func roundTrips(seed: UInt64) throws {
        var trees = PredicateGenerator(seed: seed)
        for _ in 0..<500 {
            let tree = trees.tree(depth: 4)
            let printed = PredicateWriter.text(of: tree)
            try #require(try PredicateParser.parse(printed) == tree, "\(printed)")
        }
    }

    @Test("What the service accepts, the extended dialect accepts", arguments: seeds(8))
    func dialectsNest(seed: UInt64) throws {
        var trees = PredicateGenerator(seed: seed)
        var accepted = 0
        for _ in 0..<500 {
            let tree = trees.tree(depth: 2)
            guard (try? PredicateCheck(.cloudKit).check(tree)) != nil else { continue }
            accepted += 1
            try PredicateCheck(.extended).check(tree)
        }
        #expect(accepted > 10)
    }
}
