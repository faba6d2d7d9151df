import StrataLog
import StrataModel
import StrataStore
import StrataSystem
import TestSupport
import Testing

@testable import StrataReplay

@Suite("A history told once more")
struct RerunTests {
    private typealias Fixture = RerunFixture

    @Test("With nothing changed nothing differs, byte by byte")
    func nothingChanged() throws {
        let fixture = try Fixture()
        let first = try fixture.save("milk", ["rank": .int64(1)])
        try fixture.save("milk", ["rank": .int64(2)], base: first)
        try fixture.save("milk", ["rank": .int64(3)], base: first, as: Fixture.bert)
        try fixture.settle()
        let log = MemoryLog()
        let rerun = try fixture.replay(into: log)
        defer { try? rerun.report.close() }
        #expect(rerun.report.isIdentical && rerun.commits.isEmpty && rerun.differences.isEmpty)
        #expect(rerun.report.unjudgedCount == 0)
        #expect(log.end == fixture.store.log.end && rerun.report.commitCount == Int(log.end.offset))
        #expect(try rerun.report.after.digests() == fixture.store.snapshot().digests())
    }

    @Test("Without the save that a conflict was about, the loser wins")
    func loserWins() throws {
        let fixture = try Fixture()
        let first = try fixture.save("milk", ["rank": .int64(1)])
        let second = try #require(try fixture.save("milk", ["rank": .int64(2)], base: first))
        #expect(try fixture.save("milk", ["rank": .int64(7)], base: first, as: Fixture.bert) == nil)
        try fixture.settle()
        let rerun = try fixture.replay(.drop(second.offset))
        defer { try? rerun.report.close() }
        #expect(try Fixture.rank("milk", rerun.report.after) == .int64(7))
        #expect(rerun.commits.count == 2 && rerun.report.changedCount == 1 && rerun.report.directCount == 1)
        let won = try #require(rerun.commits.last)
        #expect(won.before?.kind == .refused && won.before?.items.first?.refusal.code == .serverRecordChanged)
        #expect(won.after.kind == .accepted && won.cause?.offset == second.offset)
        #expect(rerun.differences == ["milk": ["changed", "rank"]])
    }

    @Test("A refusal is judged in front of what came before it was noted")
    func retryLoses() throws {
        let fixture = try Fixture()
        let first = try fixture.save("milk", ["rank": .int64(1)])
        let second = try #require(try fixture.save("milk", ["rank": .int64(2)], base: first))
        #expect(try fixture.save("milk", ["rank": .int64(7)], base: first, as: Fixture.bert) == nil)
        // The refusal is noted behind this one.
        let retry = try #require(try fixture.save("milk", ["rank": .int64(8)], base: second, as: Fixture.bert))
        let rerun = try fixture.replay(.drop(second.offset))
        defer { try? rerun.report.close() }
        #expect(try Fixture.rank("milk", rerun.report.after) == .int64(7))
        let lost = try #require(rerun.commit(retry.offset))
        #expect(lost.after.kind == .refused && lost.after.items.first?.refusal.code == .serverRecordChanged)
        #expect(lost.cause?.root == second.offset && lost.cause?.offset == retry.offset + 1)
    }

    @Test("An edited value is there in the end, and what follows keeps its tags")
    func edited() throws {
        let fixture = try Fixture()
        let first = try #require(try fixture.save("milk", ["rank": .int64(1), "title": .string("a")]))
        try fixture.save("milk", ["title": .string("b")], base: first)
        let rerun = try fixture.replay(.edit(first.offset, field: "rank", to: .text("5")))
        defer { try? rerun.report.close() }
        #expect(try Fixture.rank("milk", rerun.report.after) == .int64(5))
        #expect(rerun.commits.map(\.offset) == [first.offset] && rerun.report.changedCount == 0)
        #expect(rerun.differences == ["milk": ["changed", "rank"]])
    }

    @Test("Another policy makes a refusal a success")
    func policy() throws {
        let fixture = try Fixture()
        let first = try fixture.save("milk", ["rank": .int64(1)])
        try fixture.save("milk", ["rank": .int64(2)], base: first)
        #expect(try fixture.save("milk", ["rank": .int64(7)], base: first, as: Fixture.bert) == nil)
        try fixture.settle()
        let noted = fixture.store.offset
        let rerun = try fixture.replay(.policy(noted, .allKeys))
        defer { try? rerun.report.close() }
        #expect(try Fixture.rank("milk", rerun.report.after) == .int64(7))
        #expect(rerun.commits.count == 1 && rerun.commits[0].isDirect && rerun.commits[0].after.kind == .accepted)
    }

