/// What has come of telling a history once more so far.
struct RetellingTally {
    private static let maximumUnjudged = 1_000

    var commitCount = 0
    var changedCount = 0
    var directCount = 0
    private(set) var unjudged: [RetellingReport.Unjudged] = []
    private(set) var unjudgedCount = 0
    /// The first commit that is another one in the new timeline, and in what.
    var divergence: (offset: UInt64, reason: String)?

    mutating func addUnjudged(_ commit: RetellingReport.Unjudged) {
        unjudgedCount += 1
        if unjudged.count < Self.maximumUnjudged { unjudged.append(commit) }
    }

    /// Goes on with what came of the part behind.
    mutating func add(_ next: RetellingTally) {
        commitCount += next.commitCount
        changedCount += next.changedCount
        directCount += next.directCount
        unjudged += next.unjudged.prefix(Self.maximumUnjudged - unjudged.count)
        unjudgedCount += next.unjudgedCount
        divergence = divergence ?? next.divergence
    }
}
