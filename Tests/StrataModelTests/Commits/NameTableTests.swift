import StrataModel
import Testing

@Suite("Names that ordinals stand for")
struct NameTableTests {
    @Test("Many names cost what few names cost, each")
    func manyNames() throws {
        func cost(_ count: UInt64) throws -> Duration {
            try ContinuousClock().measure {
                var table = NameTable()
                for ordinal in 1...count { try table.add(InternedName(ordinal: ordinal, name: .user("u\(ordinal)"))) }
            }
        }
        func least(_ count: UInt64) throws -> Duration { try (0..<3).map { _ in try cost(count) }.min() ?? .zero }
        // Sixteen times as many: copying the table for each would cost 256 times as much.
        #expect(try least(32_000) < least(2_000) * 80)
    }
}
