import Foundation
import Glibc
import StrataLog
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataTool

@Suite struct ReportPageTests {
    private static let hostile = "</script><img src=x onerror=alert(1)>\u{2028}\"'&\u{1B}[31m\u{202E}]]>"

    /// A log whose every name and value tries to be something else.
    private static func hostileStore() throws -> StoreFixture {
        let fixture = try StoreFixture()
        let names: [InternedName.Name] = [
            .user(hostile), .device(user: 1, hostile), .database(.private, owner: 1),
            .zone(database: 1, owner: 1, hostile), .recordType(hostile), .field(hostile),
        ]
        let header = EnvelopeHeader(
            user: 1, device: 1, operationID: "<op>", operationKind: .modifyRecords, groupID: "<g>", groupName: hostile)
        let zone = try ZoneSavedEvent(zone: 1, database: 1, capabilities: [.fetchChanges]).event()
        try fixture.append(
            Envelope(header: header, events: names.map { InternedName(ordinal: 1, name: $0).event } + [zone]).encoded())
        let record = RecordKey(zone: 1, name: hostile)
        let saved = try RecordSavedEvent(.create, record, type: 1, fields: [FieldChange(1, .string(hostile))]).event()
        try fixture.append(Envelope(header: header, events: [saved]).encoded())
        var request = RequestBuilder(DatabaseID(.private))
        request.save(RecordID(hostile, zone: ZoneID(hostile)), type: hostile, fields: ["k": .string(hostile)])
        let refused = RequestRefusedEvent(
            code: 14, message: hostile, request: try request.request.encoded(),
            culprits: [.init(.saves, index: 0, code: 14, version: Version(offset: 2, eventIndex: 0))])
        try fixture.append(Envelope(header: header, events: [try refused.event()]).encoded())
        try fixture.close()
        return fixture
    }

    @Test func namesStayText() throws {
        let page = try ReportedPage(in: try Self.hostileStore().directory)
        #expect(page.result.code == 0, "\(page.result.errors)")
        let faults = try page.faults()
        #expect(faults.isEmpty, "\(faults)")
        #expect(page.text.ranges(of: "</script>").count == 2 && !page.text.contains("<img"))
        // What would turn the page's text round, or a terminal's, is spelt out.
        #expect(!page.text.unicodeScalars.contains { $0 == "\u{202E}" || $0 == "\u{2028}" || $0 == "\u{1B}" })
        let history = try #require(try page.histories().first)
        let shown = Printable.escaped(Self.hostile)
        #expect(history.name == shown && history.zoneName == shown && history.type == shown)
        #expect(history.versions[0].changes.map(\.key) == [shown])
        #expect(history.versions[0].changes[0].after == ValueText.quoted(Self.hostile))
        let refusals = try page.section("refusals")
        // The record of a refusal is the one whose history is there.
        #expect(refusals.contains("data-zone=\"1\" data-record=\"&lt;/script&gt;&lt;img src=x"))
    }

    @Test func tamperingIsFound() throws {
        let page = try ReportedPage(in: try StoreFixture.small().directory)
        #expect(try page.faults().isEmpty && page.references().isEmpty)
        let parts = ["<b>open", "<td onclick=\"x\"></td>", "a < b", "<video></video>", "</p>"]
        for part in parts {
            var text = page.text
            text.insert(contentsOf: part, at: try #require(text.range(of: "</main>")?.lowerBound))
            #expect(try !ReportedPage(text).faults().isEmpty, "\(part)")
        }
        for part in ["http://a", "<a href=\"b\">", "<img src=\"b\">", "fetch(1)", "url(b)"] {
            #expect(!ReportedPage(page.text + part).references().isEmpty, "\(part)")
        }
    }

    /// A browser obeys no other style or script.
    @Test func policyNamesTheStyleAndTheScript() throws {
        let directory = try TestDirectory()
        let page = try ReportedPage(in: try StoreFixture.small().directory)
        let policy = try page.part(from: "<meta http-equiv=\"Content-Security-Policy\" content=\"", to: "\"")
        #expect(policy.hasPrefix("default-src &#39;none&#39;;"))
        for tag in ["style", "script"] {
            try Data(try page.part(from: "<\(tag)>", to: "</\(tag)>").utf8)
                .write(to: URL(fileURLWithPath: directory.path(tag)))
            let sum = try ToolProcess.run(["sha256sum", tag], in: directory.path(""), program: "/usr/bin/env")
            let digits = sum.output.prefix { $0 != " " }
            let bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
                UInt8(digits.dropFirst($0).prefix(2), radix: 16)
            }
            #expect(policy.contains("\(tag)-src &#39;sha256-\(Data(bytes).base64EncodedString())&#39;"))
        }
    }

