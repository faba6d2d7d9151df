import StrataModel
import StrataStore
import Testing

@testable import StrataTool

/// Which commits `strata log` prints.
@Suite struct LogFilterTests {
    private let world: VersionedStore
    private let at: VersionedStore.Offsets
    /// Every offset, in order.
    private let all: [UInt64]

    init() throws {
        (world, at) = try VersionedStore.varied()
        all = try world.offsets([])
    }

    @Test func theWorldIsWhatTheTestsTakeItFor() {
        #expect(all == Array(1...at.refused) && at.again == at.refused - 1)
    }

    @Test("A filter that nothing fits, and a range without commits, say so")
    func nothing() throws {
        let unmatched = try world.run("log", "Notes.strata", "--device", "laptop", "--user", "bert")
        #expect(unmatched.code == 0 && unmatched.errors == "strata log: note: no commit matches\n", "\(unmatched)")
        let refused = try StateFixture().run("log", "Notes.strata", "--outcome", "refused")
        #expect(refused.code == 0 && refused.errors.contains("recordRefusals was on"), "\(refused)")
        let late = try world.run("log", "Notes.strata", "--from", "400")
        #expect(late.code == 1 && late.errors.contains("this store has commits 1 to \(at.refused)"), "\(late)")
        let some = try world.run("log", "Notes.strata", "--user", "bert")
        #expect(some.code == 0 && some.errors.isEmpty, "\(some)")
    }

    // MARK: Headers

    @Test func byUser() throws {
        #expect(try world.offsets(["--user", "bert"]) == [at.berts - 1, at.berts])
        #expect(try world.offsets(["--user", "anna"]) == all.filter { ![at.berts - 1, at.berts].contains($0) })
        #expect(try world.offsets(["--user", "system"]).isEmpty)
    }

    @Test("An actor who is not signed in is not the system, and a commit without a kind is")
    func withoutUser() throws {
        let fixture = try StoreFixture()
        for kind in [nil, .service, .signedOut, .user] as [EnvelopeHeader.ActorKind?] {
            let note = try ConsoleActedEvent(ConsoleNote("note")).event()
            try fixture.append(Envelope(header: .init(isLazy: true, actorKind: kind), events: [note]).encoded())
        }
        try fixture.close()
        let ofSystem = try fixture.run("log", fixture.name, "--user", "system", "--json")
        #expect(ofSystem.code == 0 && ofSystem.lines.count == 2, "\(ofSystem)")
        let all = try fixture.run("log", fixture.name)
        for words in ["not signed in", "user not recorded", "system"] { #expect(all.output.contains(words), "\(all)") }
    }

    @Test func byDevice() throws {
        #expect(try world.offsets(["--device", "laptop"]) == [at.updated, at.deleted, at.refused])
        #expect(try world.offsets(["--device", "laptop", "--user", "bert"]).isEmpty)
    }

    @Test func byGroupIDAndName() throws {
        #expect(try world.offsets(["--group", "g-1"]) == [at.created])
        #expect(try world.offsets(["--group", "import"]) == [at.created])
        #expect(try world.offsets(["--group", "g-2"]).isEmpty)
    }

    @Test func byTime() throws {
        func time(_ seconds: Int64) -> String { "@\(VersionedStore.startTime + seconds * 1_000_000)" }
        #expect(try world.offsets(["--until", time(2)]) == [1, 2])
        #expect(try world.offsets(["--until", "@\(VersionedStore.startTime + 1_999_999)"]) == [1])
        #expect(try world.offsets(["--until", "1970-01-01"]).isEmpty)
        #expect(try world.offsets(["--until", "2100-01-01"]) == all)
        #expect(try world.offsets(["--since", time(2), "--until", time(4)]) == [2, 3, 4])
        #expect(try world.offsets(["--until", time(4), "-n", "2"]) == [3, 4])
        #expect(try world.offsets(["--until", time(4), "--to", "3"]) == [1, 2, 3])
    }

    // MARK: Events

    @Test func byKind() throws {
        #expect(try world.offsets(["--kind", "record deleted"]) == [at.deleted])
        #expect(try world.offsets(["--kind", "zone saved", "--kind", "request refused"]).contains(at.refused))
        #expect(try world.offsets(["--kind", "zone saved"]).contains(at.zones))
        #expect(try world.offsets(["--kind", "zone saved", "--user", "bert"]) == [at.berts - 1])
        #expect(try world.offsets(["--kind", "unknown event 4000"]).isEmpty)
    }

    @Test func byZoneFromTheChangeLists() throws {
        #expect(try world.offsets(["--zone", "Photos"]) == [at.zones, at.photo, at.deleted, at.again])
        let notes = [at.zones, at.created, at.updated, at.linked, at.berts - 1, at.berts]
        #expect(try world.offsets(["--zone", "Notes"]) == notes)
        #expect(try world.offsets(["--zone", "Notes", "--owner", "anna"]) == Array(notes.dropLast(2)))
        #expect(try world.offsets(["--zone", "Notes", "--owner", "bert"]) == Array(notes.suffix(2)))
        let some = try world.offsets(["--zone", "Notes", "--from", "3", "--to", "\(at.linked)"])
        #expect(some == [at.updated, at.linked])
    }

    @Test func byRecordFromTheChangeLists() throws {
        #expect(
            try world.offsets(["--record", "note-1"]) == [at.created, at.updated, at.linked, at.berts])
        // The parent is touched when a child is saved.
        #expect(try world.offsets(["--record", "note-2"]) == [at.created, at.linked])
        #expect(try world.offsets(["--record", "note-1", "--zone", "Notes", "--owner", "bert"]) == [at.berts])
        #expect(try world.offsets(["--record", "photo-1", "--kind", "record saved"]) == [at.photo, at.again])
        #expect(try world.offsets(["--record", "nothing"]).isEmpty)
    }

