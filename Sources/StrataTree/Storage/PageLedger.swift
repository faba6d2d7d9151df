import StrataModel
import StrataSystem

/// Who may use which page: what is free, what is lent to forks that write, and what is kept for those who can still
/// reach it.
///
/// A *pin* is an epoch that somebody can still read: a snapshot, a checkpoint, a reader of another process. A page with
/// birth `b` that was retired at `r` may be used again once no pin `p` has `b <= p < r`.
struct PageLedger {
    /// Pages from here on have never been used.
    private(set) var pageCount: Int
    let capacity: Int
    var free = FreePages()
    /// Ascending by epoch.
    private(set) var pins: [(epoch: UInt64, count: Int)] = []
    private(set) var waiting = WaitingRuns()
    /// Nobody reaches these any more. There may be so many that they are set free part by part.
    private(set) var released = RunList()
    private(set) var loans: [UInt64: [PageRun]] = [:]
    /// Published pages that no checkpoint has written yet.
    private(set) var dirty = PageSet()
    /// Those of them that the newest state does not reach: no checkpoint of it writes them.
    private(set) var waitingDirty = PageSet()
    /// What each state brought since the last checkpoint, as far as it is still dirty. Nobody asks a store in memory.
    private(set) var births: [(epoch: UInt64, runs: [PageRun])] = []
    var remembersBirths = false

    init(pageCount: Int, capacity: Int) {
        self.pageCount = pageCount
        self.capacity = capacity
    }

    var freeCount: Int { free.count }
    /// Dirty pages that the newest state reaches: those that a checkpoint writes.
    var writableCount: Int { dirty.count - waitingDirty.count }
    var waitingCount: Int { waiting.pageCount + released.pageCount }

    // MARK: Lending

    /// Pages for a fork, which gives back what it does not use when it ends.
    mutating func lend(_ count: Int, to fork: UInt64) throws -> [PageNumber] {
        var numbers: [PageNumber] = []
        while numbers.count < count, let number = free.takeSingle() { numbers.append(number) }
        // Near the largest size a fork gets what there is; nothing at all is an error.
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
                .noSpace, "The page file has reached its largest size.",
                .init(expected: "at most \(capacity) pages", found: "\(pageCount + count)"))
        }
        defer { pageCount += count }
        return PageNumber(pageCount)
    }

    /// A fork has been dropped: everything it was lent is free, and nothing it retired is.
    mutating func takeBackLoans(of fork: UInt64) -> [PageRun] {
        let runs = loans.removeValue(forKey: fork) ?? []
        for run in runs { free.give(run) }
        return runs
    }

    /// A fork's pages are reachable from now on; those that it did not use, or used and let go, are free.
    ///
    /// - Returns: the runs that became free, whose memory nobody reaches.
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

    /// - Parameter limit: how many runs become free at once; the others do with ``release(atMost:)``.
    /// - Returns: the runs that became free.
    mutating func unpin(_ epoch: UInt64, atMost limit: Int = .max) -> [PageRun] {
        let index = firstPin(notBefore: epoch)
        precondition(index < pins.count && pins[index].epoch == epoch, "only what is pinned is let go")
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

    /// - Returns: the run if it became free at once.
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

    /// Nobody reaches these pages any more.
    private mutating func release(_ run: PageRun, _ freed: inout [PageRun]) {
        markClean(run.range)
        free.give(run)
        freed.append(run)
    }

    /// What a checkpoint kept, when its file is opened. All that is pinned on disk or by readers is pinned already.
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

    /// A checkpoint had written these pages, and then failed.
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

    /// A checkpoint of this epoch is on the medium.
    mutating func forgetBirths(upTo epoch: UInt64) { births.removeAll { $0.epoch <= epoch } }

    /// Pages that a fork or a checkpoint was lent are somebody else's affair from now on.
    mutating func forgetLoans(of fork: UInt64) { loans[fork] = nil }

    /// Every page that the newest snapshot does not reach: what is free, lent, or waits.
    var unreachable: (free: [PageRun], waiting: [PageRun]) {
        var runs: [PageRun] = []
        waiting.forEachRun { runs.append($0) }
        released.forEachRun { runs.append($0) }
        return (free.all + loans.values.flatMap { $0 }, runs)
    }
}
