import StrataModel
import StrataTree
import TestSupport
import Testing

@testable import StrataViews

@Suite("Shares, memberships and shared records in the views")
struct SharingTests {
    private let pages: TreeStore
    private static let names: [InternedName.Name] = [
        .user("anna"), .user("ben"), .database(.private, owner: 1), .zone(database: 1, owner: 1, "Notes"),
        .recordType("Note"),
    ]

    init() throws {
        pages = try Views.emptyTrees()
        var ordinals: [Namespace: UInt64] = [:]
        var events = Self.names.map { name in
            ordinals[name.namespace, default: 0] += 1
            return InternedName(ordinal: ordinals[name.namespace] ?? 0, name: name).event
        }
        events.append(try ZoneSavedEvent(zone: 1, database: 1, capabilities: [.fetchChanges]).event())
        try commit(1, events)
    }

    private func commit(_ offset: UInt64, _ events: [Event]) throws {
        try pages.fold([SampleCommit(offset: offset, time: 1, payload: Envelope(events: events).encoded())])
    }

    private func share(
        _ number: UInt64, _ token: String, once: [ShareSavedEvent.OneTimeToken] = [], isEnded: Bool = false
    ) throws -> Event {
        try ShareSavedEvent(
            share: number, record: RecordKey(zone: 1, name: "Share-\(number)"), root: "root\(number)",
            urlToken: token, oneTimeTokens: once, isEnded: isEnded
        ).event()
    }

    private func shared(_ name: String, _ share: UInt64, isGone: Bool = false) throws -> Event {
        try SharedRecordEvent(RecordKey(zone: 1, name: name), type: 1, share: share, isGone: isGone).event()
    }

    private func changes(after version: Version = Version(offset: 0, eventIndex: 0)) throws -> [String] {
        var found: [String] = []
        try pages.snapshot().forEachChange(ofShare: 1, after: version) { version, record in
            found.append("\(version.offset).\(version.eventIndex) \(record.isGone ? "-" : "+")\(record.record.name)")
            return true
        }
        return found
    }

    @Test("Tokens find the share that has them now, and none that has ended")
    func tokens() throws {
        try commit(2, [try share(1, "abc", once: [.init("once", of: "p")]), try share(2, "xyz")])
        let first = pages.snapshot()
        #expect(try first.shareCount() == 2)
        #expect(try first.share(ofToken: "abc")?.share == 1 && first.share(ofToken: "abc")?.participant.isEmpty == true)
        #expect(try first.share(ofToken: "once")?.participant == "p")
        #expect(try first.share(ofToken: "ab") == nil && first.share(ofToken: "") == nil)
        try commit(3, [try share(1, "abc"), try share(2, "xyz", isEnded: true)])
        let second = pages.snapshot()
        #expect(try second.share(ofToken: "once") == nil && second.share(ofToken: "xyz") == nil)
        #expect(try second.share(ofToken: "abc")?.share == 1)
        #expect(try second.share(2)?.isEnded == true && second.shareCount() == 2)
        let error = thrownError { try commit(4, [try share(2, "xyz")]) }
        #expect(error?.code == .brokenSequence)
    }

    @Test("A membership keeps when it began, and its row when it ends")
    func memberships() throws {
        try commit(2, [try share(1, "abc")])
        let joined = MemberChangedEvent(user: 2, share: 1, zone: 1, permission: .readOnly, role: .privateUser)
        try commit(3, [try joined.event()])
        var changed = joined
        (changed.permission, changed.joined) = (.readWrite, Version(offset: 3, eventIndex: 0))
        try commit(4, [try changed.event()])
        let member = try #require(try pages.snapshot().memberships(of: 2, in: 1).first)
        #expect(member.joined.offset == 3 && member.changed.offset == 4 && member.permission == .readWrite)
        #expect(member.givesAccess)
        changed.isGone = true
        try commit(5, [try changed.event()])
        let gone = try pages.snapshot().memberships(of: 2)
        #expect(gone.map(\.isGone) == [true] && gone[0].changed.offset == 5 && !gone[0].givesAccess)
        #expect(try pages.snapshot().memberships(of: 2, in: 2).isEmpty)
        #expect(try pages.snapshot().memberships(of: 1).isEmpty)
    }

    @Test("A record belongs to one share, and has one change in each, its last")
    func records() throws {
        try commit(2, [try share(1, "abc"), try share(2, "xyz")])
        try commit(3, [try shared("a", 1), try shared("b", 1)])
        try commit(4, [try shared("a", 1)])
        let key = RecordKey(zone: 1, name: "a")
        #expect(try pages.snapshot().hierarchicalShare(of: key) == 1)
        #expect(try pages.snapshot().hierarchicalShare(of: RecordKey(zone: 1, name: "aa")) == nil)
        #expect(try changes() == ["3.1 +b", "4.0 +a"])
        #expect(try changes(after: Version(offset: 3, eventIndex: 1)) == ["4.0 +a"])
        try commit(5, [try shared("a", 1, isGone: true), try shared("a", 2)])
        #expect(try pages.snapshot().hierarchicalShare(of: key) == 2)
        #expect(try changes() == ["3.1 +b", "5.0 -a"])
        try commit(6, [try shared("a", 2, isGone: true)])
        #expect(try pages.snapshot().hierarchicalShare(of: key) == nil)
    }

    @Test("A zone that ends takes its shared records along")
    func zones() throws {
        try commit(2, [try share(1, "abc"), try shared("a", 1)])
        let life = Version(offset: 1, eventIndex: UInt32(Self.names.count))
        try commit(3, [try ZoneDeletedEvent(zone: 1, database: 1, incarnation: life).event()])
        #expect(try changes().isEmpty)
        #expect(try pages.snapshot().hierarchicalShare(of: RecordKey(zone: 1, name: "a")) == nil)
    }
}
