import StrataLog

/// Counts commits and their events, with what `strata stats` prints of them.
struct CommitCounts {
    private var commits = Tally()
    private(set) var events = Tally()
    private(set) var lazyCount: UInt64 = 0
    private(set) var malformedCount: UInt64 = 0
    private(set) var firstOffset: UInt64?
    private(set) var lastOffset: UInt64?
    private(set) var firstTime: Int64?
    private(set) var lastTime: Int64?

    var count: UInt64 { commits.count }
    var byteCount: UInt64 { commits.byteCount }

    mutating func add(_ commit: Commit, isLazy: Bool) {
        commits.add(bytes: commit.payload.count)
        if isLazy { lazyCount += 1 }
        (firstOffset, firstTime) = (firstOffset ?? commit.offset, firstTime ?? commit.time)
        (lastOffset, lastTime) = (commit.offset, commit.time)
    }

    mutating func addEvent(bytes: Int) { events.add(bytes: bytes) }
    mutating func addMalformed() { malformedCount += 1 }

    static let shape = Shape<Self>("Commits that are counted") {
        Key("commits", "how many") { $0.count }
        Key("payloadBytes", "bytes of their payloads") { $0.byteCount }
        Key("events", "how many") { $0.events.count }
        Key("eventBytes", "bytes of their bodies") { $0.events.byteCount }
        Key("lazyCommits", "lazy commits, for which no caller waited") { $0.lazyCount }
        Key("malformedCommits", "commits whose payload cannot be decoded") { $0.malformedCount }
        Key("firstOffset", "of the first commit that was counted") { $0.firstOffset }
        Key("lastOffset", "of the last") { $0.lastOffset }
        Key("firstTime", "of the first") { $0.firstTime }
        Key("lastTime", "of the last") { $0.lastTime }
    }

    var lines: [(String, String)] {
        var text = "\(count)"
        if let first = firstOffset, let last = lastOffset { text += ", \(first) to \(last)" }
        if let first = firstTime, let last = lastTime {
            text += ", \(Timestamp(microseconds: first)) to \(Timestamp(microseconds: last))"
        }
        if lazyCount > 0 { text += "; \(lazyCount) lazy" }
        if malformedCount > 0 { text += "; \(malformedCount) malformed" }
        return [
            ("commits", text), ("events", "\(events.count), \(events.byteCount.counted("byte"))"),
            ("payloads", byteCount.counted("byte")),
        ]
    }
}
