import StrataLog
import StrataModel
import StrataSystem
import TestSupport
import Testing

@Suite("Contract of every log: what touched a zone")
struct TouchContractTests {
    /// By brute force, from the payloads.
    private static func touches(of commits: [Commit], zone: UInt64) throws -> [ZoneTouch] {
        try commits.flatMap { commit in
            try commit.payload.withUnsafeBytes { bytes in
                try Envelope.touches(of: bytes).filter { $0.zone == zone }.map {
                    ZoneTouch(
                        offset: commit.offset, eventIndex: $0.eventIndex, kind: $0.kind, type: $0.type,
                        key: [UInt8](bytes[$0.key]))
                }
            }
        }
    }

    private static func fill(_ fixture: LogFixture) throws {
        for index in 0..<24 {
            var commits = fixture.make(2, events: 1 + index % 5, bytesPerEvent: 1_500)
            let events = [
                Event(.zoneSaved, body: [5]), Event(.fetched, body: [1, 2, 3]), Event(.zoneDeleted, body: [5]),
                Event(.recordDeleted, body: [5, 9, 1, 65]), Event(.recordErased, body: [0xD0, 0x0F, 9, 2, 66, 67]),
                Event(.zoneSaved, body: [0x88, 0x27]),
            ]
            if index % 3 == 0 { commits[1].payload = Envelope(events: events).encoded()[...] }
            try fixture.append(commits)
        }
    }

    @Test("Reading page by page gives all, whatever the limit", arguments: LogKind.allCases)
    func pages(kind: LogKind) throws {
        try Self.checkPages(try LogFixture(kind))
    }

    @Test("The touches of one record are those of its zone that name it", arguments: LogKind.allCases)
    func records(kind: LogKind) throws {
        let fixture = try LogFixture(kind)
        try Self.fill(fixture)
        let commits = try fixture.log.allCommits()
        for zone: UInt64 in [1, 3, 5] {
            let all = try Self.touches(of: commits, zone: zone)
            // Zones are touched without a name, and nobody is named like that.
            let names = Array(Set(all.map(\.key))).sorted { $0.count < $1.count }.prefix(4) + [[], [65], [1, 2, 3]]
            for name in names {
                let kinds: [Touch.Kind] = [.recordSaved, .recordDeleted]
                let expected = all.filter { $0.key == name && kinds.contains($0.kind) }
                for (start, limit) in [(0, 1), (0, 3), (0, 10_000), (commits.count / 2, 2)] {
                    var (read, after, isDone): ([ZoneTouch], UInt64, Bool) = ([], UInt64(start), false)
                    while !isDone {
                        let page = try fixture.log.touches(record: name, in: zone, after: after, limit: limit)
                        read += page.touches
                        (after, isDone) = (page.readThrough, !page.moreComing)
                    }
                    try check(read == expected.filter { $0.offset > UInt64(start) }, "zone \(zone), \(name)")
                    try check(after >= commits.last?.offset ?? 0, "all was read, but only through \(after)")
                }
            }
        }
    }

    static func checkPages(_ fixture: LogFixture) throws {
        try fill(fixture)
        let commits = try fixture.log.allCommits()
        // 2000 and 5000 are on both sides of where change lists are kept by number and by hash.
        for zone: UInt64 in [0, 1, 2, 3, 5, 2_000, 5_000, 77] {
            let expected = try touches(of: commits, zone: zone)
            if [1, 2, 3, 5, 2_000, 5_000].contains(zone) { #expect(expected.count > 5) }
            for limit in Array(1...12) + [expected.count, expected.count + 1, 10_000] where limit > 0 {
                var read: [ZoneTouch] = []
                var after: UInt64 = 0
                while true {
                    let page = try fixture.log.touches(zone: zone, after: after, limit: limit)
                    try checkPage(page, after: after, limit: limit, all: expected)
                    read += page.touches
                    after = page.readThrough
                    if !page.moreComing { break }
                    try check(!page.touches.isEmpty, "an empty page with more to come")
                }
                try check(read == expected, "zone \(zone), limit \(limit)")
                try check(after == fixture.log.end.offset, "all was read, but only through \(after)")
            }
        }
    }

    /// A page may be longer than its limit only to keep a commit in one piece.
    private static func checkPage(_ page: TouchPage, after: UInt64, limit: Int, all: [ZoneTouch]) throws {
        if let last = page.touches.last {
            let ofLast = page.touches.filter { $0.offset == last.offset }.count
            try check(page.touches.count - ofLast < limit, "a page goes on behind its limit \(limit)")
            try check(ofLast == all.filter { $0.offset == last.offset }.count, "a page splits commit \(last.offset)")
        }
        let through = all.filter { $0.offset > after && $0.offset <= page.readThrough }
        try check(page.touches == through, "a page leaves out what is before \(page.readThrough)")
    }

    @Test("A page begins behind any offset", arguments: LogKind.allCases)
    func everyOffset(kind: LogKind) throws {
        let fixture = try LogFixture(kind)
        try Self.fill(fixture)
        let expected = try Self.touches(of: try fixture.log.allCommits(), zone: 1)
        for offset in 0...fixture.log.end.offset + 1 {
            let page = try fixture.log.touches(zone: 1, after: offset, limit: 10_000)
            try check(page.touches == expected.filter { $0.offset > offset }, "behind \(offset)")
            try check(!page.moreComing && page.readThrough >= offset, "the end of what is behind \(offset)")
        }
    }

    @Test("A page of nothing cannot be asked for", arguments: LogKind.allCases)
    func noLimit(kind: LogKind) throws {
        let fixture = try LogFixture(kind)
        for limit in [0, -1, Int.min] {
            #expect(thrownCode { _ = try fixture.log.touches(zone: 1, after: 0, limit: limit) } == .invalidArgument)
        }
    }

    @Test("A touch behind the largest offset is no reason to stop", arguments: [LogKind.simulatedDisk, .memory])
    func largestOffset(kind: LogKind) async throws {
        guard case .memory = kind else {
            let fixture = try LogFixture(kind)
            #expect(try fixture.log.touches(zone: 1, after: .max, limit: 1).touches.isEmpty)
            return
        }
        await #expect(processExitsWith: .success) {
            _ = try MemoryLog().touches(zone: 1, after: .max, limit: 1)
        }
    }
}
