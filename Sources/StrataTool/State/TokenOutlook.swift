import StrataLog
import StrataModel
import StrataStore

/// What a change token means to the store that it is of: how old it is, what it lacks, and what it would be given next.
struct TokenOutlook {
    /// What a client would be given that asks with the token.
    struct Next {
        var firstPage: (changed: Int, deleted: Int, moreComing: Bool)?
        var pageCount = 0
        var changedCount = 0
        var deletedCount = 0
    }

    /// Time of the commit at its offset; nil if that was let go.
    private(set) var time: Int64?
    /// Microseconds from there to the store's last commit.
    private(set) var age: Int64?
    /// Commits of the store that came later.
    let commitsBehind: UInt64
    /// Of these the commits that changed records of its zone, and how many changes there were; nil for the feed of a
    /// database, and for a token that is not served.
    private(set) var zoneChangesBehind: (commits: UInt64, changes: UInt64)?
    /// Nil for a token that is not served.
    private(set) var next: Next?
    /// The lowest offset in front of which history would have to be let go to have the token expire; nil if none that
    /// can be let go now would.
    private(set) var expiringCompaction: UInt64?
    /// Whether letting go of what is in front of the store's last commit would.
    private(set) var expiresWithCompactionAtEnd = false
    /// Why it is not served, though it fits the store: of a commit that was not wholly seen the rest was let go.
    private(set) var refusal: Refusal?
    /// Whether it is of the middle of a commit.
    private let isWithinCommit: Bool
    /// Of the store.
    let end: UInt64

    /// Nil for a token of another store, and of a history that this store does not have.
    init?(_ token: FeedToken, _ standing: TokenStanding, _ access: StateAccess) throws {
        let log = try access.log()
        end = access.store.offset
        let offset = token.position.offset
        guard token.store == log.identity.storeID, offset <= end else { return nil }
        if offset >= log.floor.offset, try log.chain(at: offset) != token.position.chain { return nil }
        commitsBehind = end - offset
        if case .within = token.progress { isWithinCommit = true } else { isWithinCommit = false }
        let times = CommitTimes(log: log)
        time = try times.time(of: offset)
        if let time, let last = try times.time(of: end) { age = last - time }
        guard standing.refusal == nil else { return }
        do { next = try Self.next(token, standing.zone, access.store) } catch let refusal as Refusal {
            self.refusal = refusal
            return
        }
        if case .zone(let zone, _) = token.feed {
            zoneChangesBehind = try Self.changes(of: zone, behind: token, upTo: end, log)
        }
        let lastHarmless = Self.lastHarmlessFloor(of: token)
        // Letting go of what is in front of X makes X - 1 the floor, and X is the end's successor at most.
        if lastHarmless < end { expiringCompaction = lastHarmless + 2 }
        expiresWithCompactionAtEnd = end > lastHarmless + 1
    }

    /// Of a commit that was not wholly seen the log must still have the rest.
    private static func lastHarmlessFloor(of token: FeedToken) -> UInt64 {
        let offset = token.position.offset
        if case .zone = token.feed, case .within = token.progress, offset > 0 { return offset - 1 }
        return offset
    }

    private static func changes(
        of zone: UInt64, behind token: FeedToken, upTo end: UInt64, _ log: LogReader
    ) throws -> (commits: UInt64, changes: UInt64) {
        var (offset, seen) = (token.position.offset, UInt64.max)
        if case .within(let event) = token.progress, offset > 0 { (offset, seen) = (offset - 1, event) }
        var (commits, changes, last): (UInt64, UInt64, UInt64) = (0, 0, 0)
        while offset < end {
            let page = try log.touches(zone: zone, after: offset, limit: 4_096)
            for touch in page.touches where touch.offset <= end {
                guard touch.kind == .recordSaved || touch.kind == .recordDeleted else { continue }
                if touch.offset == token.position.offset, UInt64(touch.eventIndex) <= seen { continue }
                changes += 1
                if touch.offset != last { commits += 1 }
                last = touch.offset
            }
            guard page.moreComing else { break }
            offset = page.readThrough
        }
        return (commits, changes)
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

extension TokenOutlook {
    var lines: [(label: String, text: String)] {
        var lines = [(label: "made", text: madeText), (label: "behind", text: behindText)]
        if let next { lines.append((label: "next", text: Self.text(of: next))) }
        if next != nil { lines.append((label: "expires", text: expiryText)) }
        return lines
    }

    private var madeText: String {
        guard let time else { return "at a commit that was let go" }
        let text = "\(Timestamp(microseconds: time))"
        guard let age else { return text }
        return text + (age == 0 ? ", as the last commit" : ", \(TimeSpan.text(age)) before the last commit")
    }

    private var behindText: String {
        var text = commitsBehind.counted("commit") + (isWithinCommit ? " and the rest of its own" : "")
        guard let (commits, changes) = zoneChangesBehind else { return text }
        text += ", \(commits) of them of the zone"
        return text + (changes == 0 ? "" : ", with \(changes.counted("change"))")
    }

    private static func text(of next: Next) -> String {
        var text = "\(next.changedCount) changed, \(next.deletedCount) deleted"
        guard let first = next.firstPage, first.moreComing else { return text + ", in one page" }
        text += ", in \(next.pageCount.counted("page")); the first has \(first.changed) and \(first.deleted)"
        return text
    }

    private var expiryText: String {
        guard let expiringCompaction else { return "with no compaction that is possible now" }
        let atEnd = expiresWithCompactionAtEnd ? "so also" : "so not"
        return "with a compaction before \(expiringCompaction) or later, \(atEnd) before the end, \(end)"
    }
}

// MARK: For programs

extension JSONWriter {
    /// The keys of docs/guide/tool.md, "A change token", into an object that has begun.
    mutating func writeFields(of outlook: TokenOutlook) {
        if let time = outlook.time { field("time", time) } else { null("time") }
        if let age = outlook.age { field("age", age) } else { null("age") }
        field("commitsBehind", outlook.commitsBehind)
        if let (commits, changes) = outlook.zoneChangesBehind {
            field("zoneCommitsBehind", commits)
            field("zoneChangesBehind", changes)
        }
        guard let next = outlook.next else { return }
        beginObject("next")
        field("changed", next.changedCount)
        field("deleted", next.deletedCount)
        field("pages", next.pageCount)
        field("firstChanged", next.firstPage?.changed ?? 0)
        field("firstDeleted", next.firstPage?.deleted ?? 0)
        endObject()
        if let offset = outlook.expiringCompaction {
            field("expiresBefore", offset)
        } else {
            null("expiresBefore")
        }
        field("expiresAtEnd", outlook.expiresWithCompactionAtEnd)
    }
}