    @Test("A dropped zone takes with it all that was saved there, and says so")
    func droppedZone() throws {
        let fixture = try Fixture()
        for number in 0..<5 { try fixture.save("n\(number)", ["rank": .int64(Int64(number))]) }
        let rerun = try fixture.replay(.drop(1))
        defer { try? rerun.report.close() }
        #expect(rerun.report.changedCount == 5)
        #expect(rerun.differences.filter { $0.key.hasPrefix("n") }.count == 5)
        for commit in rerun.commits.dropFirst() {
            #expect(commit.after.kind == .refused && commit.cause?.root == 1)
        }
    }

    @Test("A save that is refused for its owner names what became of the owner, among several changes")
    func owner() throws {
        let fixture = try Fixture { $0.limits.owningReferences = 2 }
        func refer(_ names: String...) throws -> Version? {
            var builder = RequestBuilder(Fixture.database, policy: .allKeys)
            for name in names {
                let owner = builder.reference(to: RecordID("owner", zone: Fixture.notes), action: .deleteSelf)
                builder.save(RecordID(name, zone: Fixture.notes), type: "Note", fields: ["owner": owner])
            }
            return try fixture.modify(builder.request)?.saves.first.flatMap { try? $0.get() }
        }
        try fixture.save("owner", ["rank": .int64(1)])
        _ = try refer("a", "b")
        try fixture.delete("owner")
        let deletion = fixture.store.offset
        // Of two changes before the save, only one is its cause.
        let other = try #require(try fixture.save("other", ["rank": .int64(1)]))
        let third = try #require(try refer("c"))
        let rerun = try fixture.replay(.drop(deletion), .drop(other.offset))
        defer { try? rerun.report.close() }
        let refused = try #require(rerun.commit(third.offset))
        #expect(refused.after.items.first?.refusal.code == .limitExceeded && !refused.isDirect)
        #expect(refused.cause?.offset == deletion && refused.cause?.root == deletion)
    }

    @Test("What was inserted is judged too, and what it stands in the way of names it")
    func inserted() throws {
        let fixture = try Fixture()
        let first = try #require(try fixture.save("milk", ["rank": .int64(1)]))
        let second = try #require(try fixture.save("milk", ["rank": .int64(2)], base: first))
        var builder = RequestBuilder(Fixture.database, policy: .allKeys)
        builder.save(RecordID("milk", zone: Fixture.notes), type: "Note", fields: ["rank": .int64(9)])
        let rerun = try fixture.replay(.insert([builder.request], by: Fixture.bert, after: first.offset))
        defer { try? rerun.report.close() }
        #expect(try Fixture.rank("milk", rerun.report.after) == .int64(9))
        #expect(rerun.commits.map(\.offset) == [nil, second.offset])
        #expect(rerun.commits[0].newOffset == first.offset + 1 && rerun.commits[1].after.kind == .refused)
        #expect(rerun.commits[1].cause?.offset == first.offset)
    }

    @Test("Several insertions at one place are all in the new log, in order")
    func insertedTogether() throws {
        let fixture = try Fixture()
        let first = try #require(try fixture.save("milk", ["rank": .int64(1)]))
        let changes = ["tea", "bread", "tea"].enumerated().map { index, name in
            var builder = RequestBuilder(Fixture.database, policy: .allKeys)
            builder.save(
                RecordID(name, zone: Fixture.notes), type: "Note", fields: ["rank": .int64(Int64(index))])
            return RerunChange.insert([builder.request], by: Fixture.bert, after: first.offset)
        }
        let log = MemoryLog()
        let rerun = try fixture.replay(changes[0], changes[1], changes[2], into: log)
        defer { try? rerun.report.close() }
        #expect(log.end.offset == fixture.store.offset + 3)
        var ids = Set<Identifier>()
        var cursor = try log.read(from: 1)
        while let commit = try cursor.next() { ids.insert(commit.id) }
        #expect(ids.count == Int(log.end.offset))
        #expect(try Fixture.rank("tea", rerun.report.after) == .int64(2))
        #expect(try Fixture.rank("bread", rerun.report.after) == .int64(1))
    }

