import StrataLog
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

/// B62: the record that a client started from, rebuilt from the log.
@Suite struct AncestorTests {
    private let client: Client
    private typealias Save = Client.Save

    init() throws { client = try Client() }

    private struct Seen {
        var version: Version
        var fields: [String: FieldValue]
        var created: Int64
        var modified: Int64
        var modifiedBy: String
        var modifiedWith: String
        var parent: String?
    }

    private func seen(_ record: Record) throws -> Seen {
        Seen(
            version: record.version, fields: try record.fields, created: record.created, modified: record.modified,
            modifiedBy: try record.modifiedBy, modifiedWith: try record.modifiedWith, parent: try record.parent)
    }

    private func expect(_ found: Record?, toBe expected: Seen, in comment: Comment) throws {
        let found = try seen(try #require(found, comment))
        #expect(found.version == expected.version && found.fields == expected.fields, comment)
        #expect(found.created == expected.created && found.modified == expected.modified, comment)
        #expect(found.modifiedBy == expected.modifiedBy && found.modifiedWith == expected.modifiedWith, comment)
        #expect(found.parent == expected.parent, comment)
    }

    @Test(arguments: [false, true])
    func `every version of a record can be had again`(_ isTouchedBetween: Bool) throws {
        let all = client.with { $0.policy = .allKeys }
        try all.save("parent")
        try all.save("other")
        var history: [Seen] = []
        for number in 0..<40 {
            let device = all.with { $0.device = "device-\(number % 3)" }
            if number % 3 == 2, isTouchedBetween {
                try device.save("child", parent: "a")
            } else {
                var save = Save("a", ["n": .int64(Int64(number)), "k": number % 4 == 0 ? nil : .string("\(number)")])
                save.fields.append(("only\(number)", .int64(1)))
                save.removesParent = number % 5 == 4
                if number % 5 == 2 { save.parent = number % 2 == 0 ? "parent" : "other" }
                #expect(device.codes([save]) == [nil])
            }
            history.append(try seen(try all.fetch("a").get()))
        }
        #expect(Set(history.map(\.version)).count == 40)
        for (index, expected) in history.enumerated() {
            try expect(try client.record("a", at: expected.version), toBe: expected, in: "version \(index)")
        }
        // Whole events were among them, and touches if wanted, whole ones too.
        let events = try (1...client.store.offset).flatMap { try client.events(at: $0) }
            .filter { $0.kind == .recordSaved }.map { try RecordSavedEvent(decoding: $0.body) }
            .filter { $0.record.name == "a" }
        #expect(events.filter { $0.isFull && $0.change != .create }.count == 2)
        #expect(events.contains { $0.change == .touch } == isTouchedBetween)
    }

    @Test func `the sixteenth version after a whole one is whole, also if it is a touch`() throws {
        let all = client.with { $0.policy = .changedKeys }
        try all.save("a", ["n": .int64(1), "s": .string("kept")], parent: nil)
        for number in 0..<35 { try all.save("child", ["n": .int64(Int64(number))], parent: "a") }
        let events = try (1...client.store.offset).flatMap { try client.events(at: $0) }
            .filter { $0.kind == .recordSaved }.map { try RecordSavedEvent(decoding: $0.body) }
            .filter { $0.record.name == "a" }
        #expect(events.indices.filter { events[$0].isFull } == [0, 16, 32])
        let (first, last) = (try #require(events[1].previous), try all.fetch("a").get())
        let record = try #require(try client.record("a", at: first))
        #expect(try record.fields == last.fields && record.modified == last.modified)
        #expect(try record.modifiedWith == "phone" && record.created == last.created)
    }

    @Test func `versions before a deletion stay apart from those after it`() throws {
        let all = client.with { $0.policy = .allKeys }
        #expect(client.zones(save: ["Notes"]) == [nil])
        var history: [(zone: String, seen: Seen)] = []
        for life in 0..<3 {
            for zone in ["_defaultZone", "Notes"] {
                let all = all.with { $0.zone = zone }
                for number in 0..<3 {
                    try all.save("a", ["n": .int64(Int64(number)), "life\(life)": .int64(1)])
                    history.append((zone, try seen(try all.fetch("a").get())))
                }
            }
            #expect(all.codes(deletes: ["a"]) == [nil])
            #expect(client.zones(delete: ["Notes"]) == [nil])
            #expect(client.zones(save: ["Notes"]) == [nil])
        }
        #expect(!client.exists("a"))
        for (zone, expected) in history {
            try expect(try client.record("a", at: expected.version, in: zone), toBe: expected, in: "\(expected)")
        }
    }

    @Test func `a tag that is no version of the record gives nothing`() throws {
        let first = try client.save("a", ["n": .int64(1)])
        let other = try client.save("b", ["n": .int64(2)])
        let second = try client.save("a", ["n": .int64(3)], base: first)
        #expect(client.codes(deletes: ["b"]) == [nil])
        var known: [Version] = []
        for offset in 0...client.store.offset + 2 {
            for index: UInt32 in 0..<24 {
                let version = Version(offset: offset, eventIndex: index)
                guard let found = try client.record("a", at: version) else { continue }
                #expect(found.version == version)
                known.append(version)
            }
        }
        #expect(known == [first, second])
        #expect(try client.record("a", at: first) != nil && client.record("b", at: other) != nil)
        for version in [
            Version(offset: Version.maximumOffset, eventIndex: (1 << 20) - 1), Version(offset: 1, eventIndex: 1 << 19),
            Version.ofThisCommit(eventIndex: 0),
        ] { #expect(try client.record("a", at: version) == nil) }
        #expect(try client.record("nothing", at: first) == nil)
        #expect(try client.record("a", at: first, in: "Nowhere") == nil)
        #expect(try client.with { $0.user = "ben" }.record("a", at: first) == nil)
        #expect(try client.with { $0.scope = .public }.record("a", at: first) == nil)
    }

    @Test func `a snapshot tells nothing of what came after it`() throws {
        let first = try client.save("a", ["n": .int64(1)])
        let before = client.store.snapshot()
        let second = try client.save("a", ["n": .int64(2)], base: first)
        let found = try before.record(client.id("a"), at: second, in: client.database, as: client.actor)
        #expect(found == nil)
        let old = try before.record(client.id("a"), at: first, in: client.database, as: client.actor)
        #expect(try old?.fields == ["n": .int64(1)])
    }

    @Test func `ancestors come from files too, after the store was opened again`() throws {
        let directory = try TestDirectory()
        let anna = Actor(user: "anna")
        var versions: [Version] = []
        for round in 0..<2 {
            let store = try Store.open(at: directory.path("a.strata"))
            for number in 0..<20 {
                let save = Save("a", ["n": .int64(Int64(round * 20 + number))], base: versions.last)
                let answer = try store.modify(client.request([save]), as: anna)
                versions.append(try #require(answer.result.saves.first).get())
            }
            try store.close()
        }
        let store = try Store.open(at: directory.path("a.strata"))
        defer { try? store.close() }
        for (number, version) in versions.enumerated() {
            let record = try store.snapshot().record(client.id("a"), at: version, in: client.database, as: anna)
            #expect(try record?["n"] == .int64(Int64(number)))
        }
    }
}
