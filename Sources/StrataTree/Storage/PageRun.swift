/// Consecutive pages.
struct PageRun: Hashable, Sendable {
    var first: PageNumber
    var count: Int

    var range: Range<PageNumber> { first..<first + PageNumber(count) }
}

/// Pages that snapshots from `birth` up to, but not including, `retired` can reach.
///
/// A fork keeps one for each page that it copies.
struct RetiredRun: Equatable, Sendable {
    private let first: PageNumber
    private let count: UInt32
    let birth: UInt64
    /// 0 for a record, which only the checkpoint of `birth` reaches.
    private let end: UInt64

    init(run: PageRun, birth: UInt64, retired: UInt64) {
        self.init(run, birth, end: retired)
    }

    private init(_ run: PageRun, _ birth: UInt64, end: UInt64) {
        first = run.first
        // Fits, because page numbers also have 32 bits.
        count = UInt32(run.count)
        self.birth = birth
        self.end = end
    }

    static func record(_ run: PageRun, of epoch: UInt64) -> RetiredRun { RetiredRun(run, epoch, end: 0) }

    var run: PageRun { PageRun(first: first, count: Int(count)) }
    var retired: UInt64 { isRecord ? birth + 1 : end }
    /// True if the run holds the record of the checkpoint of `birth`, which no tree reaches.
    var isRecord: Bool { end == 0 }
}
