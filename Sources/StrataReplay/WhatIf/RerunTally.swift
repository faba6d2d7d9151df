/// The results so far of replaying a history with changes.
struct RerunTally {
    private static let maximumUnjudged = 1_000

    var commitCount = 0
    var changedCount = 0
    var directCount = 0
    /// The number of commits that only record a note, such as a fetch, and have no request.
    var noteCount = 0
    private(set) var unjudged: [RerunReport.Unjudged] = []
    private(set) var unjudgedCount = 0
    /// The first commit that differs in the new timeline, and how it differs.
    var divergence: (offset: UInt64, reason: String)?

    /// Adds a commit to the last run if it follows that with the same reason.
    mutating func addUnjudged(_ offset: UInt64, _ reason: String, isKept: Bool) {
        unjudgedCount += 1
        if let last = unjudged.last, last.offsets.upperBound + 1 == offset,
            (last.reason, last.isKept) == (reason, isKept)
        {
            unjudged[unjudged.count - 1].offsets = last.offsets.lowerBound...offset
        } else if unjudged.count < Self.maximumUnjudged {
            unjudged.append(.init(offsets: offset...offset, reason: reason, isKept: isKept))
        }
    }
}
