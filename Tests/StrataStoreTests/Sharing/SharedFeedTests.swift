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

    @Test("B362 B363 a share that changes after the member left it expires the token, and tells no hidden name")
    func changesAfterLeaving() throws {
        try world.write { try world.set(.readOnly, of: "ben", in: 2) }
        let token = try page().token
        try world.write { try world.leave("ben", 2) }
        try world.write {
            try world.save("d", parent: "q", n: 9)
            try world.save("e", parent: "q")
        }
        #expect(try expires(token) && world.store.standing(of: token).refusal?.code == .changeTokenExpired)
        let next = try page()
        #expect(text(next) == ["+Share-1", "+c", "+r"])
        // Only once: the share is not known to the next token.
        try world.write { try world.save("x", parent: "q") }
        #expect(try changes(since: next.token).isEmpty)
    }

    @Test("B363 a record that is saved by the commit that ends the access expires the token")
    func changesWithTheEnd() throws {
        try world.write { try world.set(.readOnly, of: "ben", in: 2) }
        let token = try page().token
        try world.write {
            try world.save("e", parent: "q")
            try world.leave("ben", 2)
        }
        #expect(try expires(token))
        #expect(try text(page()) == ["+Share-1", "+c", "+r"])
    }

    @Test("B362 the end of an access comes in pages of any size, each thing once", arguments: 1...6, [true, false])
    func endInPages(_ limit: Int, ofAll: Bool) throws {
        try world.write {
            try world.save("e", parent: "d")
            try world.save("f", parent: "d")
            try world.save("g", parent: "d")
            try world.set(.readOnly, of: "ben", in: 2)
        }
        var token = try page().token
        // One left before the end, one changed, one is visible by the other share.
        try world.write { try world.save("e") }
        try world.write { try world.save("f", parent: "q", n: 2) }
        try world.write { try world.save("g", parent: "r") }
        try world.write { if ofAll { try world.end(2) } else { try world.leave("ben", 2) } }
        var (names, pages) = ([String](), 0)
        while true {
            let page = try page(since: token, limit: limit)
            names += text(page)
            token = try FeedToken(payload: page.token.payload())
            pages += 1
            if !page.moreComing { break }
        }
        #expect(names.sorted() == ["+g", "-Share-2", "-d", "-e", "-f", "-q"])
        #expect(token.cursors.map(\.share) == [1] && token.progress == .whole && pages >= 6 / limit)
    }

    @Test("B361 a record that moved to a share whose access ends during the fetch comes as a deletion")
    func endDuringFetch() throws {
        let token = try page().token
        try world.write {
            try world.save("c", parent: "q")
            try world.set(.readOnly, of: "ben", in: 2)
        }
        try world.write { try world.save("r", n: 3) }
        // The share that is new has more records than the page.
        let first = try page(since: token, limit: 1)
        #expect(first.moreComing && first.token.cursors.map(\.share) == [1, 2])
        #expect(first.token.progress == .shares(since: token.position.offset))
        try world.write { try world.leave("ben", 2) }
        var (names, next) = (text(first), first.token)
        while true {
            let page = try page(since: next)
            (names, next) = (names + text(page), page.token)
            if !page.moreComing { break }
        }
        #expect(Set(names).isSuperset(of: ["-c", "-Share-2", "+r"]) && !names.contains("+c"))
    }

    @Test("B361 what leaves a share during a first fetch comes as a deletion; what left before it, never")
    func departuresDuringFetch() throws {
        try world.write { for name in ["e", "f", "g"] { try world.save(name, parent: "c") } }
        try world.write { try world.delete("g") }
        let first = try page(limit: 4)
        #expect(text(first) == ["+Share-1", "+c", "+e", "+r"] && first.moreComing)
        try world.write { try world.save("e") }
        let last = try page(since: first.token, limit: 4)
        #expect(text(last) == ["+f", "-e"] && !last.moreComing)
        #expect(try changes(since: last.token).isEmpty)
    }

    @Test("A share that changes before each page does not keep the others from being read")
    func fairness() throws {
        try world.write { try world.set(.readOnly, of: "ben", in: 2) }
        var (names, token) = ([String](), FeedToken?.none)
        for number in 0..<12 {
            try world.write { try world.save("c", parent: "r", n: Int64(number)) }
            let page = try page(since: token, limit: 1)
            names += text(page)
            token = page.token
        }
        #expect(Set(names).isSuperset(of: ["+Share-1", "+Share-2", "+d", "+q", "+r"]))
    }

    @Test("B161 a token of the form without cursors has expired, once")
    func earlierForm() throws {
        let token = try page().token
        // Version 1, feed 2, the store, scope and owner, offset 5, chain value, zone 1, life, share 1, all seen.
        let owner: [UInt8] = [3, 3, 0x62, 0x65, 0x6E]
        let rest: [UInt8] = [5, 0xD2, 0x04, 0x96, 0x49, 1, 0x95, 0x80, 0x40, 1, 1, 0x86, 0x80, 0xC0, 2, 0]
        let payload: [UInt8] = [1, 2] + Array(token.payload()[2..<18]) + owner + rest
        let store = try world.store
        let bytes = try store.engine.secret().seal(payload, as: .changeToken)
        #expect(FeedToken.isOfEarlierRelease(bytes))
        let refusal = #expect(throws: Refusal.self) { try store.token(from: bytes) }
        #expect(refusal?.code == .changeTokenExpired && refusal?.message.contains("earlier release") == true)
        // Other tokens kept their form, and the next fetch is served.
        for other in [token, try database().token] {
            let bytes = try store.bytes(of: other)
            #expect(try !FeedToken.isOfEarlierRelease(bytes) && store.token(from: bytes) == other)
        }
        #expect(try changes(since: token).isEmpty)
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
        let known = try page().token.cursors
        try world.write { try world.leave("ben", 1) }
        try world.write { try world.save("secret", parent: "r") }
        var token = try page(since: page().token).token
        #expect(token.cursors.map(\.share) == [2])
        token.cursors = known
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
                    forged.cursors.append(.init(share: 2, membership: Version(offset: offset, eventIndex: event)))
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
            forged.cursors.append(.init(share: 2, membership: joined))
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
        #expect(token?.cursors.map(\.share) == [1, 2])
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
        let first = try page(limit: 1).token
        #expect(first.progress == .shares(since: first.position.offset))
        var token = first
        for (since, through) in [(0, 0), (1, Version.maximumOffset), (Version.maximumOffset, 1)] as [(UInt64, UInt64)] {
            token.progress = .shares(since: since)
            token.cursors[0].through = Version(offset: through, eventIndex: 0)
            _ = try? page(since: try FeedToken(payload: token.payload()))
        }
        for progress in [FeedToken.Progress.within(0), .scanningRecords(name: [])] {
            token = first
            token.progress = progress
            #expect(try expires(token))
        }
        token = first
        token.cursors = [.init(share: 77, membership: Version(offset: 1, eventIndex: 0))]
        #expect(try expires(token))
    }
}
