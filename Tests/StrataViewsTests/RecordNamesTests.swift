import StrataModel
import StrataTree
import TestSupport
import Testing

@testable import StrataViews

@Suite("The names of users' own records in the views")
struct RecordNamesTests {
    private let pages: TreeStore

    init() throws { pages = try Self.pages(of: ["anna", "ben"]) }

    /// A state whose first commit names users, and nothing else.
    private static func pages(of users: [String], naming records: [Event] = []) throws -> TreeStore {
        let pages = try Views.emptyTrees()
        let names = users.enumerated().map { InternedName(ordinal: UInt64($0) + 1, name: .user($1)).event }
        try commit(1, names + records, to: pages)
        return pages
    }

    private static func commit(_ offset: UInt64, _ events: [Event], to pages: TreeStore) throws {
        try pages.fold([SampleCommit(offset: offset, time: 1, payload: Envelope(events: events).encoded())])
    }

    private static func named(_ user: UInt64, _ recordName: String) throws -> Event {
        try UserRecordNamedEvent(user: user, recordName: recordName).event()
    }

    private func user(_ recordName: String, in pages: TreeStore? = nil) throws -> UInt64? {
        try (pages ?? self.pages).snapshot().user(at: UserAddress(.recordName, recordName))
    }

    private static let (anna, ben) = (UserRecord.earlierName(of: "anna"), UserRecord.earlierName(of: "ben"))

    @Test("Until an event names it, the record has the computed name; then only the recorded one")
    func recorded() throws {
        let before = pages.snapshot()
        #expect(try before.recordName(of: "anna", secret: nil) == Self.anna)
        #expect(try before.recordedName(ofUser: 1) == nil)
        #expect(try user(Self.anna) == 1 && user(Self.ben) == 2)
        try Self.commit(2, [Self.named(1, "_a")], to: pages)
        let after = pages.snapshot()
        #expect(try after.recordName(of: "anna", secret: nil) == "_a" && after.recordedName(ofUser: 1) == "_a")
        #expect(try after.recordName(of: "ben", secret: nil) == Self.ben && after.recordedName(ofUser: 2) == nil)
        #expect(try user("_a") == 1 && user(Self.anna) == nil && user(Self.ben) == 2)
        #expect(try before.digests().content != after.digests().content)
        #expect(try before.recordName(of: "anna", secret: nil) == Self.anna)
    }

    @Test("Digests tell names apart, and not in which commit a name was recorded")
    func digests() throws {
        try Self.commit(2, [Self.named(1, "_a")], to: pages)
        let same = try Self.pages(of: ["anna", "ben"], naming: [Self.named(1, "_a")])
        let other = try Self.pages(of: ["anna", "ben"], naming: [Self.named(1, "_A")])
        let swapped = try Self.pages(of: ["anna", "ben"], naming: [Self.named(2, "_a")])
        let content = try pages.snapshot().digests().content
        #expect(try same.snapshot().digests().content == content)
        #expect(try other.snapshot().digests().content != content)
        #expect(try swapped.snapshot().digests().content != content)
    }

    @Test("A record is not named twice, a name is not given to two users, and nobody without a name has one")
    func malformed() throws {
        try Self.commit(2, [Self.named(1, "_a")], to: pages)
        let dump = try ViewDump(pages.snapshot())
        let wrong: [(event: Event, code: StrataError.Code)] = try [
            (Self.named(1, "_b"), .brokenSequence), (Self.named(2, "_a"), .brokenSequence),
            (Self.named(3, "_c"), .malformed),
        ]
        for (event, code) in wrong {
            let error = thrownError { try Self.commit(3, [event], to: pages) }
            #expect(error?.code == code, "\(error.map { "\($0)" } ?? "no error")")
            #expect(try ViewDump(pages.snapshot()) == dump)
        }
        // The same name once more changes nothing that is found.
        try Self.commit(3, [Self.named(1, "_a")], to: pages)
        #expect(try user("_a") == 1 && pages.snapshot().recordedName(ofUser: 1) == "_a")
    }

    @Test("A recorded name goes before the computed name of another user, in each order")
    func nameOfAnother() throws {
        // The other user is there before, comes later, and gets a name before and after that.
        let orders: [(users: [String], events: [(user: UInt64, name: String)])] = [
            (["anna", "ben"], [(2, Self.anna), (1, "_a")]), (["anna", "ben"], [(1, "_a"), (2, Self.anna)]),
            (["ben", "anna"], [(1, Self.anna), (2, "_a")]), (["ben", "anna"], [(2, "_a"), (1, Self.anna)]),
        ]
        for (users, events) in orders {
            let all = try Self.pages(of: users, naming: events.map { try Self.named($0.user, $0.name) })
            let single = try Self.pages(of: users)
            for (index, event) in events.enumerated() {
                try Self.commit(UInt64(index) + 2, [Self.named(event.user, event.name)], to: single)
            }
            for pages in [all, single] {
                let anna: UInt64 = users[0] == "anna" ? 1 : 2
                #expect(try user(Self.anna, in: pages) == 3 - anna && user("_a", in: pages) == anna, "\(events)")
                #expect(try user(Self.ben, in: pages) == nil)
                #expect(try pages.snapshot().recordName(of: "anna", secret: nil) == "_a")
                #expect(try pages.snapshot().recordName(of: "ben", secret: nil) == Self.anna)
                let state = pages.snapshot()
                let base = try TreeStore.folded(base: state.base(), at: state.foldedOffset(ViewTree.records))
                #expect(try ViewDump(base.snapshot()) == ViewDump(state), "\(users), \(events)")
            }
        }
    }
}
