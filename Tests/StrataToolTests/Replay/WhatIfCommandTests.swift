import Foundation
import Glibc
import StrataModel
import StrataReplay
import StrataStore
import StrataSystem
import Testing

@testable import StrataTool

/// `strata what-if` and `strata verify --judge`: what they print, make and refuse.
@Suite struct WhatIfCommandTests {
    private let fixture: StateFixture

    init() throws { fixture = try StateFixture() }

    @Test func aDroppedCommitIsMissingInTheEnd() throws {
        let before = try fixture.content()
        let result = try fixture.run("what-if", fixture.name, "--drop", "4")
        #expect(result.code == 1 && result.errors.isEmpty, "\(result)")
        #expect(result.lines.first == "commit 4  anna: accepted -> dropped")
        #expect(result.output.contains("~ rank: 3 -> 2"), "\(result.output)")
        #expect(result.lines.last == "2 commits judged again: 1 changed, 0 others had another outcome")
        #expect(try fixture.content() == before)
    }

    @Test func theFirstDifferenceIsShownBeforeTheRestIsJudged() throws {
        let store = try Store.openForReading(at: fixture.path)
        defer { try? store.close() }
        let arguments = try ArgumentParser(WhatIfCommand.self).parse([fixture.path, "--drop", "2"])
        let pipe = Pipe()
        let output = Output(descriptor: pipe.fileHandleForWriting.fileDescriptor)
        output.holdsFirstLine = true
        var shown = ""
        var judgedCount = 0
        let code = try WhatIfReport(arguments, output).write(nil) { each in
            try Rerun(of: store, changes: [.drop(2)]).run { commit in
                judgedCount += 1
                try each(commit)
                var ready = pollfd(fd: pipe.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
                if poll(&ready, 1, 0) > 0 {
                    shown += String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
                }
                if judgedCount == 1 { #expect(shown == "commit 2  anna: accepted -> dropped\n") }
            }
        }
        #expect(code == .no && judgedCount > 1 && shown.hasPrefix("commit 2 "))
    }

    @Test func withNothingChangedNothingDiffers() throws {
        let result = try fixture.run("what-if", fixture.name)
        #expect(result.code == 0 && result.lines.first == "nothing differs", "\(result)")
        #expect(result.lines.last == "5 commits judged again: 0 changed, 0 others had another outcome")
    }

    @Test func aNewStoreOpensAndIsWhole() throws {
        let result = try fixture.run(
            "what-if", fixture.name, "--edit", "4", "rank=8", "--policy=4=all-keys", "--out", "New.strata")
        #expect(result.code == 1 && result.errors.isEmpty, "\(result)")
        #expect(result.lines.last == "saved as New.strata, up to offset 5")
        let verified = try fixture.run("verify", "--deep", "New.strata")
        #expect(verified.code == 0 && verified.output.contains("assets ok: 1 file, 3 bytes"), "\(verified)")
        let milk = ["New.strata", "milk", "--user", "anna", "--zone", "Notes", "--reveal"]
        let record = try fixture.run(["get"] + milk)
        #expect(record.code == 0 && record.output.contains("rank") && record.output.contains("1234"), "\(record)")
        let difference = try fixture.run("diff", fixture.name, "New.strata")
        #expect(difference.code == 1 && difference.output.contains("rank: 3 -> 8"), "\(difference)")
        #expect(try fixture.run("verify", "--judge", "New.strata").code == 0)
        let again = try fixture.run("what-if", fixture.name, "--drop", "4", "--out", "New.strata")
        #expect(
            again.code == 1 && again.output.isEmpty && again.errors.contains("already exists at the path"), "\(again)")
    }

    @Test func recordsAreInserted() throws {
        let export = try fixture.run("export", fixture.name, "--records", "--zone", "Work")
        #expect(export.code == 0)
        let lines = export.lines.map(String.init)
        let record =
            #"{"record":"plan","type":"Note","fields":{"rank":{"type":"int64","value":4}}}"#
        let end = lines[lines.count - 1].replacingOccurrences(of: #""count":0"#, with: #""count":1"#)
        let text = (lines.dropLast() + [record, end]).joined(separator: "\n") + "\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: fixture.directory.path("more")))
        let result = try fixture.run("what-if", fixture.name, "--insert", "more", "--at", "3", "--user", "anna")
        #expect(result.code == 1 && result.errors.isEmpty, "\(result)")
        #expect(result.output.contains("+ Note plan"), "\(result.output)")
    }

    @Test func aNewStoreOfACompactedOneBeginsWithTheSameBase() throws {
        try fixture.change { _ = try $0.compact(before: 4) }
        for (words, end) in [(["--drop", "4"], 4), ([], 5)] {
            let new = "New\(end).strata"
            let result = try fixture.run(["what-if", fixture.name, "--out", new] + words)
            #expect(result.code == (words.isEmpty ? 0 : 1) && result.errors.isEmpty, "\(result)")
            #expect(result.lines.last == "saved as \(new), up to offset \(end)")
            let verified = try fixture.run("verify", "--deep", new)
            #expect(verified.code == 0 && verified.output.contains("after a base"), "\(verified)")
            #expect(verified.output.contains("assets ok: 1 file, 3 bytes"), "\(verified)")
            let difference = try fixture.run("diff", fixture.name, new)
            #expect(difference.code == result.code, "\(difference)")
            #expect(try fixture.run("verify", "--judge", new).code == 0)
        }
        let gone = try fixture.run("what-if", fixture.name, "--drop", "3")
        #expect(gone.code == 1 && gone.errors.contains("no commit 3; this store has commits 4 to 5"), "\(gone)")
    }

    @Test func aSchemaIsEnforced() throws {
        let enforced = try fixture.run("what-if", fixture.name, "--policy", "schema=enforced")
        #expect(enforced.code == 1 && enforced.errors.isEmpty, "\(enforced)")
        #expect(enforced.lines.contains { $0.hasPrefix("commit 2  anna: accepted -> refused") }, "\(enforced)")
        #expect(enforced.output.contains("- Note milk"), "\(enforced)")
        // Behind the commits that declared it nobody is refused.
        let later = try fixture.run("what-if", fixture.name, "--policy=schema=enforced", "--policy=4=all-keys")
        #expect(later.code == 0 || !later.output.contains("refused"), "\(later)")
        let open = try fixture.run("what-if", fixture.name, "--policy", "schema=open")
        #expect(open.code == 0 && open.lines.first == "nothing differs", "\(open)")
        let unknown = try fixture.run("what-if", fixture.name, "--policy", "schema=loose")
        #expect(unknown.code == 2 && unknown.errors.contains("schema=enforced"), "\(unknown)")
    }

    @Test func whatWasErasedIsNamedAndMayBeDropped() throws {
        try fixture.change { store in
            try store.erase(
                [RecordID("milk", zone: StateFixture.notes)], in: DatabaseID(.private, owner: "anna"),
                reason: "asked for")
        }
        let same = try fixture.run("what-if", fixture.name)
        #expect(same.code == 0, "\(same)")
        #expect(same.output.contains("commit 4 could not be judged and is kept as it is: "), "\(same)")
        let dropped = try fixture.run("what-if", fixture.name, "--drop", "4", "--out", "New.strata")
        #expect(dropped.code == 1 && dropped.lines.first == "commit 4  anna: accepted -> dropped", "\(dropped)")
        #expect(dropped.output.contains("1 changed"), "\(dropped)")
        let verified = try fixture.run("verify", "--deep", "New.strata")
        #expect(verified.code == 0, "\(verified)")
        // Nothing of it is in the new files either.
        let log = try fixture.run("log", "New.strata", "--patch")
        #expect(log.code == 0 && !log.output.contains("1234"), "\(log)")
    }

    @Test(arguments: [
        (["--drop", "x"], "takes a number"),
        (["--edit", "4", "price=1"], "expected one of milk.rank"), (["--edit", "4 rank"], "takes OFFSET FIELD=VALUE"),
        (["--edit", "4", "rank=much"], "does not have the kind"), (["--edit", "1", "rank=1"], "saves no records"),
        (["--policy", "4=never"], "OFFSET=changed-keys"), (["--at", "3"], "--at is for --insert"),
        (["--insert", "/dev/null", "--at", "3", "--user", "anna"], "export of records"),
        (["--rules", "mine"], "service or embedded"),
    ])
    func badArgumentsSayWhatIsWrong(words: [String], problem: String) throws {
        let result = try fixture.run(["what-if", fixture.name] + words)
        #expect(result.code == 2 && result.errors.contains(problem), "\(result)")
    }

    @Test("A commit that does not exist is a no", arguments: [["--drop", "6"], ["--edit", "9", "rank=1"]])
    func noCommit(_ words: [String]) throws {
        let result = try fixture.run(["what-if", fixture.name] + words)
        let sentence = "strata what-if: no commit \(words[1]); this store has commits 1 to 5\n"
        #expect(result.code == 1 && result.errors == sentence, "\(result)")
    }

    @Test("Policies may be spelled as in CloudKit", arguments: ["allKeys", "changedKeys", "ifServerRecordUnchanged"])
    func policyOfCloudKit(_ policy: String) throws {
        let result = try fixture.run("what-if", fixture.name, "--policy", "4=\(policy)")
        #expect(result.code != 2 && result.errors.isEmpty, "\(result)")
    }

    @Test("An invitation by address is named by its user, too")
    func participantByName() throws {
        try fixture.change { store in
            var person = Person()
            person.emails = ["c@example.com"]
            try fixture.step { try store.setPerson(person, of: "carla") }
        }
        try fixture.share(isAccepted: false)
        let share = try fixture.change { $0.offset }
        for name in ["carla", "c@example.com", "bert"] {
            let result = try fixture.run("what-if", fixture.name, "--drop", "\(share) participant:\(name)")
            #expect(result.code == 1 && result.errors.isEmpty, "\(name): \(result)")
            #expect(result.output.contains("1 changed"), "\(name): \(result)")
        }
        let stranger = try fixture.run("what-if", fixture.name, "--drop", "\(share) participant:nobody")
        #expect(stranger.code == 2 && stranger.errors.contains("no such participant"), "\(stranger)")
    }

    @Test func whatIsMadeInVainIsTakenAway() throws {
        let result = try fixture.run("what-if", fixture.name, "--edit", "4", "price=1", "--out", "New.strata")
        #expect(result.code == 2)
        let names = try RealFileSystem().list(fixture.directory.path("."))
        #expect(!names.contains { $0.hasPrefix("New.strata") }, "\(names)")
    }

    @Test("Where only a note is otherwise asked, nothing differs")
    func onlyAnotherPolicy() throws {
        let result = try fixture.run("what-if", fixture.name, "--policy", "4=all-keys")
        #expect(result.code == 0 && result.lines.contains("nothing differs"), "\(result)")
    }

    @Test("A request that comes to something else is a difference, also if all records are the same in the end")
    func onlyAnotherOutcome() throws {
        try fixture.change { store in
            for rank in [5, 7] as [Int64] { try fixture.save("milk", ["rank": .int64(rank)], to: store) }
        }
        let result = try fixture.run("what-if", fixture.name, "--drop", "6")
        #expect(result.code == 1 && result.lines.contains("no record differs"), "\(result)")
        #expect(!result.output.contains("nothing differs"), "\(result)")
    }

    /// A store of commits that were written past requests: 1,501 of them.
    private static func requestless() throws -> StoreFixture {
        let fixture = try StoreFixture()
        try fixture.internNames()
        try fixture.saveNotes(1_500)
        try fixture.close()
        return fixture
    }

    @Test("Where the log has no requests, verify --judge says that it judged nothing")
    func nothingToJudge() throws {
        let fixture = try Self.requestless()
        let result = try fixture.run("verify", "--judge", fixture.name)
        #expect(result.code == 1 && result.errors.isEmpty, "\(result)")
        #expect(
            result.lines.dropFirst().prefix(2).map { String($0) } == [
                "commits 1 to 1501 could not be judged again: the log has no request",
                "nothing judged: 0 of 1501 commits could be judged again, from 1 to 1501",
            ], "\(result)")
        let text = try fixture.run("determinism", fixture.name, "--json").output
        #expect(text.contains(#""verdict":"nothing judged""#), "\(text)")
        #expect(text.contains(#""judgedCount":0,"#) && text.contains(#""unjudgedCount":1501,"#), "\(text)")
        #expect(text.contains(#""unjudged":[{"offset":1,"last":1501,"#), "\(text)")
    }

    @Test("Where most of what follows has no request, what-if refuses to answer, and goes on if it is asked to")
    func nothingToJudgeBehindAChange() throws {
        let fixture = try Self.requestless()
        for words in [["--drop", "34"], []] {
            let result = try ToolProcess.run(["what-if", fixture.name] + words, in: fixture.directory.path)
            let count = words.isEmpty ? 1_501 : 1_467
            #expect(result.code == 1 && result.output.isEmpty, "\(result)")
            #expect(result.errors.contains("\(count) of the \(count) commits"), "\(result)")
            #expect(result.errors.contains("have no request in the log") && result.errors.contains("--leave-out"))
        }
        let none = try fixture.run("what-if", fixture.name, "--leave-out")
        #expect(none.code == 1 && none.lines.first == "nothing was judged", "\(none)")
        let json = try fixture.run("what-if", fixture.name, "--leave-out", "--json")
        #expect(json.code == 1 && json.output.contains(#""verdict":"nothing judged""#), "\(json)")
        // Behind the last one nothing follows that could be left out.
        #expect(try fixture.run("what-if", fixture.name, "--drop", "1501").code == 1)
        let all = try fixture.run("what-if", fixture.name, "--drop", "1400", "--leave-out")
        #expect(all.code == 1, "\(all)")
        #expect(
            all.lines.last == "commits 1401 to 1501 could not be judged and are left out: the log has no request",
            "\(all)")
        #expect(all.lines.contains("1 of 102 commits judged again: 1 changed, 0 others had another outcome"), "\(all)")
    }

