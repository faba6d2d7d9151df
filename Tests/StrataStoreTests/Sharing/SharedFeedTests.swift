import StrataModel
import StrataSystem
import Testing

@testable import StrataStore

/// The feeds of members, case by case: B360 to B363.
@Suite("Feeds of the shared database")
struct SharedFeedTests {
    private let world: SharedWorld

    init() throws {
        world = try SharedWorld()
        try world.write {
            for name in ["r", "q", "x"] { try world.save(name) }
            try world.save("c", parent: "r")
            try world.save("d", parent: "q")
        }
        try world.write { try world.share(root: "r") }
        try world.write { try world.share(root: "q") }
        try world.write { try world.set(.readWrite, of: "ben", in: 1) }
    }

    private func page(
        since token: FeedToken? = nil, limit: Int = 0, as user: String = "ben"
    ) throws -> ZoneFeedPage {
        try world.store.zoneChanges(of: world.zone, in: world.shared, since: token, limit: limit, as: world.actor(user))
    }

    private func text(_ page: ZoneFeedPage) -> [String] {
        (page.changed.map { "+" + $0.id.name } + page.deleted.map { "-" + $0.id.name }).sorted()
    }

    private func changes(since token: FeedToken) throws -> [String] { text(try page(since: token)) }

    private func database(since token: FeedToken? = nil) throws -> (changed: Int, deleted: Int, token: FeedToken) {
        let page = try world.store.databaseChanges(in: world.shared, since: token, as: world.actor("ben"))
        return (page.changed.count, page.deleted.count, page.token)
    }

    private func expires(_ token: FeedToken) throws -> Bool {
        do { _ = try page(since: token) } catch let refusal as Refusal where refusal.code == .changeTokenExpired {
            return true
        }
        return false
    }

    @Test("What is said of a member's token is what a fetch answers, also once the owner's tokens have expired")
    func validity() throws {
        func isServed(_ token: FeedToken) throws -> Bool { try world.store.standing(of: token).refusal == nil }
        let token = try page().token
        #expect(try isServed(token) && !expires(token))
        try world.write { try world.save("c", parent: "r", n: 2) }
        try world.store.expireTokens(before: world.store.offset, in: DatabaseID(.private, owner: "anna"))
        #expect(try !isServed(token) && expires(token))
        let next = try page().token
        #expect(try isServed(next) && !expires(next))
    }

    @Test("B361 what is saved, moved in, moved out and deleted comes once; the rest never")
    func changes() throws {
        var token = try page().token
        #expect(try changes(since: token).isEmpty)
        try world.write { try world.save("x", n: 1) }
        #expect(try changes(since: token).isEmpty && database(since: database().token).changed == 0)
        try world.write { try world.save("c", parent: "r", n: 2) }
        #expect(try changes(since: token) == ["+c"])
        // A record that comes from elsewhere brings what is below it, though only one was written.
        try world.write { try world.save("y", parent: "x") }
        token = try page(since: token).token
        try world.write { try world.save("x", parent: "c") }
        #expect(try changes(since: token) == ["+x", "+y"])
        token = try page(since: token).token
        try world.write { try world.save("x") }
        #expect(try changes(since: token) == ["-x", "-y"])
        let types = try Set(page(since: token).deleted.map(\.type))
        #expect(types == ["Note"])
        token = try page(since: token).token
        try world.write { try world.delete("c") }
        #expect(try changes(since: token) == ["-c"])
    }

    @Test("B361 the share comes with every change of its list")
    func shareRecord() throws {
        let token = try page().token
        try world.write { try world.set(.readOnly, of: "cleo", in: 1) }
        #expect(try changes(since: token) == ["+Share-1"])
    }

    @Test("B362 joining a second share adds its records, and leaving it takes them away, with the share")
    func twoShares() throws {
        var token = try page().token
        try world.write { try world.set(.readOnly, of: "ben", in: 2) }
        #expect(try changes(since: token) == ["+Share-2", "+d", "+q"])
        let before = token
        token = try page(since: token).token
        try world.write { try world.leave("ben", 2) }
        #expect(try changes(since: token) == ["-Share-2", "-d", "-q"])
        // Who never asked meanwhile learns nothing of it.
        #expect(try changes(since: before).isEmpty)
        #expect(try changes(since: page(since: token).token).isEmpty)
    }

    @Test("What changes in a share after the member left it comes as a deletion if the member knew it, else not at all")
    func changesAfterLeaving() throws {
        try world.write { try world.set(.readOnly, of: "ben", in: 2) }
        let token = try page().token
        try world.write { try world.leave("ben", 2) }
        try world.write {
            try world.save("d", parent: "q", n: 9)
            try world.save("e", parent: "q")
        }
        try world.write { try world.save("x", parent: "q") }
        #expect(try changes(since: token) == ["-Share-2", "-d", "-q"])
    }

