import StrataLog
import StrataModel
import StrataReplay
import StrataStore

/// The meaning of a change token for its store: its age, the changes it lacks, and the next pages of its feed.
struct TokenStatus {
    /// The changes that a client with the token would receive.
    struct Next {
        var firstPage: (changed: Int, deleted: Int, moreComing: Bool)?
        var pageCount = 0
        var changedCount = 0
        var deletedCount = 0
    }

    /// The time of the commit at its offset; nil if that was compacted.
    private(set) var time: Int64?
    /// Microseconds from there to the store's last commit.
    private(set) var age: Int64?
    /// The number of later commits in the store.
    let commitsBehind: UInt64
    /// The number of later commits that changed records of its zone, and of their changes; nil for the feed of a
    /// database, and for a token that is not served.
    private(set) var zoneChangesBehind: (commits: UInt64, changes: UInt64)?
    /// Nil for a token that is not served.
    private(set) var next: Next?
    /// The lowest offset such that compacting everything before it expires the token; nil if no possible compaction
    /// does.
    private(set) var expiringCompaction: UInt64?
    /// True if compacting everything before the store's last commit expires the token.
    private(set) var expiresWithCompactionAtEnd = false
    /// The reason why a token that fits the store is not served: the rest of a partly delivered commit was compacted.
    private(set) var refusal: Refusal?
    /// True if the token points into a commit.
    private let isWithinCommit: Bool
    /// The offset of the store's last commit.
    let end: UInt64

    /// Returns nil for a token of another store, or of a history that this store does not have.
    init?(_ token: FeedToken, _ standing: TokenValidity, _ access: StateAccess) throws {
        let log = try access.log()
        end = access.store.offset
        let offset = token.position.offset
        guard token.store == log.identity.storeID, offset <= end else { return nil }
        if offset >= log.floor.offset, try log.chain(at: offset) != token.position.chain { return nil }
        commitsBehind = end - offset
        if case .within = token.progress { isWithinCommit = true } else { isWithinCommit = false }
        time = try log.timeIfKept(of: offset)
        if let time, let last = try log.timeIfKept(of: end) { age = last - time }
        guard standing.refusal == nil else { return }
        do { next = try Self.next(token, standing.zone, access.store) } catch let refusal as Refusal {
            self.refusal = refusal
            return
        }
        if case .zone(let zone, _) = token.feed {
            zoneChangesBehind = try token.changesBehind(of: zone, through: end, in: log)
        }
        let lastHarmless = Self.lastHarmlessFloor(of: token)
        // Compacting everything before X makes X - 1 the floor, and X is at most the end plus 1.
        if lastHarmless < end { expiringCompaction = lastHarmless + 2 }
        expiresWithCompactionAtEnd = end > lastHarmless + 1
    }

    /// A token within a commit needs the rest of that commit in the log.
    private static func lastHarmlessFloor(of token: FeedToken) -> UInt64 {
        let offset = token.position.offset
        if case .zone = token.feed, case .within = token.progress, offset > 0 { return offset - 1 }
        return offset
    }

    private static func next(_ token: FeedToken, _ zone: ZoneID?, _ store: Store) throws -> Next {
        let feed = FeedReading(
            store: store, database: token.database, zone: zone, actor: Actor(user: token.database.owner))
        var next = Next()
        try feed.forEachPage(since: token) { page in
            let (changed, deleted) = (page.changedCount, page.deletedCount)
            if next.firstPage == nil { next.firstPage = (changed, deleted, page.moreComing) }
            next.pageCount += 1
            next.changedCount += changed
            next.deletedCount += deleted
            return true
        }
        return next
    }
}

// MARK: For people

extension TokenStatus {
    var lines: [(label: String, text: String)] {
        var lines = [(label: "made", text: madeText), (label: "behind", text: behindText)]
        if let next { lines.append((label: "next", text: Self.text(of: next))) }
        if next != nil { lines.append((label: "expires", text: expiryText)) }
        return lines
    }

    private var madeText: String {
        guard let time else { return "at a commit that was compacted" }
        let text = "\(Timestamp(microseconds: time))"
        guard let age else { return text }
        return text + (age == 0 ? ", as the last commit" : ", \(TimeSpan.text(age)) before the last commit")
    }

    private var behindText: String {
        var text = commitsBehind.counted("commit") + (isWithinCommit ? " and the rest of its own commit" : "")
        guard let (commits, changes) = zoneChangesBehind else { return text }
        text += ", \(commits) of them in the zone"
        return text + (changes == 0 ? "" : ", with \(changes.counted("change"))")
    }

    private static func text(of next: Next) -> String {
        var text = "\(next.changedCount) changed, \(next.deletedCount) deleted"
        guard let first = next.firstPage, first.moreComing else { return text + ", in one page" }
        text += ", in \(next.pageCount.counted("page")); the first has \(first.changed) and \(first.deleted)"
        return text
    }

    private var expiryText: String {
        guard let expiringCompaction else { return "with no compaction that is currently possible" }
        let atEnd = expiresWithCompactionAtEnd ? "including one" : "but not one"
        return "with a compaction before \(expiringCompaction) or later, \(atEnd) before the end, \(end)"
    }
}

// MARK: For programs

extension TokenStatus {
    static let shape = Shape<Self>("The status of a token") {
        Key("time", "of the commit at its offset, or null if that was compacted") { $0.time }
        Key("age", "microseconds from then to the store's last commit") { $0.age }
        Key("commitsBehind", "how many commits of the store come after its offset") { $0.commitsBehind }
        Key(
            "zoneCommitsBehind",
            "how many of them changed records of the zone, counting the commit at the offset if the token has it only "
                + "in part", if: "of a served zone's feed"
        ) { $0.zoneChangesBehind?.commits }
        Key("zoneChangesBehind", "how many changes these have", if: "of a served zone's feed") {
            $0.zoneChangesBehind?.changes
        }
        Key("next", "the results of a fetch with it", if: "if it is served") { $0.next }
        Key(
            "expiresBefore",
            "the lowest OFFSET for `strata compact --before` after which it is no longer served, null for none now",
            if: "if it is served"
        ) { status in status.next.map { _ in status.expiringCompaction } }
        Key("expiresAtEnd", "true if the store's last offset would be one", if: "if it is served") { status in
            status.next.map { _ in status.expiresWithCompactionAtEnd }
        }
    }
}

extension TokenStatus.Next: Shaped {
    static let shape = Shape<Self>("What a token would be given") {
        Key("changed", "how many have changed, in all pages") { $0.changedCount }
        Key("deleted", "how many were deleted, in all pages") { $0.deletedCount }
        Key("pages", "how many there are") { $0.pageCount }
        Key("firstChanged", "how many of the first page have changed") { $0.firstPage?.changed ?? 0 }
        Key("firstDeleted", "how many of the first page were deleted") { $0.firstPage?.deleted ?? 0 }
    }
}