    // MARK: Room

    /// Many records of long values, and one with many versions.
    private static func largeStore() throws -> StoreFixture {
        let fixture = try StoreFixture()
        try fixture.internNames()
        let text = String(repeating: "what is long ", count: 25)
        var previous: Version?
        for number in 0..<3_000 {
            var events: [Event] = []
            let field = FieldChange(1, .string("\(number) \(text)"))
            events.append(
                try RecordSavedEvent(.create, RecordKey(zone: 1, name: "note-\(number)"), type: 1, fields: [field])
                    .event())
            let record = RecordKey(zone: 1, name: "busy")
            var busy = RecordSavedEvent(previous == nil ? .create : .update, record, type: 1, fields: [field])
            busy.previous = previous
            events.append(try busy.event())
            let position = try fixture.append(Envelope(header: StoreFixture.header, events: events).encoded())
            previous = Version(offset: position.offset, eventIndex: 1)
        }
        try fixture.close()
        return fixture
    }

    @Test func aPageHasItsSize() throws {
        let directory = try Self.largeStore().directory
        let page = try ReportedPage(in: directory, "--size", "1", "--records", "10000")
        #expect(page.result.code == 0 && page.text.utf8.count <= 1 << 20)
        // Room is not wasted either.
        #expect(page.text.utf8.count > 900 << 10)
        let histories = try page.histories()
        let busy = try #require(histories.first)
        #expect(busy.name == "busy" && busy.count == 3_000 && busy.versions.count >= 20 && busy.versions.count < 3_000)
        #expect(busy.versions.last?.offset == 3_001)
        #expect(page.result.errors.contains("of 3,001 records have their history on the page"), "\(page.result.errors)")
        #expect(page.result.errors.contains("only the last versions of 1 record are included"))
        #expect(try page.part(from: "id=\"missing\">", to: "</p>").contains("of 3,001 records"))
        // With more room there is more.
        let larger = try ReportedPage(in: directory, "--size", "8", "--records", "10000")
        #expect(try larger.histories().count == 3_001 && larger.result.errors.isEmpty, "\(larger.result.errors)")
    }

    @Test("A search that finds nothing says how little the page has, and the total is that of all records")
    func extent() throws {
        let fixture = try StoreFixture()
        try fixture.internNames()
        // More than are counted one by one.
        for commit in 0..<70 {
            let events = try (0..<1_000).map { try fixture.noteEvent("note-\(commit)-\($0)") }
            try fixture.append(Envelope(header: StoreFixture.header, events: events).encoded())
        }
        try fixture.close()
        let page = try ReportedPage(in: fixture.directory)
        let extent = "It has 1,000 of about 70,000 records."
        #expect(page.text.contains("data-extent=\"\(extent)\""), "\(page.result.errors)")
        #expect(page.result.errors.contains("1,000 of about 70,000 records have their history"))
        #expect(page.text.contains("No record on this page has these words.") && !page.text.contains("No record here"))
        let small = try ReportedPage(in: try StoreFixture.small().directory)
        #expect(small.text.contains("data-extent=\"\""))
    }

    @Test("Records that went with their zone are not alive, and the commit is named")
    func deletedZone() throws {
        let fixture = try StateFixture()
        try fixture.change { store in
            try fixture.step { try store.modify(.zones(deleting: [StateFixture.notes]), as: StateFixture.phone) }
            try fixture.step { try store.modify(.zones(saving: [StateFixture.notes]), as: StateFixture.phone) }
            try fixture.save("milk", ["rank": .int64(1)], to: store)
        }
        let histories = try ReportedPage(in: fixture.directory).histories()
        let milk = try #require(histories.first { $0.name == "milk" })
        #expect(milk.versions.map(\.kind) == ["create", "update", "zone deleted", "create"], "\(milk)")
        #expect(milk.count == 4 && milk.versions[2].offset == 6 && milk.versions[2].notes == ["deleted with its zone"])
        let list = try #require(histories.first { $0.name == "list" })
        #expect(list.versions.last?.kind == "zone deleted", "\(list)")
        // A record that was deleted before its zone went only once.
        let gone = try #require(histories.first { $0.name == "gone" })
        #expect(gone.versions.map(\.kind) == ["create", "delete"], "\(gone)")
        let history = try fixture.objects("history", fixture.name, "milk", "--user", "anna", "--zone", "Notes")
        #expect(history.map { $0["change"] as? String } == ["create", "update", "zoneDeleted", "create"], "\(history)")
        #expect(history.map { $0["offset"] as? Int } == [2, 4, 6, 8])
    }

