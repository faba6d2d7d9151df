import StrataModel
import Testing

@testable import ReferenceModel

/// The rules of the model itself about zones, atomicity, references and tokens, in small cases.
@Suite struct ReferenceZoneTests {
    private typealias Save = ReferenceFixture.Save
    private var fixture = ReferenceFixture()

    private mutating func zoneCodes(save: [String] = [], delete: [String] = []) -> [Refusal.Code?] {
        ReferenceFixture.codes(of: fixture.zones(save: save, delete: delete))
    }

    @Test mutating func `B31, B34, B36, B39 zones are saved`() throws {
        #expect(zoneCodes(save: ["Z", "_defaultZone", "_odd"]) == [nil, nil, .invalidArguments])
        let commits = fixture.store.commitCount
        #expect(zoneCodes(save: ["Z"]) == [nil] && fixture.store.commitCount == commits)
        #expect(ReferenceFixture.codes(of: fixture.zones(save: ["Z"], scope: .zone)) == [.invalidArguments])
        #expect(ReferenceFixture.codes(of: fixture.zones(save: ["Z"], owner: "ben")) == [.zoneNotFound])
        #expect(zoneCodes(save: ["Z"], delete: ["Z"]) == [.invalidArguments])
        #expect(zoneCodes(delete: ["_defaultZone", "Y"]) == [.invalidArguments, .zoneNotFound])
        fixture.scope = .public
        #expect(zoneCodes(save: ["Z"]) == [.badDatabase] && zoneCodes() == [])
    }

    @Test mutating func `B32, B38, B257 what a zone that ended answers`() throws {
        #expect(fixture.codes([Save(name: "a", zone: "Z")]) == [.zoneNotFound])
        #expect(zoneCodes(save: ["Z", "Y"]) == [nil, nil])
        #expect(fixture.codes([Save(name: "a", zone: "Z", fields: [("s", encrypted)])]) == [nil])
        let reset = fixture.administer(purging: nil)
        #expect(reset == .success(RequestResult()))
        let result = try fixture.modify([Save(name: "a", zone: "Z"), Save(name: "a", zone: "Y")]).get()
        guard case .failure(let refusal)? = result.saves.first else { return #expect(Bool(false), "saved") }
        #expect(refusal.code == .zoneNotFound && refusal.didResetEncryptedData)
        #expect(ReferenceFixture.codes(of: fixture.administer(purging: "Y")) == [nil])
        #expect(fixture.codes([Save(name: "a", zone: "Y")]) == [.userDeletedZone])
        #expect(zoneCodes(delete: ["Y"]) == [.userDeletedZone])
        #expect(zoneCodes(save: ["Y"]) == [nil])
        #expect(fixture.record("a", in: "Y") == nil && fixture.codes([Save(name: "a", zone: "Y")]) == [nil])
    }

    @Test mutating func `B80 to B83 atomic zones stand alone`() {
        #expect(zoneCodes(save: ["Z", "Y"]) == [nil, nil])
        let bad = Save(name: "b", zone: "Z", type: "_")
        let good = Save(name: "a", zone: "Z")
        let deletes = [("Z", "none")]
        #expect(
            fixture.codes([good, bad, Save(name: "a", zone: "Y"), Save(name: "a")], deletes: deletes)
                == [.batchRequestFailed, .invalidArguments, nil, nil, .batchRequestFailed])
        fixture.isAtomic = false
        #expect(fixture.codes([good, bad], deletes: deletes) == [nil, .invalidArguments, nil])
    }

    @Test mutating func `B93 and B98 references`() {
        fixture = ReferenceFixture(.init(itemsPerRequest: 9, requestBytes: 999, recordBytes: 99, owningReferences: 2))
        fixture.policy = .changedKeys
        let saves = ["a", "b", "c"].map { Save(name: $0, fields: [("o", reference("t")), ("p", reference("t"))]) }
        #expect(fixture.codes(saves) == [nil, nil, .limitExceeded])
        let released = Save(name: "a", fields: [("o", nil), ("p", nil)])
        #expect(fixture.codes([saves[2], released]) == [.limitExceeded, nil])
        #expect(fixture.codes([saves[2]]) == [nil])
        let abroad = FieldValue.reference(.init(RecordKey(zone: 2, name: "a")))
        #expect(fixture.codes([Save(name: "x", fields: [("q", abroad)])]) == [.invalidArguments])
    }

    @Test mutating func `B95, B97, B101 and B255 cascades`() {
        let cycle = [
            Save(name: "a", fields: [("o", reference("c"))]), Save(name: "b", fields: [("o", reference("a"))]),
            Save(name: "c", fields: [("o", reference("b"))]), Save(name: "d", fields: [("o", reference("x"))]),
        ]
        #expect(fixture.codes(cycle) == [nil, nil, nil, nil])
        let child = Save(name: "child", parent: "c")
        #expect(fixture.codes([child], deletes: [("_defaultZone", "a")]) == [nil, .referenceViolation])
        #expect(fixture.record("a") != nil)
        #expect(fixture.codes([], deletes: [("_defaultZone", "a"), ("_defaultZone", "child")]) == [nil, nil])
        #expect(fixture.record("b") == nil && fixture.record("c") == nil && fixture.record("d") != nil)
        #expect(fixture.codes([], deletes: [("_defaultZone", "a"), ("None", "a")]) == [nil, .zoneNotFound])
    }

    @Test mutating func `B61 a parent is touched once, B99 and B102 a parent must be there`() throws {
        #expect(fixture.codes([Save(name: "b", parent: "a"), Save(name: "a")]) == [nil, nil])
        let parent = try #require(fixture.record("a"))
        let children = [Save(name: "c", parent: "a"), Save(name: "d", parent: "a"), Save(name: "e", parent: "no")]
        fixture.device = "tablet"
        #expect(fixture.codes(children) == [nil, nil, .referenceViolation])
        var touched = try #require(fixture.record("a"))
        #expect(touched.version > parent.version)
        touched.version = parent.version
        #expect(touched == parent)
        let failing = [Save(name: "f", parent: "g"), Save(name: "g", parent: "no")]
        #expect(fixture.codes(failing) == [.referenceViolation, .referenceViolation])
    }

    @Test mutating func `B65 a repeated token answers as before`() throws {
        #expect(zoneCodes(save: ["Z", "Y"]) == [nil, nil])
        fixture.token = [1]
        let first = fixture.modify([Save(name: "a", zone: "Z")])
        let commits = fixture.store.commitCount
        #expect(fixture.modify([Save(name: "a", zone: "Z")]) == first && fixture.store.commitCount == commits)
        fixture.device = "tablet"
        #expect(fixture.codes([Save(name: "a", zone: "Z")]) == [.serverRecordChanged])
        fixture.device = "phone"
        let both = [Save(name: "a", zone: "Z"), Save(name: "a", zone: "Y")]
        #expect(fixture.codes(both) == [.serverRecordChanged, nil])
        fixture.token = Array(repeating: 0, count: 65_537)
        #expect(fixture.codes([]) == [.invalidArguments])
    }
}
