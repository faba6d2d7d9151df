import Foundation
import StrataLog
import StrataModel
import StrataStore
import StrataSystem
import TestSupport
import Testing

@testable import StrataTool

@Suite struct ReportCommandTests {
    private static func expectSound(_ page: ReportedPage, code: Int32 = 0) throws {
        #expect(page.result.code == code, "\(page.result.errors)")
        let faults = try page.faults()
        #expect(faults.isEmpty, "\(faults)")
        #expect(page.references().isEmpty, "\(page.references())")
    }

    @Test func whatAStoreHolds() throws {
        let (world, offsets) = try VersionedStore.varied()
        let page = try ReportedPage(in: world.directory)
        try Self.expectSound(page)
        #expect(page.result.errors.isEmpty)
        for id in ["overview", "timeline", "sizes", "churn", "refusals", "segments", "shares", "records"] {
            #expect(page.text.contains("<section id=\"\(id)\""), "\(id)")
            #expect(page.text.contains("<a href=\"#\(id)\">"), "\(id)")
        }
        #expect(try page.section("overview").contains("<dt>Commits</dt><dd>\(offsets.refused)<small>1 to "))
        #expect(try page.section("timeline").contains("Notes (private of anna)"))
        #expect(try page.section("sizes").contains("<th scope=\"row\">Photo</th><td class=\"n\">3</td>"))
        let refusals = try page.section("refusals")
        #expect(refusals.contains("conflict") && refusals.contains("server record changed <small>code 14</small>"))
        #expect(refusals.contains("the store has <code>") && refusals.contains("<code>rank = 99</code>"))
        let offsetsOfTheSegment = "<th scope=\"row\" class=\"nowrap\">1 to \(offsets.refused)</th>"
        #expect(try page.section("segments").contains(offsetsOfTheSegment))
    }

    /// The histories are those that `strata history` tells.
    @Test func historiesAreThoseOfTheRecords() throws {
        let world = try VersionedStore.varied().world
        let histories = try ReportedPage(in: world.directory).histories()
        #expect(Set(histories.map(\.name)).isSuperset(of: ["note-1", "note-2", "photo-1", "news"]))
        for history in histories where history.zoneName != "_defaultZone" {
            let owner = try #require(history.database.split(separator: " ").last)
            let told = try world.run(
                "history", "Notes.strata", history.name, "--zone", history.zoneName, "--user", String(owner), "--json")
            let objects = try told.lines.map { line in
                try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            }
            #expect(history.count == objects.count && history.versions.count == objects.count, "\(history)")
            for (version, object) in zip(history.versions, objects) {
                #expect(version.offset == object["offset"] as? UInt64 && version.tag == object["changeTag"] as? String)
                #expect(version.kind == object["change"] as? String)
                let changes = try #require(object["changes"] as? [[String: Any]])
                let keys = changes.map { $0["fieldName"] as? String ?? $0["link"] as? String ?? "?" }
                #expect(version.changes.map(\.key) == keys)
            }
        }
        let note = try #require(histories.first { $0.name == "note-1" && $0.database == "private of anna" })
        let title = note.versions[1].changes.first { $0.key == "title" }
        #expect(title?.before == "\"Groceries\"" && title?.after == "\"Shopping\"")
        #expect(note.versions[2].changes.contains { $0.key == "done" && $0.before == "1" && $0.after == "none" })
        let photo = try #require(histories.first { $0.name == "photo-1" })
        #expect(photo.versions.map(\.kind) == ["create", "delete", "create"])
    }

    @Test func theSameStoreGivesTheSamePage() throws {
        let world = try VersionedStore.varied().world
        let page = try ReportedPage(in: world.directory)
        #expect(try ReportedPage(in: world.directory).text == page.text)
        let before = try FileManager.default.subpathsOfDirectory(atPath: world.path)
        let result = try world.run("report", "Notes.strata", "Notes.html")
        #expect(result.code == 0 && result.output.isEmpty && result.errors.isEmpty)
        let file = try String(contentsOfFile: world.directory.path("Notes.html"), encoding: .utf8)
        #expect(file == page.text)
        #expect(try FileManager.default.subpathsOfDirectory(atPath: world.path) == before)
        #expect(!page.text.isEmpty)
    }

    // MARK: What is chosen

    @Test func ranges() throws {
        let (world, offsets) = try VersionedStore.varied()
        let page = try ReportedPage(
            in: world.directory, "--from", "\(offsets.updated)", "--to", "\(offsets.linked)")
        try Self.expectSound(page)
        #expect(page.text.contains("Commits before \(offsets.updated) were not requested."))
        #expect(page.text.contains("Commits after \(offsets.linked) were not requested."))
        let note = try #require(try page.histories().first { $0.name == "note-1" })
        #expect(note.versions.map(\.offset) == [offsets.updated, offsets.linked])
        // What stood in front of the range is known all the same.
        #expect(note.versions[0].changes.first { $0.key == "title" }?.before == "\"Groceries\"")
        let nothing = try ReportedPage(in: world.directory, "--from", "4000")
        try Self.expectSound(nothing)
        #expect(nothing.text.contains("No commit is in the requested range."))
    }

