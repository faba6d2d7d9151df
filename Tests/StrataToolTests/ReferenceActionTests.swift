import StrataModel
import Testing

@testable import StrataTool

/// Tests that a change of nothing but a reference's action is shown.
@Suite struct ReferenceActionTests {
    @Test func changeOfTheAction() throws {
        let fixture = try StateFixture()
        let changed = try fixture.change { store in
            func save(_ action: FieldValue.Reference.Action) throws -> UInt64 {
                var builder = RequestBuilder(DatabaseID(.public), policy: .changedKeys)
                let zone = ZoneID("_defaultZone")
                builder.save(RecordID("list", zone: zone), type: "Item")
                let list = builder.reference(to: RecordID("list", zone: zone), action: action)
                builder.save(RecordID("entry", zone: zone), type: "Item", fields: ["owner": list])
                try fixture.step {
                    let answer = try store.modify(builder.request, as: StateFixture.phone)
                    for result in answer.result.saves { _ = try result.get() }
                }
                return store.offset
            }
            _ = try save(.none)
            return try save(.deleteSelf)
        }
        let line: Substring = "    ~ owner: @list -> @list, deleted with it"
        #expect(try fixture.run(["history", fixture.name, "entry"]).lines.contains(line))
        #expect(try fixture.run(["log", fixture.name, "--patch"]).lines.contains { $0.hasSuffix(line.dropFirst(4)) })
        let difference = try fixture.run(["diff", fixture.name, "\(changed - 1)", "\(changed)"])
        #expect(difference.lines.contains(line), "\(difference)")
    }
}
