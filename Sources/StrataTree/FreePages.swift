/// Pages that may be used again, singly and in runs.
struct FreePages {
    private var singles: [PageNumber] = []
    /// Longer runs by their length; no list is empty.
    private var runs: [Int: [PageNumber]] = [:]
    private(set) var count = 0

    init() {}

    init(_ runs: [PageRun]) {
        for run in runs { give(run) }
    }

    mutating func give(_ run: PageRun) {
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

    /// A run of exactly so many pages, cut from a longer one if need be.
    mutating func takeRun(_ length: Int) -> PageNumber? {
        if length == 1, let number = singles.popLast() {
            count -= 1
            return number
        }
        guard let fitting = runs[length] != nil ? length : runs.keys.filter({ $0 > length }).min() else { return nil }
        // The list is not empty, or it would not be there.
        guard let first = runs[fitting]?.popLast() else { return nil }
        if runs[fitting]?.isEmpty == true { runs[fitting] = nil }
        count -= fitting
        if fitting > length { give(PageRun(first: first + PageNumber(length), count: fitting - length)) }
        return first
    }

    var all: [PageRun] {
        singles.map { PageRun(first: $0, count: 1) }
            + runs.flatMap { length, starts in starts.map { PageRun(first: $0, count: length) } }
    }
}