    @Test func oneZone() throws {
        let world = try VersionedStore.varied().world
        let page = try ReportedPage(in: world.directory, "--zone", "Photos")
        try Self.expectSound(page)
        #expect(try page.histories().map(\.name) == ["photo-1"])
        #expect(try page.section("timeline").contains("Photos") && !page.section("timeline").contains("Notes"))
        #expect(try page.section("refusals").contains("not counted"))
        let unknown = try world.run("report", "Notes.strata", "Out.html", "--zone", "Lists")
        #expect(unknown.code == 1 && unknown.errors.contains("no zone 'Lists'"))
        let files = try FileManager.default.contentsOfDirectory(atPath: world.directory.path(""))
        #expect(!files.contains { $0.hasPrefix("Out.html") })
    }

    @Test func recordsThatAreAskedForComeFirst() throws {
        let world = try VersionedStore.varied().world
        let page = try ReportedPage(in: world.directory, "--record", "news", "--records", "2")
        let names = try page.histories().map(\.name)
        #expect(names == ["news", "note-1"])
        #expect(page.text.contains("id=\"missing\"") && page.result.errors.contains("have their history on the page"))
        #expect(try ReportedPage(in: world.directory, "--records", "0").histories().isEmpty)
    }

    // MARK: Stores of other kinds

    @Test func anEmptyStore() throws {
        let fixture = try StoreFixture()
        try fixture.close()
        let page = try ReportedPage(in: fixture.directory)
        try Self.expectSound(page)
        #expect(page.text.contains("There are no commits here.") && page.text.contains("No record has changed."))
    }

    @Test func aDamagedStore() throws {
        let fixture = try StateFixture()
        try fixture.damage(4)
        let before = try fixture.content()
        let page = try ReportedPage(in: fixture.directory)
        try Self.expectSound(page, code: 3)
        #expect(page.text.contains("<h2>The store is damaged</h2>") && page.text.contains("up to commit 3."))
        #expect(try page.histories().contains { $0.name == "milk" && $0.versions.map(\.offset) == [2] })
        #expect(page.result.errors.contains("strata repair"))
        // A browser goes by the name, and it is a whole page.
        #expect(try fixture.run("report", "Notes.strata", "Out.html").code == 3)
        #expect(try String(contentsOfFile: fixture.directory.path("Out.html"), encoding: .utf8) == page.text)
        #expect(try fixture.content() == before)
    }

    @Test func historyThatWasLetGo() throws {
        let fixture = try StateFixture()
        try fixture.change { store in
            try fixture.save("milk", ["rank": .int64(4)], to: store)
            _ = try store.compact(before: StateFixture.end + 1)
        }
        let page = try ReportedPage(in: fixture.directory)
        try Self.expectSound(page)
        #expect(page.text.contains("The history up to commit \(StateFixture.end) was compacted"))
        #expect(try page.section("segments").contains(">base</span>"))
        let milk = try #require(try page.histories().first { $0.name == "milk" })
        #expect(milk.versions.map(\.kind) == ["base", "update"] && milk.count == 1)
        #expect(milk.versions[1].changes.map(\.before) == ["3"])
    }

    @Test func besideAWriter() throws {
        let fixture = try StateFixture()
        let store = try fixture.open()
        defer { try? store.close() }
        try fixture.save("fresh", ["rank": .int64(1)], to: store)
        let page = try ReportedPage(in: fixture.directory)
        try Self.expectSound(page)
        #expect(try page.histories().contains { $0.name == "fresh" })
    }

    @Test func whatIsEncryptedOrErasedIsNotTold() throws {
        let world = try VersionedStore()
        try world.makeZones()
        let record = RecordID("secret", zone: VersionedStore.notes)
        let pin = try world.store.seal(
            .string("hunter2"), for: "pin", of: record, in: DatabaseID(.private), as: VersionedStore.phone)
        try world.save("secret", ["pin": pin])
        try world.save("gone", ["title": .string("forget this")])
        try world.erase("gone")
        try world.store.close()
        let page = try ReportedPage(in: world.directory)
        try Self.expectSound(page)
        #expect(!page.text.contains("hunter2") && !page.text.contains("forget this"))
        let histories = try page.histories()
        let secret = try #require(histories.first { $0.name == "secret" })
        #expect(secret.versions[0].changes.map(\.after) == ["‹encrypted, 7 bytes›"])
        let gone = try #require(histories.first { $0.name == "gone" })
        #expect(gone.versions.map(\.kind) == ["create", "erase"])
        #expect(gone.versions[0].notes == ["its content was erased later"])
        #expect(gone.versions[1].notes == ["reason: asked for"])
    }

    // MARK: What cannot be done

    @Test(
        arguments: [
            ["Notes.strata"], ["Notes.strata", "Notes.strata/page.html"], ["Notes.strata", "."],
            ["Notes.strata", "-", "--from", "3", "--to", "2"], ["Notes.strata", "-", "--size", "0"],
            ["Notes.strata", "-", "--size", "33"], ["Notes.strata", "-", "--records", "10001"],
        ]) func wrongUsage(_ words: [String]) throws
    {
        let fixture = try StoreFixture.small()
        let result = try ToolProcess.run(["report"] + words, in: fixture.directory.path(""))
        #expect(result.code == 2 && result.output.isEmpty && !result.errors.isEmpty, "\(result)")
    }

    @Test func placesThatAreNotThere() throws {
        let fixture = try StoreFixture.small()
        #expect(try fixture.run("report", "Nothing.strata", "-").code == 3)
        #expect(try fixture.run("report", "Notes.strata", "nowhere/Out.html").code == 3)
    }
}
