import StrataSystem

/// The pages that a branch has for itself. What it does not reach any more is free as soon as nobody reads it, and all
/// of them are when it has ended and its states are gone; what it shares is its store's affair.
final class BranchPages: Sendable {
    private let core: PageCore
    /// What the branch was made on. All its states need that: what they share may be retired by others, who know
    /// nothing of them.
    private let base: Snapshot
    /// The epoch in which each was made.
    private let births: Lock<[PageNumber: UInt64]> = Lock([:])

    init(on base: Snapshot) {
        core = base.core
        self.base = base
    }

    /// Nothing comes behind the newest state.
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

    /// Takes the pages of a fork that is being published.
    ///
    /// - Parameters:
    ///   - lent: all that the fork was lent.
    ///   - unused: those of them that are free again.
    ///   - retired: what the fork does not reach any more.
    /// - Returns: what of that is the branch's to let go of.
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