    @Test func aGoodStoreIsDeterministic() throws {
        let result = try fixture.run("verify", "--judge", fixture.name)
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        #expect(result.lines.first?.hasPrefix("ok: 5 commits, ") == true, "\(result)")
        #expect(result.lines.contains("nothing differs: 5 of 5 commits judged again, from 1 to 5"), "\(result)")
        // The earlier name of the command.
        #expect(try fixture.run("determinism", fixture.name).output == result.output)
        #expect(try fixture.run("help", "determinism").output == fixture.run("help", "verify").output)
        func judged(_ words: String...) throws -> [String: Any] {
            let object = try #require(try fixture.objects(["determinism", fixture.name] + words).first)
            let judged = try #require(object["judged"] as? [String: Any])
            try PromisedKeys.expect(judged, follows: "A log that was judged again")
            return judged
        }
        let object = try judged("--from", "3")
        #expect(object["first"] as? Int == 3 && object["firstOffset"] is NSNull)
        #expect(object["judgedCount"] as? Int == 3 && object["verdict"] as? String == "same")
        let late = try fixture.run("determinism", fixture.name, "--from", "9")
        #expect(late.code == 1 && late.output.isEmpty, "\(late)")
        #expect(late.errors == "strata verify: no commit 9; this store has commits 1 to 5\n")
        // Nothing is asked for behind the end.
        let empty = try fixture.run("verify", "--judge", fixture.name, "--from", "6")
        #expect(empty.code == 0, "\(empty)")
        #expect(empty.lines.contains("nothing to judge: there are no commits after 5"), "\(empty)")
        #expect(try judged("--from", "6")["verdict"] as? String == "empty")
        for words in [["--from", "3"], ["--rules", "service"]] {
            #expect(try fixture.run(["verify", fixture.name] + words).code == 2)
        }
    }

