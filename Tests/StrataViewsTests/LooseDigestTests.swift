import StrataModel
import StrataTree
import TestSupport
import Testing

@testable import StrataViews

/// A record's state holds the digest of its content alone, and that of the state is computed again from it when the
/// record changes. Loose links are part of the latter and not of the former.
@Suite("Digests of changed records with loose links")
struct LooseDigestTests {
    private static func reference(_ name: String, isLoose: Bool) -> FieldValue {
        var reference = FieldValue.Reference(RecordKey(zone: 1, name: name), action: .deleteSelf)
        reference.isLoose = isLoose
        return .reference(reference)
    }

    private static let record = RecordKey(zone: 1, name: "6F9619FF-8B86-D011-B42D-00C04FC964FF")

    /// A record with loose links, then an update that leaves none, one, or all of them.
    private func commits(
        _ fields: [FieldValue], parentIsLoose: Bool, then next: [FieldChange]
    ) throws -> [SampleCommit] {
        var history = NoteHistory(seed: 1)
        var commits = try history.manyNotes(0, perCommit: 1)
        commits[0].payload = Envelope(
            events: try Envelope(decoding: commits[0].payload[...]).events
                + [InternedName(ordinal: 2, name: .field("links")).event]
        ).encoded()
        var save = RecordSavedEvent(.create, Self.record, type: 1)
        save.parent = .set(RecordKey(zone: 1, name: "parent"))
        save.isParentLoose = parentIsLoose
        save.fields = [FieldChange(1, fields[0]), FieldChange(2, .list(try FieldList(fields)))]
        var update = RecordSavedEvent(.update, Self.record, type: 1, previous: Version(offset: 2, eventIndex: 0))
        update.fields = next
        for (place, event) in [save, update].enumerated() {
            let payload = Envelope(header: EnvelopeHeader(user: 1), events: [try event.event()]).encoded()
            commits.append(SampleCommit(offset: UInt64(place) + 2, time: 1, payload: payload))
        }
        return commits
    }

    @Test("Commit by commit they are those of one fold, and nothing is left when the record goes")
    func subtraction() throws {
        for number in 0..<8 {
            let (first, second) = (number & 1 == 1, number & 2 == 2)
            let fields = [Self.reference("a", isLoose: first), Self.reference("b", isLoose: second)]
            for next in [[], [FieldChange(1, .string("none"))], [FieldChange(1, fields[1]), FieldChange(2, nil)]] {
                let commits = try commits(fields, parentIsLoose: number & 4 == 4, then: next)
                let (stepwise, whole) = (try PageStore.inMemory(), try PageStore.inMemory())
                for commit in commits { try stepwise.fold([commit]) }
                try whole.fold(commits)
                let digests = try stepwise.snapshot().digests()
                #expect(try digests == whole.snapshot().digests(), "\(number), \(next.count)")
                #expect(try ViewDump(stepwise.snapshot()) == ViewDump(whole.snapshot()))
                let deletion = try RecordDeletedEvent(
                    Self.record, type: 1, previous: Version(offset: 3, eventIndex: 0)
                ).event()
                try stepwise.fold([SampleCommit(offset: 4, time: 2, payload: Envelope(events: [deletion]).encoded())])
                let row = try #require(try stepwise.snapshot().zoneRow(1, 1))
                #expect(row.recordDigests == Digests())
                #expect(try digests != stepwise.snapshot().digests())
            }
        }
    }
}
