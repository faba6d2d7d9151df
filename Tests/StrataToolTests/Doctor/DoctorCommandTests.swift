import Foundation
import StrataLog
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataTool

/// The command of the doctor: its options, its exit codes, and stores that are damaged or compacted.
@Suite struct DoctorCommandTests {
    /// A closed store in which a laptop overwrites records of a phone that it has not seen.
    private func world(overwriting count: Int) throws -> VersionedStore {
        let world = try VersionedStore()
        try world.makeZones()
        for number in 0..<count { try world.save("note-\(number)", ["rank": .int64(1)]) }
        for number in 0..<count { try world.save("note-\(number)", ["rank": .int64(2)], as: VersionedStore.laptop) }
        try world.store.close()
        return world
    }

    @Test func aQuietStoreHasNothing() throws {
        let world = try world(overwriting: 0)
        let result = try world.run("doctor", "Notes.strata")
        #expect(result.code == 0 && result.output == "nothing found in 1 commit\n", "\(result)")
    }

    @Test("-n, --kind and --since choose findings, and the exit code follows")
    func choices() throws {
        let world = try world(overwriting: 3)
        let all = try world.run("doctor", "Notes.strata")
        #expect(all.code == 1 && all.lines.count { $0.hasPrefix("overwrite ") } == 3, "\(all)")
        #expect(all.lines.last == "3 overwrites in 7 commits")
        let one = try world.run("doctor", "Notes.strata", "-n", "1")
        #expect(one.code == 1 && one.output.contains("and 2 more: --kind overwrite -n 3"), "\(one)")
        #expect(try world.run("doctor", "Notes.strata", "--kind", "cascade").code == 0)
        #expect(try world.run("doctor", "Notes.strata", "--kind", "cascade", "--kind", "overwrite").code == 1)
        let last = try #require(try LogReader.open(at: world.path).commit(at: 7)).time
        let since = try world.run("doctor", "Notes.strata", "--since", "@\(last)")
        #expect(since.lines.last == "1 overwrite in 7 commits", "\(since)")
        #expect(try world.run("doctor", "Notes.strata", "--since", "@\(last + 1)").code == 0)
    }

    @Test("A finding names a command that works")
    func next() throws {
        let world = try world(overwriting: 1)
        let result = try world.run("doctor", "Notes.strata")
        let line = try #require(result.lines.first { $0.hasPrefix("    strata ") })
        let shown = try world.run(line.split(separator: " ").dropFirst().map(String.init))
        #expect(shown.code == 0 && shown.output.contains("~ rank: 1 -> 2"), "\(shown)")
    }

    @Test(arguments: [
        (["--kind", "overwite"], "did you mean overwrite?"), (["-n", "0"], "-n 0 is out of range"),
        (["--since", "soon"], "--since takes a time"), (["--apply"], "unknown option --apply"),
    ])
    func mistakes(_ words: [String], _ problem: String) throws {
        let result = try ToolProcess.run(["doctor", "Nowhere.strata"] + words, in: "/tmp")
        #expect(result.code == 2 && result.errors.contains(problem), "\(result)")
    }

    @Test("Damage is the first finding, and what is before it is examined")
    func damage() throws {
        let fixture = try StateFixture()
        try fixture.damage(5)
        let result = try fixture.run("doctor", "Notes.strata")
        #expect(result.code == 3 && result.lines.first?.hasPrefix("damage ") == true, "\(result)")
        #expect(result.output.contains("overwrite       commit 4"), "\(result)")
        #expect(try fixture.run("doctor", "Nowhere.strata").code == 3)
    }

    @Test("A compacted store still has its shares, whose records are no ordinary ones")
    func compacted() throws {
        let history = try TroubleHistory(seed: 5, scenarioCount: 160, segmentBytes: 64 << 10)
        func invitations() throws -> [String?] {
            let findings = try DoctorFindings(try DoctorScan(try StoreAccess(history.path))).all
            return findings.filter { $0.kind == .invitation }.map(\.record)
        }
        let before = try invitations()
        try #require(!before.isEmpty)
        let end = try LogReader.open(at: history.path).end.offset
        let compaction = try ToolProcess.run(
            ["compact", history.path, "--before", "\(end)", "--apply"], in: history.directory.path)
        #expect(compaction.code == 0, "\(compaction)")
        #expect(try LogReader.open(at: history.path).floor.offset > 0)
        #expect(try invitations() == before)
    }

