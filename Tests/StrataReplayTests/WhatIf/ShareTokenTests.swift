import StrataLog
import StrataModel
import StrataRules
import Testing

@testable import StrataReplay
@testable import StrataStore

/// The tokens of shares' URLs in a history that is judged again.
@Suite("Tokens of shares, judged again")
struct ShareTokenTests {
    private let fixture: RerunFixture

    init() throws {
        fixture = try RerunFixture()
        try fixture.save("milk", ["rank": .int64(1)])
        try fixture.modify(.zones(saving: [ZoneID("More")]))
        try share("list", as: "Share-1", with: [.init("once", .oneTimeURL, role: .privateUser, permission: .readOnly)])
        try fixture.delete("Share-1")
        try share("list", as: "Share-2")
        try share("other", as: "Share-3")
    }

    private func share(_ root: String, as name: String, with list: [ShareChange.Participant]? = nil) throws {
        var names = RequestNames()
        let zone = names.ordinal(of: RerunFixture.notes)
        let key = RecordKey(zone: zone, name: name)
        var record = ModifyRecordsRequest.Save(RecordKey(zone: zone, name: root), type: names.ordinal(ofType: "Note"))
        record.share = .set(key)
        let share = ModifyRecordsRequest.Save(
            key, type: names.ordinal(ofType: ShareState.recordType),
            sharing: ShareChange(root: root, participants: list))
        var body = ModifyRecordsRequest(policy: .allKeys)
        body.saves = [record, share]
        let request = Request(database: RerunFixture.database, names: names, .modifyRecords(body))
        let saves = try #require(try fixture.modify(request)).saves
        for save in saves { _ = try save.get() }
    }

    @Test("A dropped commit does not change the tokens of shares that have nothing to do with it")
    func dropped() throws {
        for offset in [2, 3] as [UInt64] {
            let rerun = try fixture.replay(.drop(offset))
            #expect(rerun.differences.keys.sorted() == (offset == 2 ? ["milk"] : []), "\(offset)")
        }
    }

    @Test("A history is judged again with its tokens, also that of a store that drew its secret later")
    func determinism() throws {
        #expect(try JudgedLog.of(fixture.store).isSame)
        // Rules of that time record neither the secret nor names of users' records.
        let log = MemoryLog()
        var rerun = Rerun(of: fixture.store, changes: [.drop(fixture.store.offset)])
        var rules = fixture.store.rules
        rules.secrets.recordsSecret = false
        rules.secrets.recordedName = { _ in nil }
        rerun.rules = rules
        try rerun.run(into: log).close()
        let store = try Store(on: log)
        #expect(try JudgedLog.of(store).isSame)
        try store.engine.drawMissingSecret()
        #expect(try store.snapshot().trees.secret() != nil)
        let report = try JudgedLog.of(store)
        #expect(report.isSame && report.unjudgedCount == 0)
    }
}
