import Foundation
import Glibc
import StrataModel
import StrataStore
import TestNeeds
import Testing

@testable import StrataTool

@Suite struct PlayCommandTests {
    private let fixture: StateFixture

    /// Behind the five commits of the fixture, anna's tablet subscribes, and the phone changes a note and a zone ends.
    init() throws {
        let fixture = try StateFixture()
        self.fixture = fixture
        try fixture.change { store in
            var info = NotificationInfo()
            info.desiredKeys = ["rank"]
            info.shouldBadge = true
            let query = NamedSubscription(
                "notes", .query, recordType: "Note", predicate: "rank > 3", options: [.creation, .update],
                notification: info)
            try fixture.step {
                try store.modify(
                    .subscriptions(saving: [query, NamedSubscription("all", .database)]), as: StateFixture.tablet)
            }
            try fixture.save("milk", ["rank": .int64(9)], to: store)
            try fixture.step { try store.modify(.zones(deleting: [StateFixture.work]), as: StateFixture.phone) }
            var gone = RequestBuilder(DatabaseID(.private))
            gone.delete(RecordID("milk", zone: StateFixture.notes))
            try fixture.step { try store.modify(gone.request, as: StateFixture.phone) }
        }
    }

    private var tablet: [String] { ["play", fixture.name, "--user", "anna", "--device", "tablet"] }

    @Test("Commits, what a device is given, and what it is told, in the order in which it came")
    func text() throws {
        let result = try fixture.run(tablet + ["--from", "5"])
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        let lines = result.lines
        #expect(lines.filter { !$0.hasPrefix(" ") }.map { $0.prefix(2) } == ["6 ", "7 ", "8 ", "9 "], "\(result)")
        #expect(lines.first { $0.hasPrefix("6 ") }?.contains(" anna on tablet: ") == true)
        let seventh = Array(lines.drop { !$0.hasPrefix("7 ") }.dropFirst().prefix { $0.hasPrefix(" ") })
        #expect(seventh.contains { $0.hasPrefix("    changed  Notes/milk, Note  ") && $0.contains("rank=9") })
        #expect(seventh.contains("    push     notes: Notes/milk updated  rank=9, badge 1"), "\(seventh)")
        #expect(seventh.contains("    push     all: database private"))
        #expect(lines.contains("    deleted  zone Work, deleted") && lines.contains("    deleted  Notes/milk, Note"))
        // The phone made it all itself.
        let phone = try fixture.run(
            ["play", fixture.name, "--user", "anna", "--device", "phone", "--from", "6"])
        #expect(phone.code == 0 && !phone.output.contains("push"))
        // Nobody is asked for.
        let bare = try fixture.run(["play", fixture.name])
        #expect(bare.code == 0 && bare.lines.count == 9 && bare.lines[0].contains("anna on phone: "))
        let part = try fixture.run(["play", fixture.name, "--from", "2", "--to", "4"])
        #expect(part.lines.map { $0.prefix(2) } == ["3 ", "4 "])
        let nothing = try fixture.run(["play", fixture.name, "--from", "9"])
        #expect(nothing.code == 0 && nothing.output.isEmpty)
        let nobody = try fixture.run(["play", fixture.name, "--user", "carl"])
        #expect(nobody.code == 1 && nobody.output.isEmpty, "\(nobody)")
        #expect(nobody.errors.contains("no user 'carl'"), "\(nobody)")
    }

    @Test("JSON has all of it")
    func json() throws {
        let objects = try fixture.objects(tablet)
        let commits = objects.filter { $0["events"] != nil }
        let pushes = objects.filter { $0["push"] != nil }
        let changes = objects.filter { $0["change"] != nil }
        #expect(commits.count == 9 && pushes.count == 4)
        #expect(commits.count + pushes.count + changes.count == objects.count)
        for commit in commits { try PromisedKeys.expect(commit, follows: "A commit that is played") }
        for push in pushes { try PromisedKeys.expect(push, follows: "A notification that is played") }
        try PromisedKeys.expectAll(of: "A notification that is played", in: pushes)
        let told = try #require(pushes.first { $0["subscription"] as? String == "notes" })
        #expect(told["record"] as? String == "milk" && told["reason"] as? String == "updated")
        #expect(told["offset"] as? Int == 7 && told["badge"] as? Int == 1)
        let fields = try #require(told["fields"] as? [String: Any])
        #expect("\(try #require(fields["rank"]))".contains("9"), "\(fields)")
    }

    private var steps: String { "play \(fixture.name) --user anna --device tablet --from 6 --step" }

    @Test("A line of the input plays a commit")
    func stepping() throws {
        let line = "printf '\\n\\nq\\n\\n' | \"$0\" \(steps)"
        let piped = try ToolProcess.run(
            ["-c", line, try ToolProcess.toolPath], in: fixture.directory.path, program: "/bin/sh")
        #expect(piped.code == 0 && piped.errors.isEmpty, "\(piped)")
        #expect(piped.lines.filter { !$0.hasPrefix(" ") }.map { $0.prefix(2) } == ["7 ", "8 "])
    }

    @Test("At a terminal Enter does", .needs(.terminal))
    func steppingAtATerminal() throws {
        let terminal = try PseudoTerminal("'\(try ToolProcess.toolPath)' \(steps)", in: fixture.directory.path)
        #expect(terminal.waits(for: "Enter plays the next commit, q ends"))
        for (offset, wanted) in [(7, "badge 1"), (8, "zone Work, deleted"), (9, "Notes/milk, Note")] {
            #expect(!terminal.text.contains("\n\(offset) "))
            terminal.type("\n")
            #expect(terminal.waits(for: wanted), "\(terminal.text)")
        }
        // Behind the last there is nothing to wait for.
        #expect(terminal.finish() == 0 && terminal.isRestored)
    }

    @Test("A standard input that is closed is empty, whatever files are opened")
    func closedInput() throws {
        let line = "\"$0\" play \(fixture.name) --step <&-"
        let result = try ToolProcess.run(
            ["-c", line, try ToolProcess.toolPath], in: fixture.directory.path, program: "/bin/sh")
        #expect(result.code == 0 && result.output.isEmpty && result.errors.isEmpty, "\(result)")
    }

    @Test("What cannot be played, and words that do not fit")
    func refusals() throws {
        for words in [["--from", "99"], ["--to", "99"], ["--from", "4", "--to", "3"], ["--from", "@1"]] {
            let result = try fixture.run(["play", fixture.name] + words)
            let isFine = words == ["--from", "@1"]
            #expect(result.code == (isFine ? 0 : 1), "\(words): \(result)")
            #expect(isFine || result.errors.contains("(outOfRange)"), "\(words): \(result)")
        }
        let wrong: [[String]] = [
            ["--from", "x"], ["--device", "phone"], ["--step", "now"],
        ]
        for words in wrong {
            let result = try fixture.run(["play", fixture.name] + words)
            #expect(result.code == 2 && result.output.isEmpty, "\(words): \(result)")
        }
    }
}
