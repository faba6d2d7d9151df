import Foundation
import StrataModel
import Testing

@testable import StrataTool

/// Tests that a parent and references that do not hold their targets are shown as loose (docs/rules.md §5.12).
@Suite struct LooseLinkTests {
    private static let zone = ZoneID("_defaultZone")
    private let fixture: StateFixture
    /// The commit that saved the record with loose links, and the one that saved it with links that hold.
    private let loose: UInt64
    private let held: UInt64

    init() throws {
        let fixture = try StateFixture()
        self.fixture = fixture
        (loose, held) = try fixture.change { store in
            func modify(as actor: Actor, _ ask: (inout RequestBuilder) -> Void) throws -> UInt64 {
                var builder = RequestBuilder(DatabaseID(.public), policy: .changedKeys)
                ask(&builder)
                try fixture.step {
                    for result in try store.modify(builder.request, as: actor).result.saves { _ = try result.get() }
                }
                return store.offset
            }
            func id(_ name: String) -> RecordID { RecordID(name, zone: Self.zone) }
            func saveComment() throws -> UInt64 {
                try modify(as: StateFixture.phone) { builder in
                    let later = builder.reference(to: id("later"), action: .deleteSelf)
                    builder.save(id("comment"), type: "Item", parent: .set("news"), fields: ["owner": later])
                }
            }
            // Anna may not write Bert's record, and the other record does not exist yet.
            let loose = try saveComment()
            _ = try modify(as: StateFixture.bert) { $0.delete(id("news")) }
            _ = try modify(as: StateFixture.phone) { builder in
                for name in ["news", "later"] { builder.save(id(name), type: "Item") }
            }
            return (loose, try saveComment())
        }
    }

    private func isLoose(_ value: Any?) throws -> Bool {
        let value = try #require((value as? [String: Any])?["value"] as? [String: Any])
        #expect(value["deletesWithTarget"] is Bool && value["record"] is String)
        return value["loose"] as? Bool ?? false
    }

    @Test func ofARecord() throws {
        for (offset, mark) in [(loose, " (loose)"), (held, "")] {
            let place = ["--database", "public", "--at", "\(offset)"]
            let text = try fixture.run(["get", fixture.name, "comment"] + place).output
            #expect(text.contains("parent    news\(mark)\n"), "\(text)")
            #expect(text.contains("@later\(mark), deleted with it\n"), "\(text)")
            #expect(try fixture.run(["query", fixture.name, "Item"] + place).output.contains("owner=@later\(mark)\n"))
            for words in [["get", fixture.name, "comment"], ["query", fixture.name, "Item"]] {
                let found = try fixture.objects(words + place).first { $0["name"] as? String == "comment" }
                let object = try #require(found)
                #expect(object["looseParent"] as? Bool == (offset == loose ? true : nil))
                #expect(try isLoose((object["fields"] as? [String: Any])?["owner"]) == (offset == loose))
            }
        }
    }

    @Test func betweenStates() throws {
        let words = ["diff", fixture.name, "\(loose)", "\(held)"]
        let text = try fixture.run(words)
        #expect(text.code == 1 && text.lines.contains("    ~ parent: @news (loose) -> @news"), "\(text)")
        #expect(text.lines.contains("    ~ owner: @later (loose) -> @later"), "\(text)")
        let found = try fixture.objects(words).first { $0["record"] as? String == "comment" }
        let changes = try #require(found?["changes"] as? [[String: Any]])
        #expect(changes.count == 2)
        let parent = try #require(changes.first { $0["link"] != nil })
        #expect(parent["oldLoose"] as? Bool == true && parent["newLoose"] == nil)
        let owner = try #require(changes.first { $0["fieldName"] != nil })
        #expect(try isLoose(owner["old"]) && !isLoose(owner["new"]))
    }

    @Test func overTime() throws {
        let history = try fixture.run("history", fixture.name, "comment")
        #expect(history.lines.contains("    + parent: @news (loose)"), "\(history)")
        #expect(history.lines.contains("    ~ parent: @news (loose) -> @news"), "\(history)")
        #expect(history.lines.contains("    ~ owner: @later (loose) -> @later"), "\(history)")
        let log = try fixture.run("log", fixture.name, "--patch", "--from", "\(held)")
        #expect(log.output.contains("~ owner: @later (loose) -> @later"), "\(log)")
        for (at, offset) in [(loose, loose), (held, held)] {
            let lines = try fixture.objects("blame", fixture.name, "comment", "--at", "\(at)")
            #expect(lines.count == 2 && lines.allSatisfy { $0["offset"] as? UInt64 == offset }, "\(lines)")
            for line in lines { #expect(try isLoose(line["value"]) == (offset == loose)) }
        }
    }

    @Test func ofExports() throws {
        let records = try fixture.run("export", fixture.name, "--records", "--at", "\(loose)")
        let record = try #require(records.lines.first { $0.hasPrefix(#"{"record":"comment""#) })
        #expect(record.contains(#""parent":"news","looseParent":true"#), "\(record)")
        #expect(record.contains(#""deletesWithTarget":true,"loose":true"#), "\(record)")
        let patch = try fixture.run(
            "log", "--json", "--patch", fixture.name, "--from", "\(loose)", "--to", "\(loose)")
        #expect(patch.output.contains(#""record":"news","deletesWithTarget":false,"loose":true"#), "\(patch)")
        #expect(patch.output.contains(#""record":"later","deletesWithTarget":true,"loose":true"#), "\(patch)")
        // An export of commits has the links in the bytes of its events.
        let file = fixture.directory.path("Export.jsonl")
        try fixture.run("export", fixture.name).output.write(toFile: file, atomically: true, encoding: .utf8)
        #expect(try fixture.run("import", "Copy.strata", file).code == 0)
        let history = try fixture.run("history", "Copy.strata", "comment")
        #expect(history.lines.contains("    + parent: @news (loose)"), "\(history)")
    }
}
