import StrataModel

/// Tracks the use of pages: those that are free, those lent to forks that write, and those kept for readers that can
/// still reach them.
///
/// A *pin* is an epoch that can still be read: by a snapshot, a checkpoint, or a reader in another process. A page with
/// birth `b` that was retired at `r` may be used again once no pin `p` has `b <= p < r`.
struct PageLedger {
    /// Pages from this number on have never been used.
    private(set) var pageCount: Int
    let capacity: Int
    var free = FreePages()
    /// In ascending order of epochs.
    private(set) var pins: [(epoch: UInt64, count: Int)] = []
    private(set) var waiting = WaitingRuns()
    /// Runs that can no longer be reached. They may be numerous, so they are freed in parts.
    private(set) var released = RunList()
    private(set) var loans: [UInt64: [PageRun]] = [:]
    /// Published pages that no checkpoint has written yet.
    private(set) var dirty = PageSet()
    /// The dirty pages that the newest state does not reach: no checkpoint of that state writes them.
    private(set) var waitingDirty = PageSet()
    /// The pages lent to each state since the last checkpoint; only the dirty ones count. Not kept by a store in
    /// memory.
    private(set) var births: [(epoch: UInt64, runs: [PageRun])] = []
    var remembersBirths = false

    var freeCount: Int { free.count }
    /// The number of dirty pages that the newest state reaches: those that a checkpoint writes.
    var writableCount: Int { dirty.count - waitingDirty.count }
    var waitingCount: Int { waiting.pageCount + released.pageCount }

    // MARK: Lending

    /// Lends pages to a fork, which returns the unused ones when it ends.
    mutating func lend(_ count: Int, to fork: UInt64) throws -> [PageNumber] {
        var numbers: [PageNumber] = []
        while numbers.count < count, let number = free.takeSingle() { numbers.append(number) }
        // Near the maximum size, a fork gets the pages that remain; if there are none, it is an error.
        let missing = count - numbers.count
        let left = min(missing, capacity - pageCount)
        if left > 0 || (missing > 0 && numbers.isEmpty) {
            let first = try extend(by: max(1, left))
            numbers += first..<PageNumber(pageCount)
        }
        loans[fork, default: []] += numbers.map { PageRun(first: $0, count: 1) }
        return numbers
    }

    mutating func lendRun(_ count: Int, to fork: UInt64) throws -> PageRun {
        let run = PageRun(first: try free.takeRun(count) ?? extend(by: count), count: count)
        loans[fork, default: []].append(run)
        return run
    }

    private mutating func extend(by count: Int) throws -> PageNumber {
        guard pageCount + count <= capacity else {
            throw StrataError(
                .noSpace, "The page file has reached its maximum size.",
                .init(expected: "at most \(capacity) pages", found: "\(pageCount + count)"))
        }
        defer { pageCount += count }
        return PageNumber(pageCount)
    }

    /// Takes back the pages of a dropped fork: all pages lent to it are free, and its retirements are void.
    mutating func takeBackLoans(of fork: UInt64) -> [PageRun] {
        let runs = loans.removeValue(forKey: fork) ?? []
        for run in runs { free.give(run) }
        return runs
    }

    /// Makes a fork's pages reachable, and frees those that it did not use, or used and released. Returns the runs that
    /// became free.
    mutating func publish(
        fork: UInt64, unused: [PageRun], retired: [RetiredRun]
    ) -> [PageRun] {
        let lent = loans.removeValue(forKey: fork) ?? []
        if remembersBirths { births.append((fork, lent)) }
        for run in lent {
            for number in run.range { dirty.insert(number) }
        }
        for run in unused {
            markClean(run.range)
            free.give(run)
        }
        var freed = unused
        for run in retired { retire(run, &freed) }
        return freed
    }

    // MARK: Pins

    mutating func pin(_ epoch: UInt64) {
        let index = firstPin(notBefore: epoch)
        if index < pins.count, pins[index].epoch == epoch {
            pins[index].count += 1
        } else {
            pins.insert((epoch, 1), at: index)
        }
    }

