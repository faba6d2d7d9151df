import StrataLog
import StrataModel
import StrataStore
import StrataSystem
import TestSupport
import Testing

@testable import StrataTool

/// What all commands that print a state have in common: which state it is, and how they end.
@Suite struct StateAccessTests {
    private static let name = "Notes.strata"

    /// Each of them, with what it prints a line of once a note `late` was saved.
    static let commands: [[String]] = [
        ["get", name, "late", "--user", "anna", "--zone", "Notes"],
        ["records", name, "--user", "anna", "--zone", "Notes"],
        ["query", name, "Note", "--user", "anna", "--zone", "Notes"],
        ["zones", name, "--user", "anna"],
        ["users", name],
        ["subscriptions", name],
        ["schema", "export", name],
        ["feed", name, "Notes", "--user", "anna"],
        ["feed", name, "--user", "anna"],
    ]

    private static func late(to store: Store, _ fixture: StateFixture) throws {
        try fixture.save("late", ["late": .int64(1)], type: "Late", as: Actor(user: "anna", device: "watch"), to: store)
        try fixture.save("late2", type: "Note", as: StateFixture.phone, to: store)
        let all = NamedSubscription("all", .database, notification: NotificationInfo())
        try fixture.step { try store.modify(.subscriptions(saving: [all]), as: StateFixture.phone) }
    }

    private static func files(_ fixture: StateFixture) throws -> [String: [UInt8]] { try fixture.content() }

    @Test(arguments: commands) func `It reads beside a writer, and changes nothing`(_ words: [String]) throws {
        let fixture = try StateFixture()
        let before = try fixture.run(words)
        let store = try fixture.open()
        defer { try? store.close() }
        try Self.late(to: store, fixture)
        let beside = try fixture.run(words)
        #expect(beside.code == 0 && beside.errors.isEmpty, "\(beside)")
        #expect(beside.output != before.output)
        try store.close()
        let files = try Self.files(fixture)
        let closed = try fixture.run(words)
        #expect(closed.output == beside.output && closed.code == 0)
        #expect(try Self.files(fixture) == files)
        // The past is what it was.
        let past = try fixture.run(words + ["--at", "\(StateFixture.end)"])
        #expect(past.output == before.output && past.code == before.code, "\(past)")
    }

    @Test(arguments: commands) func `Of a damaged store it prints what is in front of the damage`(
        _ words: [String]
    ) throws {
        let fixture = try StateFixture()
        try fixture.change { try Self.late(to: $0, fixture) }
        let late = StateFixture.end + 1
        let whole = try fixture.run(words + ["--at", "\(late - 1)"])
        try fixture.damage(late)
        let damaged = try fixture.run(words)
        #expect(damaged.code == 3, "\(damaged)")
        #expect(damaged.output == whole.output)
        let note = "the store is damaged; this is its state at offset \(late - 1)\n"
        #expect(damaged.errors.contains(note) && damaged.errors.contains("(badChecksum)"), "\(damaged.errors)")
        // An offset in front of it is answered without doubt.
        let exact = try fixture.run(words + ["--at", "\(late - 1)"])
        #expect(exact.code == whole.code && exact.output == whole.output && exact.errors == whole.errors, "\(exact)")
        let behind = try fixture.run(words + ["--at", "\(late)"])
        #expect(behind.code == 3 && behind.output.isEmpty && behind.errors.contains("(badChecksum)"), "\(behind)")
        // So is a time with a commit between it and the damage.
        let early = try fixture.run(words + ["--at", "@\(StateFixture.startTime + 4_500_000)"])
        #expect(early.code != 3, "\(early)")
        let doubtful = try fixture.run(words + ["--at", "@\(fixture.time.nowMicroseconds())"])
        #expect(doubtful.code == 3 && doubtful.output == whole.output, "\(doubtful)")
    }