    @Test func byDatabase() throws {
        // Each user has a record there, which comes with the first commit.
        #expect(try world.offsets(["--database", "public"]) == [at.zones, at.berts - 1, at.news])
        #expect(try world.offsets(["--database", "public", "--type", "Note"]) == [at.news])
        #expect(try world.offsets(["--database", "shared"]).isEmpty)
        let berts = try world.offsets(["--database", "private", "--owner", "bert"])
        #expect(berts == [at.berts - 1, at.berts])
        #expect(try world.offsets(["--database", "private", "--kind", "record saved"]).contains(at.news) == false)
    }

    @Test func byType() throws {
        #expect(try world.offsets(["--type", "Photo", "--kind", "record saved"]) == [at.photo, at.again])
        #expect(try world.offsets(["--type", "Photo", "--kind", "record deleted"]) == [at.deleted])
        #expect(try world.offsets(["--type", "Note", "--outcome", "refused"]) == [at.refused])
        #expect(try world.offsets(["--type", "Photo", "--outcome", "refused"]).isEmpty)
    }

    @Test func byOutcome() throws {
        #expect(try world.offsets(["--outcome", "refused"]) == [at.refused])
        #expect(try world.offsets(["--outcome", "committed"]) == Array(all.dropLast()))
        #expect(try world.offsets(["--outcome", "all"]) == all)
        // What is refused changed nothing, and is found only where it is asked for.
        #expect(try world.offsets(["--record", "note-2"]).contains(at.refused) == false)
        #expect(try world.offsets(["--record", "note-2", "--outcome", "refused"]) == [at.refused])
        #expect(try world.offsets(["--record", "note-2", "--outcome", "all"]) == [at.created, at.linked, at.refused])
        #expect(try world.offsets(["--zone", "Photos", "--outcome", "refused"]).isEmpty)
        #expect(try world.offsets(["--zone", "Notes", "--owner", "anna", "--outcome", "refused"]) == [at.refused])
        #expect(try world.offsets(["--database", "public", "--outcome", "refused"]).isEmpty)
    }

