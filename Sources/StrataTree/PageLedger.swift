import StrataModel
import StrataSystem

/// Who may use which page: what is free, what is lent to forks that write, and what is kept for those who can still
/// reach it.
///
/// A *pin* is an epoch that somebody can still read: a snapshot, a checkpoint, a reader of another process. A page with
/// birth `b` that was retired at `r` may be used again once no pin `p` has `b <= p < r`. Each retired run waits at one
/// of the pins that hold it and is judged anew when that pin goes. New ones wait at the middle pin: in whatever order
/// pins go, oldest or newest first, a run moves a few times and not once for each.
struct PageLedger {
    /// Pages from here on have never been used.
    private(set) var pageCount: Int
    let capacity: Int
    var free = FreePages()
    /// Ascending by epoch.
    private(set) var pins: [(epoch: UInt64, count: Int)] = []
    private(set) var waiting: [UInt64: [RetiredRun]] = [:]
    private(set) var loans: [UInt64: [PageRun]] = [:]
    /// Published pages that no checkpoint has written yet.
    private(set) var dirty = PageSet()
    /// What each state brought since the last checkpoint, as far as it is still dirty. Nobody asks a store in memory.
    private(set) var births: [(epoch: UInt64, runs: [PageRun])] = []
    var remembersBirths = false

    init(pageCount: Int, capacity: Int) {
        self.pageCount = pageCount
        self.capacity = capacity
    }

    var freeCount: Int { free.count }
    var waitingCount: Int { waiting.values.reduce(0) { $0 + $1.reduce(0) { $0 + $1.run.count } } }

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
        return unused + retired.flatMap { retire($0) }
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

    /// - Returns: the runs that became free.
    mutating func unpin(_ epoch: UInt64) -> [PageRun] {
        let index = firstPin(notBefore: epoch)
        precondition(index < pins.count && pins[index].epoch == epoch, "only what is pinned is let go")
        pins[index].count -= 1
        guard pins[index].count == 0 else { return [] }
        pins.remove(at: index)
        return (waiting.removeValue(forKey: epoch) ?? []).flatMap { retire($0) }
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
        let holders = firstPin(notBefore: retired.birth)..<firstPin(notBefore: retired.retired)
        if !holders.isEmpty {
            waiting[pins[(holders.lowerBound + holders.upperBound) / 2].epoch, default: []].append(retired)
            return []
        }
        markClean(retired.run.range)
        free.give(retired.run)
        return [retired.run]
    }

    /// What a checkpoint kept, when its file is opened. All that is pinned on disk or by readers is pinned already.
    mutating func restore(free runs: [PageRun], retired: [RetiredRun]) {
        for run in runs { free.give(run) }
        // Opening a large store goes through many of them: one list for each pin, and one look at the table for each.
        var lists = [[RetiredRun]](repeating: [], count: pins.count)
        for retired in retired {
            let index = firstPin(notBefore: retired.birth)
            if index < pins.count, pins[index].epoch < retired.retired {
                lists[index].append(retired)
            } else {
                free.give(retired.run)
            }
        }
        for (pin, list) in zip(pins, lists) where !list.isEmpty { waiting[pin.epoch, default: []] += list }
    }

    mutating func markClean(_ numbers: some Sequence<PageNumber>) {
        for number in numbers { dirty.remove(number) }
    }

    /// A checkpoint of this epoch is on the medium.
    mutating func forgetBirths(upTo epoch: UInt64) { births.removeAll { $0.epoch <= epoch } }

    /// Pages that a fork or a checkpoint was lent are somebody else's affair from now on.
    mutating func forgetLoans(of fork: UInt64) { loans[fork] = nil }

    /// Every page that the newest snapshot does not reach: what is free, lent, or waits.
    var unreachable: (free: [PageRun], retired: [RetiredRun]) {
        (free.all + loans.values.flatMap { $0 }, waiting.values.flatMap { $0 })
    }
}
