import StrataModel
import Testing

@testable import StrataTree

@Suite("Which older states are kept")
struct KeptPolicyTests {
    private func chosen(_ offsets: [UInt64], at offset: UInt64, atMost limit: Int = 24) -> [UInt64] {
        let states = offsets.map { offset in
            StateFile(
                sequence: offset, store: .zero, form: 1, position: Position(offset: offset, chain: 0), time: 0,
                nextNumber: 1, flushedBytes: 0, writtenBytes: 0, opaque: [], trees: [], runs: [], blobs: [])
        }
        return KeptPolicy.chosen(from: states, at: offset, atMost: limit).map(\.position.offset)
    }

    @Test(
        "One whose neighbors are within half of their age is dropped, but not the first and the last",
        arguments: [
            ([], 9, []), ([4], 1_000, [4]), ([4, 5], 1_000, [4, 5]), ([4, 5, 6], 1_000, [4, 6]),
            ([0, 10, 20], 59, [0, 10, 20]), ([0, 10, 20], 60, [0, 20]), ([0, 10, 20, 30], 70, [0, 20, 30]),
            ([0, 10, 20, 30, 40], 1_000, [0, 40]),
        ] as [([UInt64], UInt64, [UInt64])])
    func gaps(_ offsets: [UInt64], at offset: UInt64, expected: [UInt64]) {
        #expect(chosen(offsets, at: offset) == expected)
    }

    @Test("Of too many the newest are kept", arguments: [(0, 0), (1, 1), (24, 24), (30, 30), (99, 30)])
    func limit(_ limit: Int, count: Int) {
        // Twice as old from one to the next, so that none is too close.
        let offsets = (0..<30).map { (1 << 40) - (1 << (34 - $0)) as UInt64 }
        #expect(chosen(offsets, at: 1 << 40, atMost: limit) == offsets.suffix(count))
    }

    @Test("From state to state the gaps grow with age, and those that are left are far apart")
    func growth() {
        var kept: [UInt64] = []
        for offset in 2...2_000 as ClosedRange<UInt64> {
            kept = chosen(kept + [offset - 1], at: offset)
            let pairs = zip(kept, kept.dropFirst())
            #expect(pairs.allSatisfy { $1 - $0 <= max(1, (offset - $1) / 2) }, "\(offset): \(kept)")
            let thirds = zip(kept, kept.dropFirst(2))
            #expect(thirds.allSatisfy { $1 - $0 > (offset - $1) / 2 }, "\(offset): \(kept)")
        }
        #expect(kept.last == 1_999 && kept.count > 20 && kept[0] < 1_500)
    }
}
