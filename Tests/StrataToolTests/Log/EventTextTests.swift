import StrataModel
import Testing

@testable import StrataTool

/// The text that `strata log` prints of each kind of event.
@Suite struct EventTextTests {
    private static let names = {
        var names = KnownNames()
        names.add(InternedName(ordinal: 1, name: .user("anna")))
        names.add(InternedName(ordinal: 1, name: .device(user: 1, "phone")))
        names.add(InternedName(ordinal: 1, name: .zone(database: 1, owner: 1, "Notes")))
        names.add(InternedName(ordinal: 1, name: .recordType("Note")))
        return names
    }()

    private static let version = Version(offset: 1, eventIndex: 0)

    private func expect(_ text: String, of value: some Described, _ at: SourceLocation = #_sourceLocation) {
        #expect(value.text(Self.names) == text, sourceLocation: at)
    }

    @Test func names() {
        func expect(_ text: String, _ name: InternedName.Name) {
            self.expect(text, of: InternedName(ordinal: 3, name: name))
        }
        expect("user 3 = an\\u{7}na", .user("an\u{7}na"))
        expect("device 3 = mac of user 1", .device(user: 1, "mac"))
        expect("database 3 = public", .database(.public, owner: 0))
        expect("database 3 = private of user 2", .database(.private, owner: 2))
        expect("zone 3 = Notes in database 2 of user 0", .zone(database: 2, owner: 0, "Notes"))
        expect("record type 3 = Note", .recordType("Note"))
    }

    @Test func zonesAndRecords() {
        let record = RecordKey(zone: 1, name: "milk")
        expect(
            "Notes / Note / milk  of mh34, cascade",
            of: RecordDeletedEvent(record, type: 1, previous: Self.version, isCascade: true))
        expect("Notes / type 2 / milk", of: RecordDeletedEvent(record, type: 2, previous: nil))
        expect(
            "Notes / Note / milk  of mh34: asked for",
            of: RecordErasedEvent(record, type: 1, previous: Self.version, reason: "asked for"))
        expect("Notes", of: ZoneSavedEvent(zone: 1, database: 1))
        expect(
            "zone 9  encrypted data reset",
            of: ZoneDeletedEvent(zone: 9, database: 1, incarnation: nil, reason: .encryptedDataReset))
        expect("Note", of: SchemaChangedEvent(type: 1, fields: []))
        for body in [DatabaseCreatedEvent(database: 1) as any Described, DeviceSeenEvent(device: 1)] {
            #expect(body.text(Self.names).isEmpty)
        }
    }

    @Test func people() {
        var person = Person()
        (person.givenName, person.roles) = ("Anna", ["Editors"])
        expect(
            "anna: temporarily unavailable, quota 9; name Anna, role Editors",
            of: UserChangedEvent(user: 1, status: .temporarilyUnavailable, quota: 9, person: person))
        expect("anna: available", of: UserChangedEvent(user: 1))
        expect("_a of anna", of: UserRecordNamedEvent(user: 1, recordName: "_a"))
        expect("secret 1", of: SecretDrawnEvent(number: 1, secret: Array(1...32)))
        expect("lost, user anna", of: ConsoleActedEvent(ConsoleNote("lost", user: "anna")))
    }

    @Test func shares() {
        var share = ShareSavedEvent(share: 2, record: RecordKey(zone: 1, name: "S"), root: "list", urlToken: "abc")
        share.oneTimeTokens = [.init("xy", of: "p")]
        expect("Notes / S, share 2 of list, 1 one-time URL", of: share)
        share.publicPermission = .readWrite
        expect("Notes / S, share 2 of list, public read and write", of: share)
        (share.isEnded, share.root) = (true, nil)
        expect("Notes / S, share 2 of the whole zone, ended", of: share)
        var member = MemberChangedEvent(user: 1, share: 2, zone: 1, permission: .readOnly, role: .privateUser)
        expect("anna joined share 2 in Notes: private user, read only", of: member)
        member.joined = Self.version
        expect("anna is still in share 2 in Notes: private user, read only", of: member)
        member.isGone = true
        expect("anna left share 2 in Notes", of: member)
        var record = SharedRecordEvent(RecordKey(zone: 1, name: "milk"), type: 1, share: 2)
        expect("Notes / Note / milk  under share 2", of: record)
        record.isGone = true
        expect("Notes / Note / milk  no longer under share 2", of: record)
    }

    @Test func audits() throws {
        let request = try Request(database: DatabaseID(.private), .modifyRecords(ModifyRecordsRequest())).encoded()
        let culprits = [
            RequestRefusedEvent.Culprit(.saves, index: 0, code: 14, version: Self.version),
            RequestRefusedEvent.Culprit(.deletes, index: 1, code: 11),
        ]
        expect(
            "14 server record changed: no; saves 0: 14 server record changed, has mh34; deletes 1: 11 unknown item; "
                + "request: modify records of private",
            of: RequestRefusedEvent(code: 14, message: "no", request: request, culprits: culprits))
        expect("11 unknown item; request: not kept", of: RequestRefusedEvent(code: 11))
        expect("2 not found; request: modify records of private", of: NothingToDeleteEvent(count: 2, request: request))
        var fetched = FetchedEvent(
            .records, in: DatabaseID(.private, owner: "anna"), at: 5, resultCount: 1,
            ids: [RecordID("a", zone: ZoneID("Notes")), RecordID("b", zone: ZoneID("Notes"))])
        (fetched.desiredKeys, fetched.moreComing) = (["title", "size"], true)
        expect(
            "records of private of anna, records Notes/a, Notes/b, keys title, size, at 5: 1 result, more coming",
            of: fetched)
        expect(
            "zone changes of public, at 5: 0 results",
            of: FetchedEvent(.zoneChanges, in: DatabaseID(.public), at: 5, resultCount: 0))
    }
}
