import StrataModel
import Testing

@testable import StrataTool

/// The shares on the page of `strata report`.
@Suite struct ShareReportTests {
    private let fixture: StateFixture

    init() throws {
        fixture = try StateFixture()
        try fixture.share()
    }

    private func page(_ words: String...) throws -> ReportedPage {
        let result = try fixture.run(["report", fixture.name, "-"] + words)
        #expect(result.code == 0 && result.errors.isEmpty, "\(result.errors)")
        let page = ReportedPage(result: result, text: result.output)
        let faults = try page.faults()
        #expect(faults.isEmpty, "\(faults)")
        return page
    }

    private func end() throws {
        try fixture.change { store in
            var request = RequestBuilder(DatabaseID(.private))
            request.delete(RecordID("Share-1", zone: StateFixture.notes))
            try fixture.step { try store.modify(request.request, as: StateFixture.phone) }
        }
    }

    @Test("The shares have a table with roots, participants and commits")
    func table() throws {
        let section = try page().section("shares")
        #expect(section.contains("1 share made and 0 ended; users joined 1 time and left 0 times"), "\(section)")
        for text in [
            ">Share-1</span>", ">list</span>", "<li>anna <small>owner, read and write</small></li>",
            "<li>bert <small>private user, read and write, accepted</small></li>",
            "<li>c@example.com <small>private user, read only, invited</small></li>", "<td class=\"n\">7</td>",
        ] { #expect(section.contains(text), "\(text): \(section)") }
        #expect(try page().section("overview").contains("<dt>Shares made</dt><dd>1<small>0 ended; 1 joined, 0 left"))
    }

    @Test("What ended in the range is there, though it began before")
    func ended() throws {
        try end()
        let section = try page().section("shares")
        #expect(section.contains("1 share made and 1 ended; users joined 1 time and left 1 time."), "\(section)")
        let last = try page("--from", "9").section("shares")
        #expect(last.contains("0 shares made and 1 ended") && last.contains("<td class=\"n\">earlier</td>"), "\(last)")
        #expect(last.contains(">list</span>") && last.contains("<td class=\"n\">9</td>"), "\(last)")
        #expect(try page("--to", "6").section("shares").contains("made, changed and ended no share"))
    }

    @Test("Only the shares of the zone that is asked for")
    func zone() throws {
        #expect(try page("--zone", "Notes").section("shares").contains("1 share made"))
        #expect(try page("--zone", "Work").section("shares").contains("made, changed and ended no share"))
    }

    @Test("A history has the participants of its share in words")
    func history() throws {
        let history = try #require(try page().histories().first { $0.name == "Share-1" })
        let joined = try #require(history.versions.last?.changes.first { $0.key == "participant bert" })
        #expect(joined.before.contains("invited") && joined.after.contains("accepted"), "\(joined)")
        #expect(!history.versions.contains { $0.changes.contains { $0.key == "cloudkit.share" } })
    }

    @Test("The page has no token, with which anyone could join a public share")
    func tokens() throws {
        let token = try fixture.change { try #require(try $0.snapshot().trees.share(1)).urlToken }
        #expect(token.count == 25)
        #expect(try !page().text.contains(token))
    }

    @Test("Of a share that was dropped for others it is not known when it was made")
    func forgotten() throws {
        try fixture.change { store in
            for number in 1...170 {
                var names = RequestNames()
                let zone = names.ordinal(of: StateFixture.notes)
                let share = RecordKey(zone: zone, name: "Other-\(number)")
                var root = ModifyRecordsRequest.Save(
                    RecordKey(zone: zone, name: "root-\(number)"), type: names.ordinal(ofType: "List"))
                root.share = .set(share)
                let body = ModifyRecordsRequest(
                    saves: [
                        root,
                        ModifyRecordsRequest.Save(
                            share, type: names.ordinal(ofType: ShareState.recordType),
                            sharing: ShareChange(root: "root-\(number)", participants: [])),
                    ])
                let request = Request(database: DatabaseID(.private), names: names, .modifyRecords(body))
                for save in try store.modify(request, as: StateFixture.phone).result.saves { _ = try save.get() }
            }
            try fixture.edit(ShareChange(allowsAccessRequests: true), to: store)
        }
        let section = try page().section("shares")
        let rows = section.components(separatedBy: "<tr>")
        let row = try #require(rows.first { $0.contains(">Share-1</span>") })
        #expect(row.contains("<td class=\"n\">not known</td>"), "\(row)")
    }
}
