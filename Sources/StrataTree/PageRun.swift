/// Consecutive pages.
struct PageRun: Hashable {
    var first: PageNumber
    var count: Int

    var range: Range<PageNumber> { first..<first + PageNumber(count) }
}

/// Pages that snapshots from `birth` on can reach, up to in front of `retired`.
struct RetiredRun: Equatable {
    var run: PageRun
    var birth: UInt64
    var retired: UInt64
}
