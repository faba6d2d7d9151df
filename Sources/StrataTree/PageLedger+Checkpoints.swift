import StrataModel

/// What a checkpoint of one state has to write.
struct CheckpointPlan: Sendable {
    /// Reachable in that state and not in the file yet; ascending.
    var dirty: [PageNumber]
    /// Together all that the state does not reach; ascending.
    var free: [PageRun]
    var retired: [RetiredRun]
    /// Where the record goes.
    var record: PageRun
    var pageCount: Int

    var retiredPages: Int { retired.reduce(0) { $0 + $1.run.count } }
    var livePages: Int { pageCount - 2 - record.count - retiredPages - free.reduce(0) { $0 + $1.count } }
}

extension PageLedger {
    /// Published pages that are reachable at `epoch` and not in the file yet. It is pinned, and no checkpoint is newer.
    func dirtyPages(at epoch: UInt64) -> [PageNumber] {
        var result = dirty
        for number in younger(than: epoch).numbers { result.remove(number) }
        for runs in waiting.values {
            for retired in runs where retired.retired <= epoch {
                for number in retired.run.range { result.remove(number) }
            }
        }
        return result.numbers
    }

    /// Dirty pages that were born after a state.
    private func younger(than epoch: UInt64) -> PageSet {
        var result = PageSet()
        for birth in births where birth.epoch > epoch {
            for run in birth.runs {
                for number in run.range where dirty.contains(number) { result.insert(number) }
            }
        }
        return result
    }

    /// Plans the checkpoint of a state that is pinned and not older than the last one; states published since are left
    /// out.
    ///
    /// - Parameters:
    ///   - owner: an epoch that nobody else has, which is lent the pages of the record.
    ///   - otherBytes: what the record holds besides free and retired runs, at most.
    mutating func planCheckpoint(at epoch: UInt64, owner: UInt64, otherBytes: Int) throws -> CheckpointPlan {
        // Runs that grew together again serve long values, and make a short list.
        free = FreePages(PageRun.coalesced(free.all))
        let younger = younger(than: epoch).numbers.map { PageRun(first: $0, count: 1) }
        let unused = PageRun.coalesced(free.all + loans.values.flatMap { $0 } + younger)
        // A run born after the state is among the younger ones; one retired after it is reachable.
        var retired: [RetiredRun] = []
        retired.reserveCapacity(waiting.values.reduce(0) { $0 + $1.count })
        for runs in waiting.values {
            for run in runs where run.birth <= epoch && (run.retired <= epoch || run.isRecord) { retired.append(run) }
        }
        // Taking the record's pages out of a free run may leave two.
        let bytes = CheckpointRecord.byteCount(freeRuns: unused.count + 1, retiredRuns: retired.count) + otherBytes
        let record = try lendRun(CheckpointRecord.runPages(byteCount: bytes), to: owner)
        return CheckpointPlan(
            dirty: dirtyPages(at: epoch), free: PageRun.removing(record, from: unused), retired: retired,
            record: record, pageCount: pageCount)
    }
}