    @Test("A refusal names its state and its actor, or says that they are not recorded")
    func causesOfRefusals() throws {
        let fixture = try StoreFixture()
        try fixture.internNames()
        let event = try RequestRefusedEvent(code: 14, culprits: [.init(.saves, index: 0, code: 14)]).event()
        for kind in [nil, .signedOut, .service] as [EnvelopeHeader.ActorKind?] {
            let header = EnvelopeHeader(isLazy: true, judgedOn: kind == nil ? nil : 1, actorKind: kind)
            try fixture.append(Envelope(header: header, events: [event]).encoded())
        }
        try fixture.close()
        let refusals = try ReportedPage(in: fixture.directory).section("refusals")
        for text in ["actor not recorded, ", "not signed in, ", "system, ", ", state not recorded"] {
            #expect(refusals.ranges(of: text).count == 1, "\(text)")
        }
        #expect(refusals.ranges(of: ", judged on the state at 1<").count == 2)
    }

    @Test func onlyTheLastRefusalsAreTold() throws {
        let fixture = try StoreFixture()
        try fixture.internNames()
        let most = ReportRefusals.mostTold
        let event = try RequestRefusedEvent(code: 14, culprits: [.init(.deletes, index: 0, code: 14)]).event()
        let refused = Envelope(header: StoreFixture.header, events: [event]).encoded()
        for _ in 0..<most { try fixture.append(refused) }
        let all = try ReportedPage(in: fixture.directory).section("refusals")
        #expect(all.contains("All of them are listed"))
        #expect(all.ranges(of: "delete <i>request not recorded</i>").count == most)
        for _ in 0..<most * 9 { try fixture.append(refused) }
        try fixture.close()
        let last = try ReportedPage(in: fixture.directory).section("refusals")
        #expect(last.contains("2,000 requests were refused; 2,000 items") && last.contains("1,800 before them"))
        #expect(last.ranges(of: "delete <i>request not recorded</i>").count == most)
        let newest = UInt64(most * 10 + 1)
        #expect(last.contains(">2,001</th>") && !last.contains(">1,801</th>"))
        #expect(last.contains("<tr id=\"commit-\(newest)\">") && last.contains("data-commit=\"\(newest)\""))
    }

    @Test("Bars that would all be full are left out, and the others are there")
    func barsThatSayNothing() throws {
        let same = try ReportedPage(in: try StoreFixture.small().directory)
        #expect(try !same.section("churn").contains("meter") && same.section("churn").contains("note-1"))
        #expect(try same.section("sizes").contains("<th scope=\"col\" class=\"meter\">Bytes compared</th>"))
        let varied = try ReportedPage(in: try VersionedStore.varied().world.directory)
        #expect(try varied.section("churn").contains("<th scope=\"col\" class=\"meter\">Compared</th>"))
        #expect(try varied.section("churn").contains("<td class=\"meter\">"))
    }

    @Test("What one came for stands before sizes and segments")
    func orderOfSections() throws {
        let page = try ReportedPage(in: try VersionedStore.varied().world.directory)
        let found = page.text.matches(of: /<section id="([a-z]+)"/).map { String($0.1) }
        #expect(found == ["overview", "timeline", "records", "refusals", "churn", "shares", "sizes", "segments"])
        let links = page.text.matches(of: /<li><a href="#([a-z]+)"/).map { String($0.1) }
        #expect(links == found)
    }

    @Test func manySegmentsAreToldInGroups() throws {
        let fixture = try StoreFixture(segmentBytes: 64 << 10)
        try fixture.internNames()
        try fixture.saveNotes(210, noise: 33_000)
        try fixture.close()
        let count = try fixture.segments().count
        try #require((201...400).contains(count))
        let page = try ReportedPage(in: fixture.directory)
        #expect(try page.faults().isEmpty)
        let segments = try page.section("segments")
        #expect(segments.contains("\(count) files of the log") && segments.contains("Neighboring files are grouped."))
        let rows = segments.ranges(of: "<tr><th scope=\"row\"").count
        #expect(rows == (count + 1) / 2 && rows <= 200)
        #expect(segments.ranges(of: "<rect class=\"frames\" x=").count == rows)
        // No commit is lost by it.
        let numbers = segments.matches(of: /<\/span><\/td><td class="n">(\d+)<\/td>/).compactMap { Int($0.1) }
        #expect(numbers.reduce(0, +) == 211)
    }

