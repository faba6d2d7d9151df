/// The pages that a checkpoint of a state has to write.
struct CheckpointPlan: Sendable {
    /// The pages that are reachable in that state and not yet in the file, in ascending order.
    var dirty: [PageNumber]
    /// Free and retired pages together are all pages that the state does not reach.
    var free: PageSet
    var retired: [RetiredList]
    /// The place of the record.
    var record: PageRun
    var pageCount: Int

    var retiredPages: Int { retired.reduce(0) { $0 + $1.runs.pageCount } }
    var livePages: Int { pageCount - 2 - record.count - retiredPages - free.count }
}

extension PageLedger {
    /// Published pages that are reachable at `epoch` and not yet in the file. The epoch is pinned, and no checkpoint is
    /// newer.
    func dirtyPages(at epoch: UInt64) -> [PageNumber] {
        dirtyPages(at: epoch, younger: younger(than: epoch))
    }

    private func dirtyPages(at epoch: UInt64, younger: PageSet) -> [PageNumber] {
        var result = dirty
        result.subtract(waitingDirty)
        waiting.forEachRun(retiredAfter: epoch) { run in
            for number in run.range where dirty.contains(number) { result.insert(number) }
        }
        result.subtract(younger)
        return result.numbers
    }

    /// The dirty pages that were born after a state.
    private func younger(than epoch: UInt64) -> PageSet {
        var result = PageSet()
        for birth in births where birth.epoch > epoch {
            for run in birth.runs {
                for number in run.range where dirty.contains(number) { result.insert(number) }
            }
        }
        return result
    }

    /// Plans the checkpoint of a state that is pinned and not older than the last one; later states are excluded.
    /// Writers wait while this runs, so it handles pages as bits, shares lists, and does not iterate over waiting
    /// pages, of which there may be a million.
    ///
    /// - Parameters:
    ///   - owner: an otherwise unused epoch to which the pages of the record are lent.
    ///   - otherBytes: the maximum size of everything in the record except free and retired runs.
    mutating func planCheckpoint(at epoch: UInt64, owner: UInt64, otherBytes: Int) throws -> CheckpointPlan {
        // Joined runs can hold long values.
        free.joinIfWorthwhile()
        let younger = younger(than: epoch)
        var unused = free.pages
        for run in loans.values.joined() { unused.insert(run.range) }
        released.forEachRun { unused.insert($0.range) }
        unused.formUnion(younger)
        let retired = waiting.lists(notReachedAt: epoch)
        // Taking the record's pages out of a free run may split it in two.
        let bytes = CheckpointRecord.byteCount(freeRuns: unused.runCount + 1, retired: retired) + otherBytes
        let record = try lendRun(CheckpointRecord.runPages(byteCount: bytes), to: owner)
        unused.remove(record.range)
        return CheckpointPlan(
            dirty: dirtyPages(at: epoch, younger: younger), free: unused, retired: retired, record: record,
            pageCount: pageCount)
    }
}
