import StrataModel
import Testing

@Suite("Names of a request")
struct RequestNamesTests {
    @Test("Each name has one ordinal, few or many", arguments: [1, 7, 8, 9, 40])
    func ordinals(count: Int) throws {
        var names = RequestNames()
        for round in 0..<2 {
            for number in 1...count {
                #expect(names.ordinal(ofKey: "key\(number)") == UInt32(number), "round \(round)")
                #expect(names.ordinal(ofType: "Type\(number)") == UInt64(number))
                #expect(names.ordinal(of: ZoneID("Zone", owner: "user\(number)")) == UInt64(number))
            }
        }
        #expect(names.keys.count == count && names.recordTypes.count == count && names.zones.count == count)
        // What was decoded has lists alone, and goes on with them.
        var request = Request(
            database: DatabaseID(.private), names: names, .modifyZones(ModifyZonesRequest()))
        request = try Request(decoding: request.encoded()[...])
        #expect(request.names.ordinal(ofKey: "key\(count)") == UInt32(count))
        #expect(request.names.ordinal(ofKey: "another") == UInt32(count + 1))
        #expect(request.names.key(UInt32(count + 1)) == "another")
    }

    @Test("Names are the same only if their bytes are", arguments: [0, 20])
    func bytes(others: Int) {
        var names = RequestNames()
        for number in 0..<others { _ = names.ordinal(ofKey: "key\(number)") }
        let (composed, decomposed) = (names.ordinal(ofKey: "caf\u{E9}"), names.ordinal(ofKey: "cafe\u{301}"))
        #expect(composed != decomposed)
        #expect(names.ordinal(ofKey: "caf\u{E9}") == composed && names.ordinal(ofKey: "cafe\u{301}") == decomposed)
    }
}
