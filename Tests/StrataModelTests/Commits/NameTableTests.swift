import StrataModel
import TestSupport
import Testing

@Suite("Names that ordinals stand for")
struct NameTableTests {
    @Test("Many names cost what few names cost, each")
    func manyNames() throws {
        func cost(_ count: UInt64) throws -> Double {
            try ThreadTime.seconds {
                var table = NameTable()
                for ordinal in 1...count { try table.add(InternedName(ordinal: ordinal, name: .user("u\(ordinal)"))) }
            }
        }
        func least(_ count: UInt64) throws -> Double { try (0..<3).map { _ in try cost(count) }.min() ?? 0 }
        // Sixteen times as many: copying the table for each would cost 256 times as much.
        #expect(try least(32_000) < least(2_000) * 80)
    }
}