    @Test(arguments: [
        ("rank > 3", ["created", "linked"]), ("rank = 1 AND title BEGINSWITH 'Gro'", ["created"]),
        ("title = 'Shopping'", ["updated"]), ("done = nil AND rank = 7", ["linked"]), ("ANY tags = 'a'", ["created"]),
        ("tags.@count = 1", ["created"]), ("self CONTAINS 'trip'", ["created"]), ("#size BETWEEN {15, 25}", ["again"]),
        ("title MATCHES '.*pp.*' OR #size = 10", ["updated", "photo"]), ("rank > 100", []),
        ("modificationDate < CAST(0, 'NSDate')", []),
    ])
    func byWhatASaveSets(_ predicate: String, _ expected: [String]) throws {
        let known = [
            "created": at.created, "updated": at.updated, "photo": at.photo, "linked": at.linked, "again": at.again,
        ]
        #expect(try world.offsets(["--where", predicate]) == expected.compactMap { known[$0] })
    }

    /// All that is asked of events must be true of one and the same.
    @Test func oneEventFitsInEveryRespect() throws {
        // Its commit has a note with rank 5, and another one whose name it is.
        #expect(try world.offsets(["--record", "note-1", "--where", "rank = 5"]).isEmpty)
        #expect(try world.offsets(["--record", "note-2", "--where", "rank = 5"]) == [at.created])
        #expect(try world.offsets(["--type", "Note", "--kind", "record deleted"]).isEmpty)
    }

    // MARK: Which way

    private static let filters: [[String]] = [
        [], ["--user", "anna"], ["--zone", "Notes"], ["--record", "note-1"], ["--where", "rank > 0"],
        ["--kind", "record saved", "--device", "phone"],
    ]

    @Test(arguments: filters) func theLastOnesAndTheOtherWayRound(_ filter: [String]) throws {
        let found = try world.offsets(filter)
        #expect(found.count > 1)
        #expect(try world.offsets(filter + ["--reverse"]) == found.reversed())
        for count in [0, 1, 2, found.count, found.count + 1] {
            #expect(try world.offsets(filter + ["-n", "\(count)"]) == found.suffix(count))
            #expect(try world.offsets(filter + ["-n", "\(count)", "--reverse"]) == found.suffix(count).reversed())
        }
        let middle = found[found.count / 2]
        let older = found.filter { $0 <= middle }
        #expect(try world.offsets(filter + ["--to", "\(middle)", "--reverse"]) == older.reversed())
        #expect(try world.offsets(filter + ["--from", "\(middle)", "-n", "1"]) == [found[found.count - 1]])
    }

    /// Several pages backwards, and segments of both forms.
    @Test(arguments: [false, true]) func manyCommitsBackwards(_ isSealed: Bool) throws {
        let fixture = try StoreFixture(segmentBytes: 64 << 10)
        try fixture.internNames()
        try fixture.saveNotes(2_600, noise: 60)
        if isSealed { try fixture.sealAll() }
        try fixture.close()
        func offsets(_ words: String...) throws -> [Int] {
            let result = try ToolProcess.run(
                ["log", fixture.name, "--oneline"] + words, in: fixture.directory.path)
            #expect(result.code == 0 && result.errors.isEmpty, "\(result.errors)")
            return result.lines.compactMap { Int($0.prefix { $0 != " " }) }
        }
        #expect(try offsets("--reverse") == (1...2_601).reversed())
        #expect(try offsets("--reverse", "--user", "anna", "--zone", "Notes") == (2...2_601).reversed())
        #expect(try offsets("--kind", "record saved", "-n", "1100") == Array(1_502...2_601))
        #expect(try offsets("--record", "note-7") == [8])
        #expect(try offsets("--record", "note-7", "--reverse", "-n", "1") == [8])
        #expect(try offsets("--zone", "Notes", "--to", "5") == [1, 2, 3, 4, 5])
        // Names are known whichever way they are come by.
        let last = try fixture.run("log", fixture.name, "--oneline", "--reverse", "-n", "1")
        #expect(last.output.contains(" anna on phone "), "\(last)")
    }

    // MARK: Names that are not there

    @Test(arguments: [
        (["--user", "ana"], "no user is named 'ana'; did you mean anna?"),
        (["--device", "fax"], "no device is named 'fax'"),
        (["--zone", "notes"], "no zone is named 'notes'; did you mean Notes?"),
        (["--type", "Nte", "-n", "1"], "no record type is named 'Nte'; did you mean Note?"),
        (["--database", "private", "--owner", "carl", "--reverse"], "no user is named 'carl'"),
    ])
    func aNameThatNothingHasEndsWith1(_ words: [String], _ problem: String) throws {
        let result = try world.run(["log", "Notes.strata"] + words)
        #expect(result.code == 1 && result.output.isEmpty)
        #expect(result.errors == "strata log: \(problem) up to offset \(at.refused)\n")
    }

