import StrataSystem
import Synchronization

/// The state that the snapshots and forks of a page store share.
final class PageCore: Sendable {
    private static let lastNumber = Atomic<UInt64>(0)

    /// The number of this object, which no other of the process ever has.
    let number = PageCore.lastNumber.add(1, ordering: .relaxed).newValue
    let memory: PageMemory
    private let ledger: Lock<PageLedger>
    private let lastEpoch: Atomic<UInt64>
    let room = WriteBackpressure()

    init(memory: PageMemory, ledger: PageLedger, lastEpoch: UInt64) {
        self.memory = memory
        self.ledger = Lock(ledger)
        self.lastEpoch = Atomic(lastEpoch)
    }

    func nextEpoch() -> UInt64 { lastEpoch.add(1, ordering: .relaxed).newValue }

    /// Runs `body` on the ledger; the memory of freed pages is forgotten before they can be lent again.
    func withLedger<Result: Sendable>(
        _ body: (inout PageLedger) throws -> sending (result: Result, freed: [PageRun])
    ) rethrows -> Result {
        try ledger.withLock { ledger in
            let (result, freed) = try body(&ledger)
            for run in freed { memory.forget(run.range) }
            return result
        }
    }

    func identity(of root: TreeRoot) throws -> TreeIdentity {
        let birth = try root.page == 0 ? 0 : memory.reading { try memory.page(root.page).birth }
        return TreeIdentity(store: number, page: root.page, birth: birth)
    }

    func lent(to fork: UInt64) -> [PageRun] { ledger.withLock { $0.loans[fork] ?? [] } }

    func pin(_ epoch: UInt64) { ledger.withLock { $0.pin(epoch) } }

    /// The maximum number of runs freed while others wait for the ledger: some hundred microseconds.
    static let releasedAtOnce = 4_096

    func unpin(_ epoch: UInt64) {
        let isDone = withLedger { ledger in
            let freed = ledger.unpin(epoch, atMost: Self.releasedAtOnce)
            return (ledger.released.isEmpty, freed)
        }
        if !isDone { release() }
    }

    /// Frees the pages that can no longer be reached, in parts.
    func release() {
        while withLedger({ ledger in
            let freed = ledger.release(atMost: Self.releasedAtOnce)
            return (!freed.isEmpty, freed)
        }) {}
    }
}