    // MARK: Limits

    private static func commit(_ offset: UInt64, at time: Int64 = 0) -> ScannedCommit {
        ScannedCommit(offset: offset, time: time, author: .init(user: 1, device: 1), operation: .modifyRecords)
    }

    @Test("20 deletions that are a fifth of a zone are a mass deletion; a zone that is filled and emptied is not")
    func massDeletions() {
        func findings(_ total: Int, deleting count: Int, apart microseconds: Int64) -> Int {
            var scan = DeletionScan()
            for _ in 0..<total { scan.addRecord(in: 7) }
            for number in 0..<count {
                scan.addDeletion(of: RecordKey(zone: 7, name: "\(number)"), isCascade: false)
                scan.end(Self.commit(UInt64(number) + 1, at: Int64(number) * microseconds), KnownNames())
            }
            scan.finish(KnownNames())
            return scan.findings.last.count
        }
        #expect(findings(100, deleting: 20, apart: 60_000_000) == 1 && findings(101, deleting: 20, apart: 0) == 0)
        #expect(findings(100, deleting: 19, apart: 0) == 0 && findings(100, deleting: 20, apart: 60_000_001) == 0)
        var churn = DeletionScan()
        for number in 0..<200 {
            churn.addRecord(in: 7)
            // Eight of nine are left.
            guard number % 9 == 0 else { continue }
            churn.addDeletion(of: RecordKey(zone: 7, name: "\(number)"), isCascade: false)
            churn.end(Self.commit(UInt64(number) + 1), KnownNames())
        }
        churn.finish(KnownNames())
        #expect(churn.findings.last.isEmpty)
    }

    @Test("The last items are kept, and the others counted")
    func lastItems() {
        for count in [0, 2, 3, 5, 6, 7, 100] {
            var items = LastItems<Int>(3)
            for number in 0..<count { items.append(number) }
            #expect(Array(items.last) == Array(max(0, count - 3)..<count) && items.olderCount == max(0, count - 3))
        }
    }

    @Test("20 commits of one time are told, with a leap before them, and so are commits from the future")
    func clocks() {
        let day = Timestamp.microsecondsPerDay
        func texts(_ times: [Int64], now: Int64) -> [String] {
            var scan = ClockScan(now: now)
            for (index, time) in times.enumerated() { scan.add(Self.commit(UInt64(index) + 1, at: time), KnownNames()) }
            scan.finish(KnownNames())
            return scan.findings.last.map(\.text)
        }
        let run = Array(repeating: 40 * day, count: 20)
        #expect(texts([5] + run.dropLast(), now: 50 * day).isEmpty)
        #expect(texts([39 * day] + run, now: 50 * day).map { $0.contains("leapt") } == [false])
        #expect(texts([5] + run, now: 50 * day).map { $0.contains("39 days after") && $0.contains("leapt") } == [true])
        let minute: Int64 = 60_000_000
        #expect(texts([5 * minute], now: 0).isEmpty)
        let future = texts([5 * minute + 1, 7 * minute], now: 0)
        #expect(future.count == 1 && future[0].hasPrefix("2 commits have a time in the future, up to 7 min"))
    }

    @Test(
        "Letters of other alphabets are found where they stand for Latin ones",
        arguments: [
            ("m\u{0435}nu", "menu", "m\u{0435}nu"), ("\u{0441}\u{043E}\u{043A}", nil, nil), ("menu", nil, nil),
            ("\u{03BC}m", nil, nil), ("two w\u{043E}rds", "two words", "w\u{043E}rds"),
        ] as [(String, String?, String?)])
    func alphabets(_ text: String, _ twin: String?, _ word: String?) {
        if let twin { #expect(Alphabets.latinTwin(of: text) == twin) }
        #expect(Alphabets.mixedWord(in: text) == word)
    }
}