    @Test(arguments: [false, true]) func `Damage in the middle hides what comes behind it`(_ isSealed: Bool) throws {
        let fixture = try StoreFixture.segmented()
        if isSealed {
            try fixture.open()
            try fixture.sealAll()
            try fixture.close()
        }
        try fixture.flipByte(inSegment: 1)
        let result = try fixture.run("records", fixture.name, "--user", "anna")
        #expect(result.code == 3 && result.errors.contains("(badChecksum)"), "\(result.errors)")
        let shown = try #require(UInt64(result.errors.prefix { $0 != "\n" }.split(separator: " ").last ?? ""))
        let second = try #require(UInt64(try fixture.segments()[1].suffix(24).dropLast(4)))
        #expect(shown >= second - 1 && shown < 300, "\(shown) of the segment from \(second)")
        // The first commit has no note.
        #expect(result.lines.last == "\(shown - 1) records", "\(result.errors)")
        let exact = try fixture.run("records", fixture.name, "--user", "anna", "--at", "\(shown)")
        #expect(exact.code == 0 && exact.output == result.output, "\(exact.errors)")
        let behind = try fixture.run("records", fixture.name, "--user", "anna", "--at", "\(shown + 1)")
        #expect(behind.code == 3 && behind.output.isEmpty, "\(behind.errors)")
        let end = try fixture.run("records", fixture.name, "--user", "anna", "--at", "301")
        #expect(end.code == 3 && end.output.isEmpty, "\(end.errors)")
    }

    @Test func `A commit that cannot be understood counts as damage`() throws {
        let fixture = try StoreFixture.small()
        try fixture.open()
        try fixture.append([9])
        try fixture.saveNotes(1)
        try fixture.close()
        let result = try fixture.run("records", fixture.name, "--user", "anna")
        #expect(result.code == 3 && result.lines.last == "3 records", "\(result)")
        #expect(result.errors.contains("its state at offset 4\n"), "\(result.errors)")
        #expect(try fixture.run("records", fixture.name, "--user", "anna", "--at", "4").code == 0)
        #expect(try fixture.run("records", fixture.name, "--user", "anna", "--at", "5").code == 3)
    }

    @Test func `Not even the beginning can be read`() throws {
        let fixture = try StoreFixture.small()
        try fixture.change(fixture.path + "/STORE", at: 20) { ~$0 }
        let result = try fixture.run("records", fixture.name)
        #expect(result.code == 3 && result.output.isEmpty && result.errors.contains("(badChecksum)"), "\(result)")
        #expect(!result.errors.contains("its state at"))
    }

    @Test(arguments: commands) func `What was let go has no state, and the rest has its own`(_ words: [String]) throws {
        let fixture = try StateFixture()
        try fixture.change { try Self.late(to: $0, fixture) }
        let (whole, past) = (try fixture.run(words), try fixture.run(words + ["--at", "5"]))
        _ = try fixture.change { try $0.compact(before: 5) }
        let compacted = try fixture.run(words)
        #expect(compacted.code == whole.code, "\(compacted) \(whole)")
        #expect(Self.withoutTimes(compacted) == Self.withoutTimes(whole), "\(compacted) \(whole)")
        let again = try fixture.run(words + ["--at", "5"])
        #expect(again.code == past.code, "\(again) \(past)")
        #expect(Self.withoutTimes(again) == Self.withoutTimes(past), "\(again) \(past)")
        for moment in ["3", "2026-11-21T05:46:41Z"] {
            let gone = try fixture.run(words + ["--at", moment])
            #expect(gone.code == 1 && gone.output.isEmpty, "\(gone)")
            #expect(gone.errors.contains("The store has no state at that point.") && gone.errors.contains("4 to 8"))
        }
        let ahead = try fixture.run(words + ["--at", "9"])
        #expect(ahead.code == 1 && ahead.output.isEmpty && ahead.errors.contains("found 9"), "\(ahead)")
    }

    /// Times of commits that were let go are not known any more.
    private static func withoutTimes(_ result: ToolResult) -> [Substring] {
        result.lines.map { $0.contains("; changed by ") ? $0.prefix { $0 != ";" } : $0 }
    }

    @Test(arguments: commands) func `What is no store ends with 3`(_ words: [String]) throws {
        let fixture = try StateFixture()
        for path in ["Missing.strata", fixture.name + "/log"] {
            for moment in [[], ["--at", "3"]] {
                let result = try fixture.run(words.map { $0 == Self.name ? path : $0 } + moment)
                #expect(result.code == 3 && result.output.isEmpty && !result.errors.isEmpty, "\(result)")
            }
        }
    }
}
