import StrataSystem

/// The pages that belong to a branch alone. A page that the branch no longer reaches is free as soon as it has no
/// reader, and all of them are free once the branch has ended and its states are gone. Shared pages belong to the
/// branch's store.
final class BranchPages: Sendable {
    private let core: PageCore
    /// The state that the branch started from. It is pinned for all states of the branch, because other forks may
    /// retire shared pages without knowing about the branch.
    private let base: Snapshot
    /// The epoch in which each page was created.
    private let births: Lock<[PageNumber: UInt64]> = Lock([:])

    init(on base: Snapshot) {
        core = base.core
        self.base = base
    }

    /// Ends the branch, whose newest state is its last, and retires all its pages.
    func end() {
        let births = births.withLock { births in
            defer { births = [:] }
            return births
        }
        let end = core.nextEpoch()
        let retired = births.map { RetiredRun(run: PageRun(first: $0, count: 1), birth: $1, retired: end) }
        var rest = retired[...]
        while !rest.isEmpty {
            let part = rest.prefix(PageCore.releasedAtOnce)
            rest = rest.dropFirst(part.count)
            core.withLedger { ledger in
                var freed: [PageRun] = []
                for run in part { freed += ledger.retire(run) }
                return ((), freed)
            }
        }
    }

    /// Takes the pages of a fork that is being published, and returns the retired pages that belong to the branch.
    ///
    /// - Parameters:
    ///   - lent: all pages that were lent to the fork.
    ///   - unused: the lent pages that are free again.
    ///   - retired: the pages that the fork no longer reaches.
    func take(_ lent: [PageRun], unused: [PageRun], _ retired: [RetiredRun], birth: UInt64) -> [RetiredRun] {
        births.withLock { births in
            for run in lent { for number in run.range { births[number] = birth } }
            for run in unused { for number in run.range { births[number] = nil } }
            let own = retired.filter { births[$0.run.first] == $0.birth }
            for run in own { for number in run.run.range { births[number] = nil } }
            return own
        }
    }
}
