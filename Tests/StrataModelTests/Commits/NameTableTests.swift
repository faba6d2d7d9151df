import StrataModel
import TestSupport
import Testing

@Suite("Names that ordinals stand for")
struct NameTableTests {
    @Test("Collected names may come in any order, with gaps, and again; the last one counts")
    func collecting() throws {
        var table = NameTable()
        let texts: [(UInt64, String)] = [(3, "c"), (1, "a"), (.max, "z"), (2, "B"), (2, "b"), (3, "C")]
        for (ordinal, text) in texts { table.collect(InternedName(ordinal: ordinal, name: .recordType(text))) }
        table.collect(InternedName(ordinal: 9, name: .field("title")))
        #expect(table.names(in: .recordType).map(\.ordinal) == [1, 2, 3, .max])
        #expect(try (1...4).map { try table.recordType($0) } == ["a", "b", "C", nil])
        #expect(try table.recordType(.max) == "z" && table.field(9) == "title" && table.field(8) == nil)
        #expect(table.names(in: .field).map(\.ordinal) == [9] && table.names(in: .user).isEmpty)
    }

    @Test("Names that are added must come in order, and agree")
    func adding() throws {
        var table = NameTable()
        try table.add(InternedName(ordinal: 1, name: .user("anna")))
        try table.add(InternedName(ordinal: 1, name: .user("anna")))
        #expect(throws: StrataError.self) { try table.add(InternedName(ordinal: 3, name: .user("cleo"))) }
        #expect(throws: StrataError.self) { try table.add(InternedName(ordinal: 1, name: .user("ben"))) }
        try table.add(InternedName(ordinal: 2, name: .user("ben")))
        #expect(try table.user(2) == "ben" && table.user(3) == nil && table.user(0) == nil)
    }

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
