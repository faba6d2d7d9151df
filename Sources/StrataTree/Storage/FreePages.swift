/// The pages that may be used again, as single pages and runs.
struct FreePages {
    private(set) var singles: [PageNumber] = []
    /// Longer runs by length; no list is empty.
    private(set) var runs: [Int: [PageNumber]] = [:]
    private(set) var count = 0
    /// The number of pages that were returned since neighbors were last joined.
    private var givenSinceJoin = 0

    mutating func give(_ run: PageRun) {
        givenSinceJoin += run.count
        keep(run)
    }

    private mutating func keep(_ run: PageRun) {
        count += run.count
        if run.count == 1 { singles.append(run.first) } else { runs[run.count, default: []].append(run.first) }
    }

    mutating func takeSingle() -> PageNumber? {
        if let number = singles.popLast() {
            count -= 1
            return number
        }
        return takeRun(1)
    }

    /// Takes a run of exactly this length, cut from a longer run or joined from shorter ones if necessary.
    mutating func takeRun(_ length: Int) -> PageNumber? {
        if length == 1, let number = singles.popLast() {
            count -= 1
            return number
        }
        if let first = cutRun(length) { return first }
        guard count >= length, givenSinceJoin >= length else { return nil }
        joinIfWorthwhile()
        return cutRun(length)
    }

    /// Joins neighboring runs. That examines all free pages, and pays off once a good part of them is new.
    mutating func joinIfWorthwhile() {
        guard givenSinceJoin >= max(1, count / 4) else { return }
        let pages = pages
        (singles, runs, count, givenSinceJoin) = ([], [:], 0, 0)
        pages.forEachRun { keep($0) }
    }

    private mutating func cutRun(_ length: Int) -> PageNumber? {
        let lengths = runs.keys.lazy.filter { $0 > length }
        guard let fitting = runs[length] != nil ? length : lengths.min() else { return nil }
        // The list is not empty, because empty lists are removed.
        guard let first = runs[fitting]?.popLast() else { return nil }
        if runs[fitting]?.isEmpty == true { runs[fitting] = nil }
        count -= fitting
        if fitting > length { keep(PageRun(first: first + PageNumber(length), count: fitting - length)) }
        return first
    }

    var pages: PageSet {
        var pages = PageSet()
        for number in singles { pages.insert(number) }
        for (length, starts) in runs {
            for first in starts { pages.insert(first..<first + PageNumber(length)) }
        }
        return pages
    }
}
