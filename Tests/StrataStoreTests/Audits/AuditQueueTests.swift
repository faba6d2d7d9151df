import StrataModel
import StrataRules
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

@Suite("Audits that wait")
struct AuditQueueTests {
    private func audit(_ kind: EventKind = .consoleActed, _ time: Int64 = 0, bytes: Int = 0) -> Audit {
        Audit(
            actor: .service, operation: OperationInfo(), kind: .console, time: time,
            event: Event(kind, body: ArraySlice(repeating: 0, count: bytes)))
    }

    private func queue(_ milliseconds: Int) -> AuditQueue { AuditQueue(AuditPolicy(delayMilliseconds: milliseconds)) }

    @Test("They are due after their time, again after the same time, and never when none waits")
    func delay() {
        let queue = queue(20)
        let start = ContinuousClock.now
        queue.add([audit()]) {}
        #expect(queue.awaitDue() && queue.awaitDue())
        #expect(start.duration(to: .now) >= .milliseconds(38))
        #expect(queue.take().count == 1 && queue.isEmpty)
        let isOver = Lock(false)
        queue.add([]) { isOver.withLock { $0 = true } }
        #expect(!isOver.withLock { $0 })
        queue.close()
        #expect(!queue.awaitDue())
    }

    @Test("Too many are due at once, and the first starts the thread that submits them")
    func full() {
        let queue = queue(3_600_000)
        let dueCount = Lock(0)
        let submitting: @Sendable () -> Void = {
            while queue.awaitDue() {
                dueCount.withLock { $0 += 1 }
                _ = queue.take()
            }
        }
        queue.add([audit()], submitting: submitting)
        #expect(dueCount.withLock { $0 } == 0)
        queue.add([audit(bytes: AuditPolicy.maximumWaitingBytes)], submitting: submitting)
        #expect(eventually { dueCount.withLock { $0 } == 1 && queue.isEmpty })
        queue.close()
        queue.add([audit()], submitting: submitting)
        #expect(queue.isEmpty)
    }

    @Test("Too many that cannot be written wait as long as new ones before the next attempt")
    func refused() {
        let queue = queue(30)
        queue.add([audit(bytes: AuditPolicy.maximumWaitingBytes)]) {}
        let start = ContinuousClock.now
        #expect(queue.awaitDue() && queue.awaitDue(again: true) && queue.awaitDue(again: true))
        #expect(start.duration(to: .now) >= .milliseconds(58))
        #expect(queue.isFull && queue.awaitDue())
        queue.close()
        #expect(!queue.awaitDue(again: true))
    }

    @Test("Those that are put back come first, and the oldest are lost when there are too many")
    func puttingBack() {
        let queue = queue(3_600_000)
        queue.add([audit(.consoleActed, 3)]) {}
        queue.putBack([audit(.consoleActed, 1), audit(.consoleActed, 2)])
        #expect(queue.waiting.map(\.time) == [1, 2, 3])
        queue.putBack([audit(.consoleActed, 0, bytes: AuditPolicy.maximumWaitingBytes)])
        #expect(queue.waiting.map(\.time) == [1, 2, 3] && !queue.isFull)
        queue.close()
    }

    @Test("An erasure removes those with requests")
    func erasing() {
        let queue = queue(3_600_000)
        queue.add([audit(.requestRefused, 8), audit(.requestRefused, 7), audit(.consoleActed, 7)]) {}
        queue.removeRequests(through: 7)
        #expect(queue.waiting.map(\.time) == [8, 7])
        queue.add([audit(.nothingToDelete), audit(.fetched)]) {}
        queue.removeRequests()
        #expect(queue.waiting.map(\.event.kind) == [.consoleActed, .fetched])
        #expect(queue.byteCount == queue.waiting.reduce(0) { $0 + $1.byteCount })
        queue.close()
    }
}