    @Test("A record that moves from one share to another is a change, and no deletion")
    func betweenShares() throws {
        try world.write { try world.set(.readOnly, of: "ben", in: 2) }
        let token = try page().token
        try world.write { try world.save("c", parent: "q") }
        #expect(try changes(since: token) == ["+c"])
    }

    @Test("B363 a token expires once access is back, after the membership ended or the permission was none; else never")
    func lives() throws {
        var token = try page().token
        try world.write { try world.set(.readOnly, of: "ben", in: 1) }
        #expect(try changes(since: token) == ["+Share-1"])
        try world.write { try world.set(.none, of: "ben", in: 1) }
        try world.write { try world.set(.readWrite, of: "ben", in: 1) }
        #expect(try expires(token))
        token = try page().token
        try world.write { try world.leave("ben", 1) }
        try world.write { try world.set(.readWrite, of: "ben", in: 1) }
        #expect(try expires(token))
        // The same holds if another share of the zone is what comes next.
        let second = try page().token
        try world.write { try world.leave("ben", 1) }
        try world.write { try world.set(.readWrite, of: "ben", in: 2) }
        #expect(try expires(second))
        // But not if they overlap.
        let third = try page().token
        try world.write { try world.set(.readWrite, of: "ben", in: 1) }
        try world.write { try world.leave("ben", 2) }
        #expect(try changes(since: third) == ["+Share-1", "+c", "+r", "-Share-2", "-d", "-q"])
        // The permission none ends access to the zone, too, unless another share overlaps.
        let fourth = try page().token
        try world.write { try world.set(.none, of: "ben", in: 1) }
        try world.write { try world.set(.readWrite, of: "ben", in: 2) }
        #expect(try expires(fourth))
        let fifth = try page().token
        try world.write { try world.set(.readWrite, of: "ben", in: 1) }
        try world.write { try world.set(.none, of: "ben", in: 2) }
        #expect(try changes(since: fifth) == ["+Share-1", "+c", "+r", "-Share-2", "-d", "-q"])
    }

    @Test("B361 a token that claims to know a share whose access ended before is refused")
    func forged() throws {
        try world.write { try world.set(.readWrite, of: "ben", in: 2) }
        let known = try page().token.knownShares
        try world.write { try world.leave("ben", 1) }
        try world.write { try world.save("secret", parent: "r") }
        var token = try page(since: page().token).token
        #expect(token.knownShares.map(\.share) == [2])
        token.knownShares = known
        #expect(try expires(token))
    }

    @Test("B340 B361 a token that claims to know a share that never gave access is refused, and tells no hidden name")
    func forgedWithoutAccess() throws {
        let before = try page().token
        try world.write { try world.set(.none, of: "ben", in: 2) }
        let end = try world.store.offset
        try world.write { try world.save("secret", parent: "q") }
        for token in [before, try page().token] {
            for offset in 1...end {
                for event in 0..<12 as Range<UInt32> {
                    var forged = token
                    forged.knownShares.append(.init(share: 2, joined: Version(offset: offset, eventIndex: event)))
                    #expect(try expires(forged), "event \(event) of commit \(offset)")
                }
            }
        }
    }

    @Test("B361 a share that gave access and took it away in one commit is not known to a token")
    func forgedWithinCommit() throws {
        let before = try page().token
        try world.write {
            try world.set(.readOnly, of: "ben", in: 2)
            try world.set(.none, of: "ben", in: 2)
        }
        for event in 0..<12 as Range<UInt32> {
            var forged = before
            let joined = try Version(offset: world.store.offset, eventIndex: event)
            forged.knownShares.append(.init(share: 2, joined: joined))
            #expect(try expires(forged), "event \(event)")
        }
    }

    @Test("B361 the record of a share that ended comes as changed if a later share has its name")
    func reusedName() throws {
        try world.write { try world.set(.readWrite, of: "ben", in: 2) }
        let token = try page().token
        try world.write { try world.end(1) }
        try world.write { try world.share(root: "r", record: "Share-1") }
        try world.write { try world.set(.readWrite, of: "ben", in: 3) }
        #expect(try changes(since: token) == ["+Share-1", "+c", "+r"])
    }

