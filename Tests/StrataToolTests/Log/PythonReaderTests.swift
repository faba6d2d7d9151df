import Glibc
import StrataModel
import StrataSystem
import TestNeeds
import TestSupport
import Testing

/// A reader in another language, written from docs/format.md, must print what the tool prints.
@Suite(.needs(.python3)) struct PythonReaderTests {
    static let reader: String = {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4)
        return root.joined(separator: "/") + "/Tests/Support/read_log.py"
    }()

    static func read(_ fixture: StoreFixture) throws -> ToolResult {
        let python: String = try #require(Programs.path("python3"))
        return try ToolProcess.run([reader, fixture.path], in: fixture.directory.path, program: python)
    }

    static func expectSame(_ fixture: StoreFixture, minimumLines: Int) throws {
        let ours = try fixture.run("log", "--json", fixture.name)
        let theirs = try read(fixture)
        #expect(ours.code == 0 && theirs.code == 0, "\(ours.errors)\(theirs.errors)")
        #expect(ours.output.utf8.elementsEqual(theirs.output.utf8), "\(firstDifference(ours, theirs))")
        #expect(ours.lines.count >= minimumLines)
    }

    private static func firstDifference(_ ours: ToolResult, _ theirs: ToolResult) -> String {
        for (left, right) in zip(ours.lines, theirs.lines) where left != right { return "\(left)\nand\n\(right)" }
        return "\(ours.lines.count) and \(theirs.lines.count) lines"
    }

    /// Everything that the format has at once: several segments, both codecs, parts, marks, odd names.
    private func everything() throws -> StoreFixture {
        let fixture = try StoreFixture(segmentBytes: 64 << 10)
        try fixture.internNames()
        try fixture.saveNotes(60, noise: 1_500)
        try fixture.close()
        try fixture.open(segmentBytes: 64 << 10)
        let deleted = RecordDeletedEvent(RecordKey(zone: 1, name: "child"), type: 9, previous: nil, isCascade: true)
        var sample = SampleRecords(seed: 5)
        let samples = try RecordSavedEvent.Change.allCases.flatMap { change in
            try (0..<40).map { _ in try sample.nextEvent(change, previous: sample.nextVersion()).event() }
        }
        try fixture.append(Envelope(events: samples).encoded())
        let shape = RequestShape(.modifyRecords, isAtomic: true, firstItemEvent: 0, saveCount: 1, deleteCount: 0)
        try fixture.append(
            Envelope(
                header: .init(
                    user: 1, device: 2, operationID: "op \"1\"\\\n\t\u{1}", operationKind: .init(rawValue: 77),
                    qualityOfService: .utility, groupID: "g", groupName: "Gruppe ü 👩‍👧",
                    requestShape: shape.encoded()[...],
                    isLazy: true, judgedOn: 1, actorKind: .service),
                events: [
                    fixture.noteEvent(
                        "with/odd \u{7F}\u{2028}\r\u{8}\u{C}name", filling: [UInt8](repeating: 7, count: 4_000)),
                    fixture.noteEvent("gone", kind: .recordDeleted), fixture.noteEvent("erased", kind: .recordErased),
                    fixture.zoneEvent(.zoneSaved), fixture.zoneEvent(.zoneDeleted), deleted.event(),
                    Event(.init(rawValue: 5_000), body: [1]),
                    Event(.keyChanged, body: []),
                    ShareSavedEvent(
                        share: 1, record: RecordKey(zone: 1, name: "Share-1"), root: "list",
                        publicPermission: .readOnly, urlToken: "abc", oneTimeTokens: [.init("once", of: "p")]
                    ).event(),
                    MemberChangedEvent(
                        user: 1, share: 1, zone: 1, permission: .readWrite, role: .administrator,
                        joined: Version(offset: 3, eventIndex: 1), ended: Version(offset: 4, eventIndex: 0),
                        isGone: true
                    ).event(),
                    SharedRecordEvent(RecordKey(zone: 1, name: "list"), type: 1, share: 1, isGone: true).event(),
                    SecretDrawnEvent(number: 1, secret: Array(1...32)).event(),
                    RulesStatedEvent(
                        .init(
                            itemsPerRequest: 400, requestBytes: 2_000_000, recordBytes: 1_000_000,
                            owningReferences: 750, movedRecords: 100_000, assetBytes: 50_000_000), .touchesParents
                    ).event(),
                ]
            ).encoded())
        // Parts of both codecs: text that compresses, then noise that does not.
        let large = [UInt8](repeating: 0x61, count: 4 << 20) + fixture.noise(300_000)
        try fixture.append(Envelope(events: [fixture.noteEvent("large", filling: large)]).encoded())
        try fixture.saveNotes(60, noise: 900, header: .init(user: 9))
        try fixture.close()
        return fixture
    }

    @Test func printsTheSame() throws {
        let fixture = try everything()
        #expect(try fixture.segments().count >= 3)
        try Self.expectSame(fixture, minimumLines: 123)
    }

    @Test func printsTheSameOfSealedSegments() throws {
        let fixture = try everything()
        try fixture.open(segmentBytes: 64 << 10)
        try fixture.sealAll()
        try fixture.close()
        try Self.expectSame(fixture, minimumLines: 123)
        try fixture.flipByte(inSegment: 1)
        let theirs = try Self.read(fixture)
        let ours = try fixture.run("log", "--json", fixture.name)
        #expect(theirs.code == 1 && ours.code == 3)
    }

    @Test func printsTheSameOfATrimmedLogWithAnUnfinishedTail() throws {
        let fixture = try StoreFixture.segmented()
        try fixture.open(segmentBytes: 64 << 10)
        let floor = try #require(try fixture.trim(to: 200))
        #expect(floor.offset > 0)
        try fixture.saveNotes(2)
        try fixture.close()
        try fixture.addUnfinishedTail()
        try Self.expectSame(fixture, minimumLines: 100)
    }

    @Test func bothStopAtDamage() throws {
        let fixture = try StoreFixture.segmented()
        try fixture.flipByte(inSegment: 1)
        let theirs = try Self.read(fixture)
        let ours = try fixture.run("log", "--json", fixture.name)
        #expect(theirs.code == 1 && ours.code == 3)
        #expect(ours.output == theirs.output)
    }

    @Test func canaryAChangedByteOfOutputIsNoticed() throws {
        let fixture = try StoreFixture.small()
        let ours = try fixture.run("log", "--json", fixture.name)
        var theirs = try Self.read(fixture)
        #expect(ours.output.utf8.elementsEqual(theirs.output.utf8))
        theirs.output = theirs.output.replacing("note-2", with: "note-3")
        #expect(!ours.output.utf8.elementsEqual(theirs.output.utf8))
    }

    @Test func canaryAStoreOfOtherContentIsNoticed() throws {
        let other = try StoreFixture(seed: 2)
        try other.internNames()
        try other.saveNotes(2)
        try other.close()
        #expect(try StoreFixture.small().run("log", "--json", "Notes.strata").output != Self.read(other).output)
    }
}
