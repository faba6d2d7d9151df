import Foundation
import StrataModel
import Testing

@Suite struct LogCommandTests {
    @Test func humanForm() throws {
        let result = try StoreFixture.small().run("log", "Notes.strata", "--to", "2")
        #expect(result.code == 0 && result.errors.isEmpty)
        #expect(
            result.output == """
                commit 1  2026-11-21T05:46:41.500000Z  chain CHAIN1  id 00000000000000a00000000000000001
                    system, modify zones, 7 events, 66 bytes
                    name interned    user 1 = anna  (7 bytes)

                """)
    }

    @Test func oneline() throws {
        let result = try StoreFixture.small().run("log", "--oneline", "Notes.strata")
        #expect(result.code == 0)
        #expect(
            result.output == """
                1

                """)
    }

    @Test func json() throws {
        let result = try StoreFixture.small().run("log", "Notes.strata", "--json", "-n", "1")
        #expect(result.output == "\n")
    }
}
