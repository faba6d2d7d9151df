import StrataModel
import TestSupport
import Testing

@testable import StrataLog

@Suite("The commits that touched zones or records", .timeLimit(.minutes(3)))
struct TouchedCommitsTests {
    private func forward(
        _ subject: TouchedCommits.Subject, _ kind: Touch.Kind?, _ log: LogReader, _ after: UInt64, _ last: UInt64
    ) throws -> [TouchedCommits.Touched] {
        var commits = TouchedCommits(subject, kind: kind, of: log, after: after, through: last)
        var found: [TouchedCommits.Touched] = []
        while let commit = try commits.next() { found.append(commit) }
        return found
    }

    private func backward(
        _ subject: TouchedCommits.Subject, _ kind: Touch.Kind?, _ log: LogReader, _ after: UInt64, _ last: UInt64
    ) throws -> [UInt64] {
        var commits = ReversedTouches(subject, kind: kind, of: log, after: after, through: last)
        var found: [UInt64] = []
        while let offset = try commits.next() { found.append(offset) }
        return found
    }

    @Test("Against all touches, in both directions, for any range, kind, zones and name")
    func againstAll() throws {
        try withSeeds(4) { seed in
            let sealed = try SealedStore(seed: seed, count: 240, bytesPerEvent: [40, 900])
            let reader = try sealed.store.reader()
            let end = UInt64(sealed.commits.count)
            let zones: [UInt64] = [1, 2]
            let all = try zones.flatMap { try sealed.touches(of: $0, after: 0) }
            let names = Set(all.filter(\.kind.isOfRecord).map(\.key)).sorted { $0.lexicographicallyPrecedes($1) }
            for name in [nil, Array("nobody".utf8)] + names.prefix(4).map(Optional.some) {
                let subject = name.map {
                    TouchedCommits.Subject.record(String(decoding: $0, as: UTF8.self), zones: zones)
                }
                for kind in [nil, Touch.Kind.recordDeleted] {
                    for (after, last) in [(0, end), (0, end / 2), (end / 3, end - 1), (end, end)] as [(UInt64, UInt64)]
                    {
                        let wanted = all.filter { touch in
                            touch.offset > after && touch.offset <= last && (kind.map { touch.kind == $0 } ?? true)
                                && (name.map { touch.isOf(record: $0) } ?? true)
                        }
                        let counts = Dictionary(grouping: wanted, by: \.offset).mapValues(\.count)
                        let found = try forward(subject ?? .zones(zones), kind, reader, after, last)
                        #expect(found.map(\.offset) == counts.keys.sorted())
                        #expect(found.allSatisfy { counts[$0.offset] == $0.count })
                        let reversed = try backward(subject ?? .zones(zones), kind, reader, after, last)
                        #expect(reversed == counts.keys.sorted(by: >))
                    }
                }
            }
        }
    }
}
