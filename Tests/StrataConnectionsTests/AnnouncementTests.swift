import StrataModel
import StrataSystem
import TestNeeds
import TestSupport
import Testing

@testable import StrataPostgres

@Suite("Announcements of entries in PostgreSQL")
struct AnnouncementTests {
    private let random = SeededRandom(seed: 1)

    private func text(_ number: UInt64, _ id: Identifier) -> String { Announcement(number: number, id: id).texts[0] }

    @Test("An announcement is read back, and processes of an earlier release find its number")
    func forms() throws {
        let id = random.nextIdentifier()
        let texts = Announcement(number: 17, id: id).texts
        let read = try #require(Announcement(texts[0]))
        #expect(read.number == 17 && read.id == id)
        #expect(texts.compactMap { UInt64($0) } == [17])
        let earlier = try #require(Announcement("17"))
        #expect(earlier.number == 17 && earlier.id == nil)
        for other in ["", " ", "x", "-1", "17 ", "17 1", "17 \(id) ", "\(id) 17", "18446744073709551616"] {
            #expect(Announcement(other) == nil, "'\(other)'")
        }
    }

    @Test("Only an announcement with the entry's ID counts; every one of a later entry wakes the reader")
    func matching() {
        let ids = (0..<4).map { _ in random.nextIdentifier() }
        var announcements = Announcements()
        func add(_ texts: String..., server: String = "p") -> Bool {
            announcements.add(texts, of: server, after: 10)
        }
        #expect(!add("9", text(10, ids[0]), "nonsense"))
        #expect(add("13") && add(text(14, random.nextIdentifier()), text(11, ids[1])))
        #expect(announcements.lastAnnounced(of: ids, after: 10) == nil)
        #expect(add(text(11, ids[0]), text(12, ids[1]), text(13, ids[0])))
        #expect(announcements.lastAnnounced(of: ids, after: 10) == 12)
        // It counts once.
        #expect(announcements.lastAnnounced(of: ids, after: 10) == nil)
        // One of an entry that a later page has is kept; one of another server is not.
        #expect(add(text(15, ids[0])))
        #expect(announcements.lastAnnounced(of: ids, after: 10) == nil)
        #expect(announcements.lastAnnounced(of: ids, after: 14) == 15)
        #expect(add(text(15, ids[0])))
        #expect(!add(server: "s1"))
        #expect(announcements.lastAnnounced(of: ids, after: 14) == nil)
    }

    @Test("A server that sends without end does not hold up the question whether it is there", .needs(.libpq))
    func endlessServer() throws {
        let server = try EndlessServer()
        defer { server.stop() }
        let parameters = [
            ("host", "127.0.0.1"), ("port", "\(server.port)"), ("dbname", "notes"), ("user", "app"),
            ("sslmode", "disable"), ("gssencmode", "disable"),
        ]
        let connection = try PQConnection(
            parameters.map { (key: $0.0, value: $0.1) }, PQLibrary.load(), signals: [], until: .now + .seconds(60))
        #expect(eventually { server.isSending })
        #expect(connection.isAlive())
        #expect(!server.hasSentAll)
        let texts = connection.notifications(atMost: 10)
        #expect(texts == Array(repeating: "x", count: 10) && connection.notifications().isEmpty)
    }

    @Test("Any number of wrong announcements takes limited memory, and a right one after them counts")
    func flood() {
        let id = random.nextIdentifier()
        var announcements = Announcements()
        func add(_ texts: [String]) -> Bool { announcements.add(texts, of: "p", after: 0) }
        for _ in 0..<10 {
            #expect(add((0..<Announcements.maximumCount).map { text(UInt64($0) + 2, random.nextIdentifier()) }))
        }
        // There may be one among those that were dropped.
        #expect(add(Array(repeating: "x", count: Announcements.maximumCount)) && !add(["x"]))
        #expect(announcements.count == Announcements.maximumCount)
        #expect(add([text(1, id)]))
        #expect(announcements.count == Announcements.maximumCount)
        #expect(announcements.lastAnnounced(of: [id], after: 0) == 1)
    }
}
