import StrataModel
import StrataStore
import StrataViews
import Testing

@testable import StrataTool

/// The commands that read or rewrite a log that has shares.
@Suite struct SharedHistoryTests {
    private let fixture: StateFixture

    init() throws {
        fixture = try StateFixture(keepsAudits: true)
        try fixture.share(.readOnly)
    }

    private func run(_ words: String...) throws -> ToolResult {
        try fixture.run([words[0], fixture.name] + words.dropFirst())
    }

    @Test("The events of shares are shown in words")
    func show() throws {
        let share = try run("show", "7")
        #expect(share.output.contains("Notes / Share-1, share 1 of list"), "\(share)")
        #expect(share.output.contains("Notes / Note / milk  under share 1"), "\(share)")
        let join = try run("show", "8")
        #expect(join.output.contains("bert joined share 1 in Notes: private user, read only"), "\(join)")
        for object in try fixture.objects("log", fixture.name) {
            for event in try #require(object["events"] as? [[String: Any]]) {
                try PromisedKeys.expect(event, follows: "An event")
            }
        }
    }

    @Test("The history of a share's record has its participants in words")
    func history() throws {
        let result = try run("history", "Share-1", "--user", "anna", "--zone", "Notes")
        #expect(result.code == 0, "\(result)")
        for line in [
            "+ participant c@example.com: private user, read only, invited",
            "~ participant bert: private user, read only, invited -> private user, read only, accepted",
        ] { #expect(result.output.contains(line), "\(line): \(result)") }
        #expect(!result.output.contains("cloudkit.share"), "\(result)")
    }

    @Test("explain names the share and the permission that refused, or let a member write")
    func explain() throws {
        let refused = try fixture.change { store -> UInt64 in
            _ = try? fixture.saveShared("milk", rank: 7, to: store)
            try store.noteConsole(ConsoleNote("something that is written"))
            return store.offset
        }
        let explained = (9...refused).map { "\($0)" }
        var texts = ""
        for offset in explained { texts += try run("explain", offset).output }
        #expect(texts.contains("bert was a member who may only read in the share 'Share-1' of 'list'"), "\(texts)")
        let accepted = try fixture.change { store -> UInt64 in
            let bert = ShareChange.Participant(
                "id-bert", .user(recordName: store.recordName(of: "bert")), role: .privateUser, permission: .readWrite)
            try fixture.edit(ShareChange(participants: [bert]), to: store)
            let result = try fixture.saveShared("milk", rank: 8, to: store)
            return try result.saves[0].get().offset
        }
        let text = try run("explain", "\(accepted)")
        #expect(text.output.contains("bert was a member who may read and write in the share 'Share-1'"), "\(text)")
    }

    @Test("Without the invitation, its acceptance is refused")
    func whatIf() throws {
        let result = try run("what-if", "--drop", "7")
        #expect(result.code == 1 && result.output.contains("8"), "\(result)")
        let removed = try run("what-if", "--edit", "7", "Share-1.permission:bert=removed")
        #expect(removed.code == 1 && removed.output.contains("permission failure"), "\(removed)")
        for drop in ["7 participant:bert", "7 Share-1.participant:bert"] {
            let dropped = try run("what-if", "--drop", drop)
            #expect(dropped.code == 1 && dropped.output == removed.output, "\(dropped)")
        }
        let address = try run("what-if", "--drop", "7 participant:c@example.com")
        #expect(address.code == 1 && address.output.contains("- participant c@example.com"), "\(address)")
        for drop in [
            "7 bert", "7 participant:", "7 .participant:bert", "7 participant:nobody", "4 participant:bert", "x",
        ] {
            let mistake = try run("what-if", "--drop", drop)
            #expect(mistake.code == 2 && mistake.output.isEmpty, "\(mistake)")
        }
    }

    @Test("With another permission of the invitation, the share differs; mistakes get an error")
    func permission() throws {
        let result = try run("what-if", "--edit", "7", "Share-1.permission:bert=readWrite")
        #expect(result.code == 1 && result.output.contains("Share-1"), "\(result)")
        #expect(result.output.contains("participant bert: private user, read only"), "\(result)")
        let address = try run("what-if", "--edit", "7", "Share-1.permission:c@example.com=readWrite")
        #expect(address.code == 1 && address.output.contains("Share-1"), "\(address)")
        for edit in ["Share-1.permission:bert=write", "Share-1.permission:nobody=none", "list.publicPermission=none"] {
            let mistake = try run("what-if", "--edit", "7", edit)
            #expect(mistake.code != 0 && mistake.output.isEmpty, "\(mistake)")
        }
    }

    @Test("verify --deep and --judge pass, before and after compaction and erasure")
    func maintenance() throws {
        let shares = try run("shares").output
        for words in [["verify", "--deep"], ["verify", "--judge"]] {
            let result = try fixture.run([words[0], fixture.name] + words.dropFirst())
            #expect(result.code == 0, "\(result)")
        }
        try fixture.change { _ = try $0.compact(before: 8) }
        #expect(try run("shares").output == shares)
        #expect(try run("verify", "--deep").code == 0)
        let access = ["access", fixture.name, "milk", "--user", "bert", "--owner", "anna", "--zone", "Notes"]
        #expect(try fixture.run(access).output.contains("chain  milk < list"))
        let erased = try run("erase", "milk", "--user", "anna", "--zone", "Notes", "--reason", "asked for", "--apply")
        #expect(erased.code == 0, "\(erased)")
        #expect(try run("verify", "--deep").code == 0)
        #expect(try run("shares").output == shares)
    }

    @Test("An exported log is imported with its shares")
    func transfer() throws {
        #expect(try run("export", "shares.jsonl").code == 0)
        let imported = try fixture.run("import", "Copy.strata", "shares.jsonl")
        #expect(imported.code == 0, "\(imported)")
        #expect(try fixture.run("shares", "Copy.strata").output == run("shares").output)
    }

    @Test("dump prints the bytes of the events of shares, and an export after compaction has the base's")
    func bytes() throws {
        let dump = try run("dump", "--offset", "8")
        #expect(dump.code == 0 && dump.output.contains("payload, compressed"), "\(dump)")
        let events = try #require(try fixture.objects("show", fixture.name, "8").first?["events"] as? [[String: Any]])
        #expect(events.contains { $0["kind"] as? Int == 65 }, "\(events)")
        try fixture.change { _ = try $0.compact(before: 8) }
        #expect(try run("dump").code == 0)
        #expect(try run("export", "shares.jsonl").code == 0)
        #expect(try fixture.run("import", "Copy.strata", "shares.jsonl").code == 0)
        #expect(try fixture.run("shares", "Copy.strata").output == run("shares").output)
        let verified = try fixture.run("verify", "Copy.strata", "--deep")
        // No export has the files of assets.
        #expect(verified.lines.first?.hasPrefix("log ok: ") == true, "\(verified)")
        #expect(verified.output.contains("assets damaged: 1 of 1 file\n"), "\(verified)")
    }
}
