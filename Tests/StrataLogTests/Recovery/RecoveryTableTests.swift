import StrataModel
import TestSupport
import Testing

@testable import StrataLog

@Suite("The recovery table")
struct RecoveryTableTests {
    private static let situations: [RecoveryTable.TailEvidence] = RecoveryTable.Place.allCases.flatMap { place in
        [true, false].flatMap { zero in
            [true, false].flatMap { witness in
                [true, false].map {
                    RecoveryTable.TailEvidence(place: place, restIsZero: zero, hasWitness: witness, isNewest: $0)
                }
            }
        }
    }

    @Test("Each situation has exactly one row")
    func complete() {
        #expect(Self.situations.count == 40)
        for situation in Self.situations {
            let rows = RecoveryTable.rows.filter { $0.matches(situation) }
            #expect(rows.count == 1, "\(situation)")
            #expect(rows.first?.verdict == RecoveryTable.verdict(for: situation))
        }
        for row in RecoveryTable.rows { #expect(Self.situations.contains { row.matches($0) }) }
    }

    @Test("What it says, not how: nothing that was durable is cut, nothing unfinished is damage")
    func meaning() {
        for situation in Self.situations {
            switch RecoveryTable.verdict(for: situation) {
            case .tornTail:
                #expect(situation.isNewest && !situation.hasWitness)
                #expect(situation.place == .invalid || situation.place == .nothing && !situation.restIsZero)
            case .end: #expect(situation.isNewest && situation.restIsZero && situation.place == .nothing)
            case .closed: #expect(situation.place == .seal && situation.restIsZero)
            case .noSeal: #expect(!situation.isNewest)
            case .damage: #expect(situation.place != .unsupported)
            case .unsupported: #expect(situation.place == .unsupported)
            }
        }
    }

    @Test("It is the table of docs/format.md §10, row by row")
    func page() throws {
        let places: [String: [RecoveryTable.Place]] = [
            "nothing, or zeros": [.nothing], "not a valid frame": [.invalid],
            "a valid header that cannot come next": [.cannotFollow],
            "a valid header of an unknown kind, codec or flag": [.unsupported], "a seal, and the rest is zero": [.seal],
            "a seal, and the rest is not zero": [.seal],
        ]
        let verdicts: [String: RecoveryTable.Verdict] = [
            "the end": .end, "damage: no seal": .noSeal, "torn tail": .tornTail, "damage": .damage,
            "unsupported": .unsupported, "closed": .closed,
        ]
        let table = try formatPage().table(0, ofSection: 10)
        #expect(table.count == RecoveryTable.rows.count)
        for (cells, row) in zip(table, RecoveryTable.rows) {
            try #require(cells.count == 5)
            #expect(try #require(places[cells[0]]) == [row.place], "\(cells)")
            for (cell, answer) in zip(cells[1...3], [row.restIsZero, row.hasWitness, row.isNewest]) {
                #expect(cell == (answer.map { $0 ? "yes" : "no" } ?? "-"), "\(cells)")
            }
            #expect(try #require(verdicts[cells[4]]) == row.verdict, "\(cells)")
        }
    }
}
