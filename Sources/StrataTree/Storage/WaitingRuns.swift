/// Retired runs by the first and the last pin that hold them. All runs held by the same two pins share a list, which
/// moves as a whole when one of the pins is removed. There are at most as many lists as pairs of pins, regardless of
/// the number of pages.
///
/// The epochs between the two pins do not matter: a released epoch is never pinned again, so a list that loses its last
/// pin is free.
struct WaitingRuns {
    /// The lists by their last pin, then by their first.
    private(set) var lists: [UInt64: [UInt64: RunList]] = [:]
    /// The last pins of all lists, by their first pin.
    private var lasts: [UInt64: Set<UInt64>] = [:]
    /// The records of checkpoints, by epoch.
    private(set) var records: [UInt64: RunList] = [:]

    var pageCount: Int {
        records.values.reduce(0) { $0 + $1.pageCount }
            + lists.values.reduce(0) { $0 + $1.values.reduce(0) { $0 + $1.pageCount } }
    }

    var runCount: Int { lists.values.reduce(0) { $0 + $1.values.reduce(0) { $0 + $1.runCount } } }

    mutating func append(_ run: PageRun, first: UInt64, last: UInt64) {
        if lists[last]?[first]?.append(run) == nil { append(RunList([run]), first: first, last: last) }
    }

    mutating func append(_ list: RunList, first: UInt64, last: UInt64) {
        lists[last, default: [:]][first, default: RunList()].append(list)
        lasts[first, default: []].insert(last)
    }

    mutating func append(record run: PageRun, of epoch: UInt64) {
        records[epoch, default: RunList()].append(run)
    }

    /// Removes a pin, and returns the runs that no pin holds now.
    ///
    /// - Parameters:
    ///   - before: the pin before the removed one.
    ///   - after: the pin after it.
    mutating func remove(pin: UInt64, before: UInt64?, after: UInt64?) -> [RunList] {
        var released = records.removeValue(forKey: pin).map { [$0] } ?? []
        // Sorted, so that equal stores behave alike.
        for (first, list) in (lists.removeValue(forKey: pin) ?? [:]).sorted(by: { $0.key < $1.key }) {
            lasts[first]?.remove(pin)
            if lasts[first]?.isEmpty == true { lasts[first] = nil }
            if let before, first <= before {
                append(list, first: first, last: before)
            } else {
                released.append(list)
            }
        }
        for last in (lasts.removeValue(forKey: pin) ?? []).sorted() {
            guard let after, let list = lists[last]?.removeValue(forKey: pin) else {
                preconditionFailure("the last pin of a list must not be before its first")
            }
            append(list, first: after, last: last)
        }
        return released
    }

    // MARK: For checkpoints

    /// The runs that a pinned state does not reach although it is not younger: those retired up to then, and all
    /// records.
    func lists(notReachedAt epoch: UInt64) -> [RetiredList] {
        let retired = lists.keys.filter { $0 < epoch }.sorted().flatMap { last in
            (lists[last] ?? [:]).sorted { $0.key < $1.key }.map {
                RetiredList(birth: $0.key, end: last + 1, runs: $0.value)
            }
        }
        return retired
            + records.keys.filter { $0 <= epoch }.sorted().compactMap { epoch in
                records[epoch].map { RetiredList(birth: epoch, end: 0, runs: $0) }
            }
    }

    /// Calls `body` with the runs retired after a pinned state. They are few, because few states are published while a
    /// checkpoint begins.
    func forEachRun(retiredAfter epoch: UInt64, _ body: (PageRun) -> Void) {
        for (last, lists) in lists where last >= epoch {
            for list in lists.values { list.forEachRun(body) }
        }
    }

    func forEachRun(_ body: (PageRun) -> Void) {
        for list in lists.values.lazy.flatMap(\.values) { list.forEachRun(body) }
        for list in records.values { list.forEachRun(body) }
    }
}