    @Test("Where most commits were erased, what-if gives no answer, and verify --judge says how few it judged")
    func fewToJudge() throws {
        try fixture.change { store in
            for rank in [5, 7] as [Int64] { try fixture.save("milk", ["rank": .int64(rank)], to: store) }
            try store.erase(
                [RecordID("milk", zone: StateFixture.notes)], in: DatabaseID(.private, owner: "anna"),
                reason: "asked for")
        }
        let refused = try fixture.run("what-if", fixture.name, "--drop", "3", "--json")
        #expect(
            refused.code == 1 && refused.errors.contains("3 of the 5 commits after the first change"), "\(refused)")
        let object = try JSONSerialization.jsonObject(with: Data(refused.output.utf8))
        let answer = try #require(object as? [String: Any])
        try PromisedKeys.expect(answer, follows: "A what-if without an answer")
        #expect(answer["verdict"] as? String == "no answer", "\(refused)")
        let result = try fixture.run("verify", "--judge", fixture.name, "--from", "4")
        #expect(result.code == 0, "\(result)")
        #expect(result.output.contains("2 of 5 commits judged again, fewer than half, from 4 to 8"), "\(result)")
    }

    @Test("A commit behind damage may be there, so the damage is told")
    func behindDamage() throws {
        try fixture.damage(4)
        let result = try fixture.run("what-if", fixture.name, "--drop", "5")
        #expect(result.code == 3 && result.errors.contains("(badChecksum)"), "\(result)")
        let judged = try fixture.run("verify", "--judge", fixture.name)
        #expect(judged.code == 1 && judged.lines.first == "damaged", "\(judged)")
        #expect(judged.output.contains("requests were not judged again: the log comes first"), "\(judged)")
    }
}