    @Test func fewerRecordsByNumber() throws {
        let directory = try Self.largeStore().directory
        let page = try ReportedPage(in: directory, "--records", "5")
        let histories = try page.histories()
        // By turns what changed most and what changed last.
        #expect(histories.map(\.name) == ["busy", "note-0", "note-2999", "note-1", "note-2998"])
        #expect(histories[0].versions.count == 3_000)
    }

    // MARK: Pieces

    @Test func timesAreInSteps() {
        let spans: [Int64] = [0, 1, 95_999, 96_000, 3_600_000_000, 86_400_000_000 * 400, Int64.max / 4]
        for span in spans {
            var timeline = ReportTimeline(from: -7, through: span - 7)
            #expect((1...ReportTimeline.maximumSteps).contains(timeline.stepCount), "\(span)")
            timeline.add(-7, zones: [1], kinds: [16])
            timeline.add(span - 7, zones: [1, 2], kinds: [16, 17])
            #expect(timeline.all.first.map { $0 > 0 } == true && timeline.all.last.map { $0 > 0 } == true, "\(span)")
            #expect(timeline.time(ofStep: 0).microseconds <= -7)
            let (lanes, others) = timeline.zones.top(1)
            #expect(lanes.map(\.ordinal) == [1] && lanes[0].counts.reduce(0, +) == 2 && others?.reduce(0, +) == 1)
            #expect(timeline.kinds.top(2).others == nil)
        }
    }

    @Test func longValuesAreCutWhereTheyDiffer() {
        let long = String(repeating: "a", count: ReportExcerpt.length)
        #expect(ReportExcerpt.text(long) == long)
        #expect(ReportExcerpt.text(long + "b") == long + "… [401 characters]")
        #expect(ReportExcerpt.pair("a", "b") == ("a", "b"))
        let (before, after) = ReportExcerpt.pair(long + "x", long + "yz")
        #expect(before == "…" + String(repeating: "a", count: 40) + "x [401 characters]")
        #expect(after == "…" + String(repeating: "a", count: 40) + "yz [402 characters]")
    }

    @Test func textInAScriptElement() throws {
        let text = "</script><!-- \"\\ \u{0}\u{7F}\u{2028}\u{2029} ä 🧺 & >"
        let json = String(decoding: ReportJSON.text(text).bytes, as: UTF8.self)
        #expect(!json.contains("<") && !json.contains(">") && !json.contains("&") && !json.contains("\u{2028}"))
        let read = try JSONSerialization.jsonObject(with: Data("[\(json)]".utf8)) as? [String]
        #expect(read == [text])
    }

    @Test func whatIsPutIntoMarkup() {
        let name = "<a href=\"x\">'&\u{1B}"
        let markup: ReportMarkup = "<p title=\"\(name)\">\(name)</p>"
        let escaped = "&lt;a href=&quot;x&quot;&gt;&#39;&amp;\\u{1b}"
        #expect(markup.text == "<p title=\"\(escaped)\">\(escaped)</p>")
        #expect(("\(markup)\([markup])" as ReportMarkup).text == markup.text + markup.text)
        #expect(("\(count: 1_234_567) \(count: 999)" as ReportMarkup).text == "1,234,567 999")
    }

    @Test func bytesForPeople() {
        #expect(ReportNumber.bytes(1) == "1 byte" && ReportNumber.bytes(1_023) == "1023 bytes")
        #expect(ReportNumber.bytes(1_024) == "1.00 KiB" && ReportNumber.bytes(.max) == "16.00 EiB")
    }

    @Test func theLatestRecords() {
        var latest = ReportLatest(capacity: 2)
        func record(_ number: Int) -> RecordKey { RecordKey(zone: 1, name: "\(number)") }
        for number in 0..<100 { latest.add(record(number)) }
        latest.add(record(98))
        #expect(latest.records == [record(98), record(99)])
        var none = ReportLatest(capacity: 0)
        none.add(record(1))
        #expect(none.records.isEmpty)
    }
}

extension ReportedPage {
    /// A page that nobody wrote.
    init(_ text: String) {
        self.init(result: ToolResult(code: 0, output: text, errors: ""), text: text)
    }
}
