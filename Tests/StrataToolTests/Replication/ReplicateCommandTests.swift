import Foundation
import Glibc
import StrataLog
import StrataModel
import StrataReplication
import StrataSystem
import Testing

@testable import StrataTool

/// `replicate`, `promote` and `verify --against`.
@Suite("Copies of a store are kept up to date, repaired and promoted", .timeLimit(.minutes(5)))
struct ReplicateCommandTests {
    private static let report = "What `create`, `join`, `replicate` and `promote` print"
    private let store: SequencedStore

    init() throws { store = try SequencedStore() }

    /// A store on the sequencer with a closed copy in `Left.strata`.
    private func sequenced(_ count: Int) throws {
        try store.succeed("create", store.address)
        let writer = try store.open("Left.strata")
        for record in 0..<count { try store.save("record-\(record)", to: writer) }
        try writer.close()
    }

    // MARK: Between directories

    @Test("A directory gets the history of another one, and goes on")
    func standby() throws {
        try store.write(0..<5, to: "Notes.strata")
        let first = try store.object("replicate", "Notes.strata", "Standby.strata")
        try PromisedKeys.expect(first, follows: Self.report)
        #expect(first["commits"] as? Int == 5 && first["end"] as? Int == 5)
        try store.write(5..<7, to: "Notes.strata")
        #expect(try store.succeed("replicate", "Notes.strata", "Standby.strata").hasPrefix("2 commits were copied"))
        #expect(try store.commits("Standby.strata") == store.commits("Notes.strata"))
        #expect(try store.succeed("verify", "Standby.strata", "--against", "Notes.strata").contains("agrees with"))
        // It is written by itself.
        try store.write(7..<8, to: "Standby.strata")
        #expect(try store.fail("replicate", "Notes.strata", "Standby.strata", code: 1).contains("part at commit 8"))
    }

    @Test("A standby follows a program that writes until it is interrupted", arguments: [SIGINT, SIGTERM])
    func followedStandby(signal: Int32) throws {
        try store.write(0..<2, to: "Notes.strata")
        let tool = try ToolProcess(
            ["replicate", "Notes.strata", "Standby.strata", "--follow"], in: store.directory.path)
        let writer = try store.open("Notes.strata", alone: true)
        for record in 2..<6 {
            try store.save("record-\(record)", to: writer)
            try waitFor { (try? store.commits("Standby.strata").count) == record + 1 }
        }
        kill(tool.identifier, signal)
        let result = try tool.finish()
        #expect(result.code == 0 && result.output.hasPrefix("6 commits were copied"), "\(result)")
        try writer.close()
        #expect(try store.commits("Standby.strata") == store.commits("Notes.strata"))
    }

    @Test("A copy follows a sequencer until it is interrupted")
    func followedSequencer() throws {
        try sequenced(2)
        let tool = try ToolProcess(["replicate", store.address, "Copy.strata", "--follow"], in: store.directory.path)
        let writer = try store.open("Left.strata")
        for record in 2..<5 {
            try store.save("record-\(record)", to: writer)
            try waitFor { (try? store.commits("Copy.strata").count) == record + 1 }
        }
        try writer.close()
        kill(tool.identifier, SIGTERM)
        let result = try tool.finish()
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        #expect(try store.commits("Copy.strata") == store.commits("Left.strata"))
    }

    private func waitFor(_ condition: () throws -> Bool) throws {
        let start = ContinuousClock.now
        while try !condition() {
            try #require(start.duration(to: .now) < .seconds(60), "it does not follow")
            usleep(2_000)
        }
    }

    // MARK: To a sequencer