    /// Removes a pin and returns the runs that became free.
    ///
    /// - Parameter limit: the maximum number of runs freed by this call; ``release(atMost:)`` frees the others.
    mutating func unpin(_ epoch: UInt64, atMost limit: Int = .max) -> [PageRun] {
        let index = firstPin(notBefore: epoch)
        precondition(index < pins.count && pins[index].epoch == epoch, "only a pinned epoch can be unpinned")
        pins[index].count -= 1
        guard pins[index].count == 0 else { return [] }
        pins.remove(at: index)
        let before = index > 0 ? pins[index - 1].epoch : nil
        let after = index < pins.count ? pins[index].epoch : nil
        for list in waiting.remove(pin: epoch, before: before, after: after) { released.append(list) }
        return release(atMost: limit)
    }

    mutating func release(atMost limit: Int) -> [PageRun] {
        var freed: [PageRun] = []
        while freed.count < limit, let run = released.takeLast() { release(run, &freed) }
        return freed
    }

    private func firstPin(notBefore epoch: UInt64) -> Int {
        var low = 0
        var high = pins.count
        while low < high {
            let middle = (low + high) / 2
            if pins[middle].epoch < epoch { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Retires a run, and returns it if it became free immediately.
    mutating func retire(_ retired: RetiredRun) -> [PageRun] {
        var freed: [PageRun] = []
        retire(retired, &freed)
        return freed
    }

    private mutating func retire(_ retired: RetiredRun, _ freed: inout [PageRun]) {
        let holders = firstPin(notBefore: retired.birth)..<firstPin(notBefore: retired.retired)
        guard let first = holders.first, let last = holders.last else { return release(retired.run, &freed) }
        if retired.isRecord {
            waiting.append(record: retired.run, of: retired.birth)
        } else {
            waiting.append(retired.run, first: pins[first].epoch, last: pins[last].epoch)
        }
        for number in retired.run.range where dirty.contains(number) { waitingDirty.insert(number) }
    }

    /// Frees a run that can no longer be reached.
    private mutating func release(_ run: PageRun, _ freed: inout [PageRun]) {
        markClean(run.range)
        free.give(run)
        freed.append(run)
    }

    /// Restores the lists of a checkpoint when its file is opened. All pins of the disk and of readers are already set.
    mutating func restore(free pages: PageSet, retired: [RetiredList]) {
        pages.forEachRun { free.give($0) }
        for list in retired {
            let end = list.isRecord ? list.birth + 1 : list.end
            let holders = firstPin(notBefore: list.birth)..<firstPin(notBefore: end)
            guard let first = holders.first, let last = holders.last else {
                list.runs.forEachRun { free.give($0) }
                continue
            }
            if list.isRecord {
                list.runs.forEachRun { waiting.append(record: $0, of: list.birth) }
            } else {
                waiting.append(list.runs, first: pins[first].epoch, last: pins[last].epoch)
            }
        }
    }

    mutating func markClean(_ numbers: some Sequence<PageNumber>) {
        for number in numbers {
            dirty.remove(number)
            waitingDirty.remove(number)
        }
    }

    /// Marks pages dirty that a failed checkpoint had written.
    mutating func markDirtyAgain(_ numbers: some Sequence<PageNumber>) {
        for number in numbers { dirty.insert(number) }
        var found = PageSet()
        func look(_ run: PageRun) {
            for number in run.range where dirty.contains(number) { found.insert(number) }
        }
        waiting.forEachRun(look)
        released.forEachRun(look)
        waitingDirty.formUnion(found)
    }

    /// Forgets births up to the epoch of a durable checkpoint.
    mutating func forgetBirths(upTo epoch: UInt64) { births.removeAll { $0.epoch <= epoch } }

    /// Forgets the loans of a fork or checkpoint, whose pages are tracked elsewhere from now on.
    mutating func forgetLoans(of fork: UInt64) { loans[fork] = nil }
}
