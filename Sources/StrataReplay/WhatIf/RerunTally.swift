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

    mutating func addUnjudged(_ offset: UInt64, _ reason: String, isKept: Bool) {
        unjudgedCount += 1
        append(.init(offsets: offset...offset, reason: reason, isKept: isKept))
    }

    /// Appends to the last run if the commit follows it with the same reason.
    private mutating func append(_ next: RerunReport.Unjudged) {
        if let last = unjudged.last, last.offsets.upperBound + 1 == next.offsets.lowerBound,
            (last.reason, last.isKept) == (next.reason, next.isKept)
        {
            unjudged[unjudged.count - 1].offsets = last.offsets.lowerBound...next.offsets.upperBound
        } else if unjudged.count < Self.maximumUnjudged {
            unjudged.append(next)
        }
    }

    /// Appends the results of the part that follows.
    mutating func add(_ next: RerunTally) {
        commitCount += next.commitCount
        changedCount += next.changedCount
        directCount += next.directCount
        noteCount += next.noteCount
        for commits in next.unjudged { append(commits) }
        unjudgedCount += next.unjudgedCount
        divergence = divergence ?? next.divergence
    }
}
