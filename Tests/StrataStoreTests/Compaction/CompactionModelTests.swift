import ReferenceModel
import StrataModel
import TestSupport
import Testing

@testable import StrataStore

@Suite("A store that lets go of its history does what one does that keeps it", .timeLimit(.minutes(3)))
struct CompactionModelTests {
    @Test("Compacted at random points, opened again without views, after power was lost")
    func agreement() throws {
        var compactions = 0
        try withSeeds(12) { seed in
            var twin = try TwinStore(.segmented, seed: seed, recordsRefusals: false)
            for step in 1...90 {
                try twin.step()
                if step % 13 == 0 { try twin.compact() }
                if step % 17 == 0 { try twin.reopen() }
                if step % 29 == 0 { try twin.crash() }
            }
            // Up to the end too, and behind that.
            try twin.compact(to: twin.log.end.offset)
            try twin.step()
            try twin.reopen()
            compactions += twin.compactions
            try twin.store.close()
        }
        #expect(compactions > 12 * 5)
    }
}
