import Testing

@testable import StrataStore

@Suite("Contention with other writers")
struct ContentionTests {
    private let start = ContinuousClock.now

    @Test("A process that appends as many batches as it loses never yields")
    func even() {
        var contention = Contention()
        for _ in 0..<100 {
            contention.noteLoss(at: start)
            #expect(!contention.yields(at: start))
            contention.noteSuccess()
        }
    }

    @Test("Three losses in a row yield for a second, and one more loss yields again")
    func losses() {
        var contention = Contention()
        for _ in 1..<Contention.limit { contention.noteLoss(at: start) }
        #expect(!contention.yields(at: start))
        contention.noteLoss(at: start)
        #expect(contention.yields(at: start + .milliseconds(999)))
        #expect(!contention.yields(at: start + Contention.rest))
        contention.noteLoss(at: start + Contention.rest)
        #expect(contention.yields(at: start + Contention.rest + .milliseconds(999)))
    }

    @Test("Appended batches make up for losses, and do not save up for later ones")
    func successes() {
        var contention = Contention()
        for _ in 0..<10 { contention.noteSuccess() }
        for _ in 1..<Contention.limit { contention.noteLoss(at: start) }
        contention.noteSuccess()
        contention.noteLoss(at: start)
        #expect(!contention.yields(at: start))
        contention.noteLoss(at: start)
        #expect(contention.yields(at: start))
    }
}