    @Test("Changes that fit no commit are errors that say what there is")
    func badChanges() throws {
        let fixture = try Fixture()
        let first = try #require(try fixture.save("milk", ["rank": .int64(1)]))
        func error(_ change: RerunChange) -> StrataError? {
            #expect(throws: StrataError.self) { try fixture.replay(change).report.close() }
        }
        #expect(error(.drop(first.offset + 1))?.code == .outOfRange)
        #expect(error(.drop(0))?.code == .outOfRange)
        let missing = error(.edit(first.offset, field: "price", to: .text("1")))
        #expect(missing?.code == .invalidArgument && missing?.context.expected == "one of milk.rank")
        #expect(error(.edit(first.offset, field: "rank", to: .text("much")))?.code == .invalidArgument)
        #expect(error(.policy(1, .allKeys))?.code == .invalidArgument)
        #expect(error(.edit(first.offset, record: "tea", field: "rank", to: .text("1")))?.code == .invalidArgument)
    }

    @Test("What was erased cannot be judged again, but can be dropped")
    func erased() throws {
        let directory = try TestDirectory()
        let fixture = try Fixture(at: directory.path("Notes.strata"))
        let first = try #require(try fixture.save("milk", ["rank": .int64(1)]))
        let second = try #require(try fixture.save("tea", ["rank": .int64(2)], as: Fixture.bert))
        let third = try #require(try fixture.save("milk", ["rank": .int64(3)], base: first))
        try fixture.store.erase(
            [RecordID("milk", zone: Fixture.notes), RecordID("tea", zone: Fixture.notes)],
            in: DatabaseID(.private, owner: "anna"), reason: "asked for")
        // Nothing changed: they are kept as they are.
        let same = try fixture.replay()
        defer { try? same.report.close() }
        #expect(same.commits.isEmpty && same.report.isIdentical && same.differences.isEmpty)
        #expect(same.report.unjudged.flatMap { Array($0.offsets) } == [first.offset, second.offset, third.offset])
        #expect(same.report.unjudged.allSatisfy { $0.isKept })
        let rerun = try fixture.replay(.drop(second.offset))
        defer { try? rerun.report.close() }
        let dropped = try #require(rerun.commit(second.offset))
        #expect(dropped.isDirect && dropped.after.kind == .dropped && dropped.actor == Fixture.bert)
        #expect(rerun.report.directCount == 1 && !rerun.report.unjudged.contains { $0.offsets.contains(second.offset) })
        // What comes behind it cannot be kept: it would be at another offset.
        #expect(
            rerun.report.unjudged.map(\.offsets) == [third.offset...third.offset]
                && rerun.report.unjudged.allSatisfy { !$0.isKept })
        #expect(throws: StrataError.self) { try fixture.replay(.edit(second.offset, field: "rank", to: .text("5"))) }
        #expect(throws: StrataError.self) { try fixture.replay(.policy(second.offset, .allKeys)) }
    }

    @Test("A log that begins with a base is told behind it, into one with the same base")
    func compacted() throws {
        let directory = try TestDirectory()
        let fixture = try Fixture(at: directory.path("Notes.strata"))
        let first = try #require(try fixture.save("milk", ["rank": .int64(1)]))
        let second = try #require(try fixture.save("milk", ["rank": .int64(2)], base: first))
        try fixture.save("milk", ["rank": .int64(3)], base: first, as: Fixture.bert)
        try fixture.settle()
        _ = try fixture.store.compact(before: second.offset)
        let floor = fixture.store.log.floor.offset
        #expect(floor == first.offset)
        let rerun = try fixture.replay(.drop(second.offset))
        defer { try? rerun.report.close() }
        // Whoever came too late names a version that the base has.
        #expect(try Fixture.rank("milk", rerun.report.after) == .int64(3))
        #expect(throws: StrataError.self) { try fixture.replay(.drop(floor)) }
    }

    @Test("A log of the new history is one that a store opens, with the state that was told of")
    func newLog() throws {
        let fixture = try Fixture()
        let first = try #require(try fixture.save("milk", ["rank": .int64(1)]))
        try fixture.save("milk", ["rank": .int64(2)], base: first)
        try fixture.save("tea", ["rank": .int64(4)])
        let log = MemoryLog()
        let rerun = try fixture.replay(.drop(first.offset + 1), into: log)
        defer { try? rerun.report.close() }
        let copy = try Store(on: log)
        defer { try? copy.close() }
        #expect(copy.offset == rerun.report.end && log.end.offset == fixture.store.offset - 1)
        #expect(try copy.snapshot().digests() == rerun.report.after.digests())
        #expect(try Fixture.rank("milk", copy.snapshot()) == .int64(1))
    }
}
