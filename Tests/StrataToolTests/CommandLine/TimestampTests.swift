import Foundation
import Testing

@testable import StrataTool

@Suite struct TimestampTests {
    private static let now: Int64 = 1_795_240_000_000_000

    @Test(
        arguments: [
            ("1970-01-01", 0), ("1970-01-01T00:00", 0), ("1970-01-01T00:00:01Z", 1_000_000),
            ("1970-01-01 00:00:00.5", 500_000), ("1970-01-01T00:00:00.123456Z", 123_456),
            ("1970-01-01T01:00:00+01:00", 0), ("1969-12-31T23:00-01:00", 0), ("1969-12-31T23:59:59.999999Z", -1),
            ("2000-02-29", 951_782_400_000_000), ("0000-03-01", -62_162_035_200_000_000), ("@-5", -5), ("@17", 17),
            ("90s", now - 90_000_000), ("15m", now - 900_000_000), ("2h", now - 7_200_000_000),
            ("3d", now - 259_200_000_000), ("0s", now),
            ("now", now), ("today", 1_795_219_200_000_000), ("Yesterday", 1_795_132_800_000_000),
            ("2 hours ago", now - 7_200_000_000), ("1 day ago", now - 86_400_000_000), ("90 s ago", now - 90_000_000),
            ("1 week ago", now - 604_800_000_000), ("last week", now - 604_800_000_000),
            ("2w", now - 1_209_600_000_000),
            ("Last hour", now - 3_600_000_000),
        ] as [(String, Int64)])
    func parses(_ text: String, _ microseconds: Int64) {
        #expect(Timestamp(parsing: text, now: Self.now)?.microseconds == microseconds)
    }

    @Test(arguments: [
        "", "tomorrow", "last", "last s", "last fortnight", "last week ago", "2 hours", "hours ago", "-2 hours ago",
        "2 fortnights ago", "9223372036854775807 days ago",
        "2026", "2026-13-01", "2026-02-29", "2026-00-10", "2026-01-32", "2026-01-01T",
        "2026-01-01T24:00",
        "2026-01-01T10", "2026-01-01T10:60", "2026-01-01T10:00:61", "2026-01-01T10:00:00.",
        "2026-01-01T10:00:00.1234567",
        "2026-01-01T10:00:00+1", "2026-01-01Z10:00", "-5s", "s", "@", "@x", "9223372036854775807d",
    ])
    func refuses(_ text: String) {
        #expect(Timestamp(parsing: text, now: Self.now) == nil)
    }

    @Test func localTimesAreTheSameTimes() throws {
        let fixture = try StoreFixture.small()
        func run(_ zone: String, _ words: String...) throws -> String {
            let words = ["TZ=\(zone)", try ToolProcess.toolPath, words[0], fixture.name] + words.dropFirst()
            return try ToolProcess.run(words, in: fixture.directory.path, program: "/usr/bin/env").output
        }
        let usual = try run("CET-1", "log")
        #expect(try run("UTC", "log") == usual)
        #expect(usual.contains("2026-11-21T05:46:43"))
        #expect(try run("CET-1", "log", "--local").contains("commit 2  2026-11-21T06:46:43.000000+01:00"))
        #expect(try run("NST3:30", "log", "--local").contains("commit 2  2026-11-21T02:16:43.000000-03:30"))
        #expect(try run("CET-1", "stats", "--local").contains("2026-11-21T06:46:41.500000+01:00"))
        let json = try run("UTC", "log", "--json")
        #expect(try run("CET-1", "log", "--local", "--json") == json)
    }

    @Test func calendarAgreesWithFoundation() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        // Behind the reform of 1582, before which Foundation counts by another calendar.
        for day in stride(from: -100_000, to: 200_000, by: 37) {
            let parts = Timestamp(microseconds: Int64(day) * Timestamp.microsecondsPerDay + 86_399_999_999).parts
            let date = Date(timeIntervalSince1970: Double(day) * 86_400)
            let expected = calendar.dateComponents([.year, .month, .day], from: date)
            #expect(Int(parts.year) == expected.year && Int(parts.month) == expected.month)
            #expect(Int(parts.day) == expected.day)
            #expect(parts.microseconds == 86_399_999_999)
        }
    }
}