    @Test("A sequencer gets what a store has more, and can be copied to another one")
    func toSequencers() throws {
        try store.write(0..<3, to: "Notes.strata")
        try store.succeed("replicate", "Notes.strata", "Standby.strata")
        try store.succeed("create", store.address, "--from", "Standby.strata")
        try store.write(3..<6, to: "Notes.strata")
        #expect(try store.succeed("replicate", "Notes.strata", store.address).hasPrefix("3 commits were copied"))
        #expect(try store.succeed("replicate", "Notes.strata", store.address).hasPrefix("0 commits were copied"))
        // Without a store there, it would not be known whether the address is right.
        let other = "file://" + store.path("Other.sequence")
        #expect(try store.fail("replicate", store.address, other, code: 3).contains("strata create"))
        try store.succeed("join", store.address, "Copy.strata")
        #expect(try store.commits("Copy.strata") == store.commits("Notes.strata"))
        let ahead = try store.open("Copy.strata")
        try store.save("more", to: ahead)
        try ahead.close()
        #expect(try store.fail("replicate", "Notes.strata", store.address, code: 1).contains("part at commit 7"))
    }

    @Test("A sequencer that lost entries gets them back from a copy", arguments: [1, 3, 6])
    func repair(lost: Int) throws {
        try sequenced(5)
        try store.succeed("join", store.address, "Copy.strata")
        try store.lose(lost)
        let entries = try store.entryCount
        // If none is left, nothing but the copy says whose sequencer it was.
        let code: Int32 = lost == 6 ? 3 : 1
        _ = try store.fail("replicate", "Left.strata", store.address, code: code)
        #expect(try store.entryCount == entries)
        if lost < 6 {
            let against = try store.run("verify", "Left.strata", "--against", store.address)
            #expect(against.code == 1 && against.output.contains("\(lost) commit"), "\(against)")
            #expect(against.output.contains("replicate --repair"))
        }
        let repaired = try store.object("replicate", "Left.strata", store.address, "--repair")
        #expect(repaired["commits"] as? Int == min(lost, 5) && repaired["end"] as? Int == 5)
        #expect(try store.succeed("verify", "Left.strata", "--against", store.address).contains("agrees with"))
        #expect(try store.succeed("replicate", "Left.strata", store.address, "--repair").hasPrefix("0 commits"))
        let (left, copy) = (try store.open("Left.strata"), try store.open("Copy.strata"))
        for open in [left, copy] {
            try open.confirm()
            try store.save("again", to: open)
        }
        for open in [left, copy] { try open.close() }
        try store.succeed("join", store.address, "Left.strata")
        #expect(try store.commits("Left.strata") == store.commits("Copy.strata"))
    }

    @Test("A sequencer that others wrote to after its loss is left as it is")
    func partedRepair() throws {
        try sequenced(4)
        try store.lose(2)
        let other = try store.open("Other.strata")
        try store.save("other", to: other)
        try other.close()
        let entries = try store.entryCount
        let words = ["replicate", "Left.strata", store.address, "--repair"]
        let result = try store.run(words)
        #expect(result.code == 1 && result.errors.contains("part at commit 3"), "\(result)")
        #expect(try store.entryCount == entries)
        let against = try store.object("verify", "Left.strata", "--against", store.address)
        let agreement = try #require(against["against"] as? [String: Any])
        try PromisedKeys.expect(agreement, follows: "An agreement of two histories")
        #expect(against["ok"] as? Bool == false && agreement["difference"] as? Int == 3)
    }

    @Test("What cannot be meant is an error of the command line, and what is refused changes nothing")
    func refusals() throws {
        try sequenced(1)
        try store.write(0..<1, to: "Notes.strata")
        let entries = try store.entryCount
        func expect(_ words: String..., code: Int32, _ message: String) throws {
            let result = try store.run(["replicate"] + words)
            #expect(result.code == code && result.errors.contains(message), "\(words): \(result)")
        }
        try expect("Notes.strata", "./Notes.strata", code: 2, "the same place")
        try expect(store.address, store.address + "/", code: 2, "the same place")
        try expect("Notes.strata", "Standby.strata", "--repair", code: 2, "--repair goes from")
        try expect(store.address, "Copy.strata", "--repair", code: 2, "--repair goes from")
        try expect(store.address, "file:///other", "--follow", code: 2, "--follow needs a directory")
        try expect("Missing.strata", "Standby.strata", code: 3, "(notFound)")
        try expect("Missing.strata", store.address, code: 3, "(notFound)")
        try expect("Notes.strata", store.address, code: 1, "another store")
        try expect("Notes.strata", store.address, "--repair", code: 1, "Only a copy")
        try expect("Notes.strata", "Left.strata", code: 1, "follows a sequencer")
        #expect(try store.entryCount == entries)
        for name in ["Standby.strata", "Missing.strata", "Copy.strata"] {
            #expect(try !RealFileSystem().exists(store.path(name)))
        }
    }