    @Test("B340 B365 what changes after the end of the access is neither pushed nor in the feed of the database")
    func afterTheEnd() async throws {
        try world.subscribe("ben")
        _ = try await world.missed("ben")
        var token = try database().token
        func news() async throws -> [String] {
            let next = try database(since: token)
            token = next.token
            return [String](repeating: "changed", count: next.changed)
                + [String](repeating: "deleted", count: next.deleted) + (try await world.missed("ben"))
        }
        try world.write { try world.set(.none, of: "ben", in: 1) }
        #expect(try await news() == ["deleted", "s"])
        for role in [ShareRole.administrator, .privateUser] {
            try world.write { try world.set(.none, of: "ben", in: 1, role: role) }
            #expect(try await news().isEmpty, "\(role)")
        }
        try world.write { try world.leave("ben", 1) }
        #expect(try await news().isEmpty)
    }

    @Test("B360 the zone comes when something visible changes, and goes with the last share")
    func databaseFeed() throws {
        var token = try database().token
        try world.write { try world.save("c", parent: "r", n: 5) }
        var next = try database(since: token)
        #expect(next.changed == 1 && next.deleted == 0)
        token = next.token
        try world.write { try world.save("d", parent: "q", n: 5) }
        next = try database(since: token)
        #expect(next.changed == 0 && next.deleted == 0)
        try world.write { try world.set(.readOnly, of: "ben", in: 1) }
        next = try database(since: token)
        #expect(next.changed == 1 && next.deleted == 0)
        token = next.token
        try world.write { try world.end(1) }
        next = try database(since: token)
        #expect(next.changed == 0 && next.deleted == 1)
        #expect(try database(since: next.token).deleted == 0)
        #expect(try database().changed == 0)
    }

    @Test("Pages of any size have the same, each thing once", arguments: 1...7)
    func pages(_ limit: Int) throws {
        try world.write { for number in 0..<9 { try world.save("n\(number)", parent: "c") } }
        try world.write { try world.set(.readOnly, of: "ben", in: 2) }
        var (names, token): ([String], FeedToken?) = ([], nil)
        while true {
            let page = try page(since: token, limit: limit)
            names += text(page)
            token = try FeedToken(payload: page.token.payload())
            if !page.moreComing { break }
        }
        #expect(names.sorted() == world.visible(to: "ben").keys.map { "+" + $0 }.sorted())
        #expect(token?.knownShares.map(\.share) == [1, 2])
    }

    @Test("More shared records than a page reads come in several")
    func manyRecords() throws {
        try world.write { for number in 0..<4_200 { try world.save("n\(number)", parent: "c") } }
        let token = try page().token
        // None of them is visible any more: pages may be empty.
        try world.write { for number in 0..<4_200 { try world.delete("n\(number)") } }
        var (count, next, pages) = (0, token, 0)
        while true {
            let page = try page(since: next, limit: 400)
            (count, next, pages) = (count + page.deleted.count, page.token, pages + 1)
            if !page.moreComing { break }
        }
        #expect(count <= 4_200 && pages > 1)
    }

    @Test("A share of the whole zone follows all of it from the join on, and its token is of no use elsewhere")
    func wholeZone() throws {
        let hierarchical = try page().token
        try world.write { try world.end(1) }
        try world.write { try world.end(2) }
        try world.write { try world.share(root: nil) }
        try world.write { try world.set(.readOnly, of: "ben", in: 3) }
        #expect(try expires(hierarchical))
        var (names, token): ([String], FeedToken?) = ([], nil)
        while true {
            let page = try page(since: token, limit: 2)
            (names, token) = (names + text(page), page.token)
            if !page.moreComing { break }
        }
        #expect(names.sorted() == ["+c", "+cloudkit.zoneshare", "+d", "+q", "+r", "+x"])
        let whole = try #require(token)
        try world.write {
            try world.save("x", n: 4)
            try world.delete("d")
        }
        #expect(try changes(since: whole) == ["+x", "-d"])
        try world.write { try world.leave("ben", 3) }
        try world.write { try world.set(.readOnly, of: "ben", in: 3) }
        #expect(try expires(whole))
    }

    @Test("A token with broken progress is refused, and never traps")
    func brokenTokens() throws {
        var token = try page(limit: 1).token
        guard case .sharesBefore(var progress) = token.progress else {
            Issue.record("no progress in \(token)")
            return
        }
        for (base, share) in [(UInt64.max >> 21, UInt64(1)), (0, .max), (1, 0)] {
            (progress.base, progress.share) = (base, share)
            token.progress = .sharesBefore(progress)
            _ = try? page(since: try FeedToken(payload: token.payload()))
        }
        token.knownShares = [.init(share: 77, joined: Version(offset: 1, eventIndex: 0))]
        #expect(try expires(token))
    }
}