    @Test func aNameThatComesLaterIsFollowed() throws {
        let world = try VersionedStore()
        try world.makeZones()
        let tool = try ToolProcess(
            ["log", "Notes.strata", "--oneline", "--follow", "--record", "late", "--zone", "Late"],
            in: world.directory.path)
        try world.makeZones([ZoneID("Late")])
        try world.save("note-1", ["rank": .int64(1)])
        let offset = try world.save("late", ["rank": .int64(1)], in: ZoneID("Late"))
        #expect(try tool.readLine()?.hasPrefix("\(offset) ") == true)
        tool.closePipe()
        #expect(try tool.wait() == 0)
        try world.store.close()
    }

    // MARK: What cannot be decoded

    @Test func whatCannotBeDecodedIsNotPassedOverInSilence() throws {
        let fixture = try StoreFixture.small()
        try fixture.open()
        try fixture.append([9, 9, 9])
        try fixture.append(
            Envelope(header: StoreFixture.header, events: [Event(.recordSaved, body: [0xFF])]).encoded())
        try fixture.saveNotes(1)
        try fixture.close()
        let result = try fixture.run("log", fixture.name, "--oneline", "--type", "Note")
        #expect(result.code == 0 && result.lines.count == 4, "\(result)")
        #expect(
            result.errors == "strata log: 2 commits have content that cannot be decoded and may match; without a "
                + "filter it is printed\n")
        // What does not depend on it is known.
        let byKind = try fixture.run("log", fixture.name, "--oneline", "--kind", "record saved")
        #expect(byKind.lines.count == 5 && byKind.errors.hasPrefix("strata log: 1 commit has "), "\(byKind)")
        let byUser = try fixture.run("log", fixture.name, "--oneline", "--user", "anna", "--reverse")
        #expect(byUser.lines.count == 5 && byUser.errors.hasPrefix("strata log: 1 commit has "), "\(byUser)")
    }

    // MARK: Damage

    /// Offsets that are printed, and the exit code.
    private func printed(_ fixture: StoreFixture, _ words: String...) throws -> (offsets: [Int], code: Int32) {
        let result = try ToolProcess.run(["log", fixture.name, "--oneline"] + words, in: fixture.directory.path)
        return (result.lines.compactMap { Int($0.prefix { $0 != " " }) }, result.code)
    }

    @Test func inFrontOfDamageFiltersPrintWhatIsWhole() throws {
        let fixture = try StoreFixture.segmented()
        try fixture.flipByte(inSegment: 1)
        let whole = try printed(fixture)
        #expect(whole.code == 3 && whole.offsets.count > 10)
        for filter in [["--zone", "Notes"], ["--user", "anna"], ["--kind", "record saved"]] {
            let result = try ToolProcess.run(
                ["log", fixture.name, "--oneline"] + filter, in: fixture.directory.path)
            #expect(result.code == 3 && result.errors.contains("badChecksum"), "\(filter): \(result.errors)")
            let expected = whole.offsets.filter { filter[0] == "--zone" || $0 > 1 }
            #expect(result.lines.compactMap { Int($0.prefix { $0 != " " }) } == expected, "\(filter)")
        }
        let record = try printed(fixture, "--record", "note-3")
        #expect(record.offsets == [4] && record.code == 3)
    }

    /// Backwards what stands on both sides of the damage is printed.
    @Test func damageIsWalkedAroundBackwards() throws {
        let fixture = try StoreFixture.segmented()
        let last = 301
        try fixture.flipByte(inSegment: 1)
        let front = try printed(fixture).offsets
        let second = try #require(Int(try fixture.segments()[2].suffix(24).dropLast(4)))
        for words in [["--reverse"], ["--reverse", "--zone", "Notes"]] {
            let result = try ToolProcess.run(["log", fixture.name, "--oneline"] + words, in: fixture.directory.path)
            #expect(result.code == 3)
            let offsets = result.lines.compactMap { Int($0.prefix { $0 != " " }) }
            #expect(offsets == Array((second...last).reversed()) + front.reversed(), "\(words)")
        }
        #expect(try printed(fixture, "--user", "anna", "-n", "5").offsets == Array(297...301))
    }

    @Test func blocksAroundDamageOfASealedSegmentAreRead() throws {
        let fixture = try StoreFixture(segmentBytes: 1 << 20)
        try fixture.internNames()
        try fixture.saveNotes(1_500, noise: 700)
        try fixture.sealAll()
        try fixture.close()
        let all = try printed(fixture).offsets
        try fixture.flipByte(inSegment: 0)
        let front = try printed(fixture)
        let back = try printed(fixture, "--reverse")
        #expect(front.code == 3 && back.code == 3)
        let missing = Set(all).subtracting(back.offsets)
        // One block of some 90 commits.
        #expect((1...200).contains(missing.count), "\(missing.count)")
        #expect(Set(front.offsets).isSubset(of: back.offsets) && back.offsets == back.offsets.sorted(by: >))
    }

    // MARK: History that was let go

    @Test func behindABaseFiltersKnowNamesToo() throws {
        let world = try VersionedStore()
        try world.makeZones()
        for rank in 1...5 { try world.save("note-1", ["rank": .int64(Int64(rank))]) }
        _ = try world.store.compact(before: 4)
        try world.store.close()
        #expect(try world.offsets(["--zone", "Notes", "--user", "anna"]) == [4, 5, 6])
        #expect(try world.offsets(["--record", "note-1", "--reverse", "-n", "2"]) == [6, 5])
        #expect(try world.offsets(["--where", "rank = 4"]) == [5])
    }

    // MARK: Command lines

    @Test func mistakesAreExplained() throws {
        let mistakes: [([String], String)] = [
            (["--kind", "record save"], "--kind: there is no event kind 'record save'; did you mean 'record saved'?"),
            (["--kind", "zzz"], "--kind: there is no event kind 'zzz';"),
            (
                ["--outcome", "comitted"],
                "--outcome must be committed, refused or all, not 'comitted'; did you mean committed?"
            ),
            (
                ["--database", "pubic"],
                "--database must be public, private or shared, not 'pubic'; did you mean public?"
            ),
            (
                ["--database", "public", "--owner", "anna"],
                "--database public has no owner: omit --owner, or use private or shared;"
            ),
            (["--where", "rank >"], "--where, character 7: expected a key or a value, found the end;"),
            (
                ["--where", "rank BETWEEN 3"],
                "--where, character 6: expected a list of two values for BETWEEN, found INT64;"
            ),
            (
                ["--where", "a = 1", "--outcome", "refused"],
                "--where and --outcome refused cannot be combined: refused requests set no fields;"
            ),
            (["--where", "a = 1", "--kind", "zone saved"], "--where matches only events of --kind 'record saved';"),
            (
                ["--outcome", "refused", "--kind", "zone saved"],
                "--outcome refused allows no --kind except 'request refused';"
            ),
            (
                ["--outcome", "committed", "--kind", "request refused"],
                "--outcome committed and --kind 'request refused' cannot be combined;"
            ),
            (["--stat", "--patch"], "--stat and --patch cannot be combined;"),
            (["--reverse", "--follow"], "--reverse and --follow cannot be combined;"),
            (["--until", "1d", "--follow"], "--follow and --until cannot be combined;"),
            (["--since", "1d", "--until", "2d"], "--since is after --until;"),
            (["--user", "anna", "--user", "bert"], "--user is given twice;"),
        ]
        for (words, message) in mistakes {
            let result = try world.run(["log", "Notes.strata"] + words)
            #expect(result.code == 2 && result.output.isEmpty, "\(words)")
            #expect(result.errors == "strata log: " + message + " see 'strata help log'\n")
        }
        let json = try world.run(["log", "Notes.strata", "--stat", "--json"])
        #expect(json.code == 2 && json.reports("--stat and --json cannot be combined", by: "log"), "\(json)")
    }
}