    // MARK: Promoting

    @Test("A copy of a sequencer that is gone becomes a store by itself")
    func promotes() throws {
        try sequenced(3)
        #expect(try CopyAddress.read(at: store.path("Left.strata")) == store.address)
        #expect(try store.fail("promote", "Left.strata", code: 1).contains("sequencer answers"))
        #expect(throws: StrataError.self) { try store.open("Left.strata", alone: true) }
        try RealFileSystem().rename(store.sequence, to: store.path("Gone.sequence"))
        let promoted = try store.object("promote", "Left.strata")
        try PromisedKeys.expect(promoted, follows: Self.report)
        try store.write(3..<5, to: "Left.strata")
        #expect(try store.commits("Left.strata").count == 5)
        #expect(try store.fail("promote", "Left.strata", code: 1).contains("not a copy"))
    }

    @Test("A copy is promoted against an answer, or without a known address, only if that is forced")
    func forced() throws {
        try sequenced(2)
        try store.succeed("join", store.address, "Copy.strata")
        try store.succeed("promote", "Left.strata", "--force")
        try store.write(2..<3, to: "Left.strata")
        #expect(try store.run("verify", "Left.strata", "--against", "Copy.strata").code == 0)
        let note = StorePaths(store.path("Copy.strata")).sequencer
        try Data("files:///x\n".utf8).write(to: URL(fileURLWithPath: note))
        #expect(try store.fail("promote", "Copy.strata", code: 1).contains("Could not determine"))
        try RealFileSystem().remove(note)
        #expect(try store.fail("promote", "Copy.strata", code: 1).contains("does not note the address"))
        try store.succeed("promote", "Copy.strata", "--force")
        let store = try store.open("Copy.strata", alone: true)
        try store.close()
    }

    @Test("A copy is the beginning of another sequencer, where others join it")
    func promotesTo() throws {
        try sequenced(3)
        let other = "file://" + store.path("Other.sequence")
        #expect(try store.fail("promote", "Left.strata", "--to", other, code: 1).contains("sequencer answers"))
        try RealFileSystem().rename(store.sequence, to: store.path("Gone.sequence"))
        try store.succeed("promote", "Left.strata", "--to", other)
        #expect(try CopyAddress.read(at: store.path("Left.strata")) == other)
        #expect(try store.succeed("join", other, "Left.strata").hasPrefix("0 commits came"))
        #expect(try store.succeed("join", other, "Right.strata").hasPrefix("3 commits came"))
        #expect(try store.commits("Left.strata") == store.commits("Right.strata"))
        // It has all of it.
        try store.succeed("promote", "Right.strata", "--force", "--to", other)
        #expect(try store.fail("promote", "Missing.strata", code: 3).contains("(notFound)"))
        #expect(try store.fail("promote", other, code: 2).contains("not an address"))
    }

    // MARK: Comparing

    @Test("A copy that lags agrees; another store is an error, and so is a mistyped one")
    func comparing() throws {
        try sequenced(2)
        try store.succeed("join", store.address, "Copy.strata")
        let writer = try store.open("Left.strata")
        try store.save("more", to: writer)
        try writer.close()
        let lagging = try store.succeed("verify", "Copy.strata", "--against", store.address)
        #expect(lagging.contains("agrees with \(store.address) up to commit 2; 1 commit only there"))
        try store.write(0..<1, to: "Notes.strata")
        #expect(try store.run("verify", "Notes.strata", "--against", store.address).code == 3)
        #expect(try store.run("verify", "Notes.strata", "--against", "Missing.strata").code == 3)
        #expect(try store.run("verify", "Notes.strata", "--against", "files:///x").code == 2)
    }
}
