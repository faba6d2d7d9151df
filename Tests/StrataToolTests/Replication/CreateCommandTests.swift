import Foundation
import StrataModel
import StrataReplication
import StrataSystem
import Testing

@testable import StrataTool

/// `create`, `join`, and the commands that read the store of a sequencer.
@Suite("A store on a sequencer in a directory", .timeLimit(.minutes(5)))
struct CreateCommandTests {
    private let store: SequencedStore

    init() throws { store = try SequencedStore() }

    @Test("It is created, written by two processes, and read without leaving an entry")
    func wholeLife() throws {
        let created = try store.object("create", store.address, "--container", "iCloud.test")
        try PromisedKeys.expect(created, follows: "What `create`, `join`, `replicate` and `promote` print")
        #expect(created["container"] as? String == "iCloud.test" && created["end"] as? Int == 0)
        #expect(try store.entryCount == 1)
        let (left, right) = (try store.open("Left.strata"), try store.open("Right.strata"))
        for record in 0..<6 { try store.save("record-\(record)", to: record % 2 == 0 ? left : right) }
        for open in [left, right] { try open.close() }
        let entries = try store.entryCount
        let info = try store.object("info", store.address)
        try PromisedKeys.expect(info, follows: "What `info` prints of a sequencer")
        #expect(info["storeID"] as? String == created["storeID"] as? String)
        #expect(info["lastEntry"] as? Int == entries && info["end"] as? Int == 6)
        #expect(try store.succeed("info", store.address).contains("entries     1 to \(entries)\n"))
        #expect(try store.run("log", store.address, "--json").lines.count == 6)
        #expect(try store.succeed("show", store.address, "last").contains("record-5"))
        #expect(try store.succeed("verify", store.address).hasPrefix("ok: 6 commits"))
        #expect(try store.succeed("dump", store.address, "--offset", "6").contains("log/"))
        #expect(try store.entryCount == entries, "reading leaves nothing")
        #expect(try store.succeed("join", store.address, "Copy.strata").hasPrefix("6 commits came; Copy.strata ends"))
        #expect(try store.succeed("join", store.address, "Copy.strata").hasPrefix("0 commits came; Copy.strata ends"))
        #expect(try store.entryCount == entries, "a copy leaves nothing")
        #expect(try store.commits("Copy.strata") == store.commits("Right.strata"))
        let temporary = try RealFileSystem().list(TemporaryDirectory.path).filter { $0.hasPrefix("strata-copy") }
        #expect(temporary.allSatisfy { !$0.contains("Notes") })
    }

    @Test("A copy that is read can be kept, and is then continued")
    func keptCopies() throws {
        try store.succeed("create", store.address)
        let writer = try store.open("Left.strata")
        try store.save("one", to: writer)
        #expect(try store.run("log", store.address, "--json", "--copy", "Kept.strata").lines.count == 1)
        try store.save("two", to: writer)
        #expect(try store.run("log", store.address, "--json", "--copy", "Kept.strata").lines.count == 2)
        #expect(try store.commits("Kept.strata").count == 2)
        // The copy of a program that runs is not touched, but one may be read beside it.
        #expect(try store.fail("log", store.address, "--copy", "Left.strata", code: 3).contains("(locked)"))
        #expect(try store.run("log", store.address, "--json").lines.count == 2)
        try writer.close()
    }

    @Test("A sequencer can be followed like a directory")
    func following() throws {
        try store.succeed("create", store.address)
        let writer = try store.open("Left.strata")
        let tool = try ToolProcess(["log", store.address, "--json", "--follow"], in: store.directory.path)
        for record in 0..<3 {
            try store.save("record-\(record)", to: writer)
            #expect(try tool.readLine()?.contains("\"offset\":\(record + 1),") == true)
        }
        kill(tool.identifier, SIGTERM)
        #expect(try tool.finish().code == 128 + SIGTERM)
        try writer.close()
    }

    @Test("A store's history goes to a sequencer, and its directory follows it")
    func createFrom() throws {
        try store.write(0..<20, to: "Notes.strata")
        let before = try store.commits("Notes.strata")
        let output = try store.succeed("create", store.address, "--from", "Notes.strata")
        #expect(
            output.hasPrefix("20 commits of Notes.strata are in the sequencer; \(store.address) ends with commit 20/"))
        let note = "note: Notes.strata is a copy now, which programs open for writing with the sequencer only"
        #expect(output.contains(note), "\(output)")
        #expect(try store.entryCount == 2, "many commits are one entry")
        #expect(throws: StrataError.self) { try store.open("Notes.strata", alone: true) }
        let (own, other) = (try store.open("Notes.strata"), try store.open("Other.strata"))
        try store.save("next", to: other)
        try own.confirm()
        try store.save("last", to: own)
        for open in [own, other] { try open.close() }
        #expect(try store.commits("Notes.strata").prefix(20) == before[...])
        #expect(try store.commits("Other.strata").prefix(21) == store.commits("Notes.strata").prefix(21))
    }

    @Test("What a move leaves behind is said: asset files, and keys that only a store by itself can have")
    func leftBehind() throws {
        try store.write(0..<2, to: "Notes.strata")
        try FileManager.default.createDirectory(
            atPath: store.path("Notes.strata/assets/ab"), withIntermediateDirectories: true)
        try Data([1]).write(to: URL(fileURLWithPath: store.path("Notes.strata/keys")))
        let standby = try store.succeed("replicate", "Notes.strata", "Standby.strata")
        #expect(standby.contains("copy the folder 'assets'") && standby.contains("copy the file 'keys'"))
        let moved = try store.succeed("create", store.address, "--from", "Notes.strata")
        #expect(moved.contains("copy the folder 'assets'") && moved.contains("encrypted values cannot be read there"))
        #expect(!moved.contains("copy the file"))
    }

    @Test("What cannot be created is refused, and leaves no entry and no directory")
    func refusedCreation() throws {
        try store.write(0..<2, to: "Notes.strata")
        #expect(try store.fail("create", store.address, "--from", "Missing.strata", code: 3).contains("(notFound)"))
        #expect(try !RealFileSystem().exists(store.sequence))
        #expect(try store.fail("create", "file://" + store.path("Notes.strata"), code: 1).contains("(alreadyExists)"))
        try store.succeed("create", store.address, "--from", "Notes.strata")
        let entries = try store.entryCount
        for words in [["--container", "iCloud.other"], ["--from", "Notes.strata"]] {
            let result = try store.run(["create", store.address] + words)
            #expect(result.code == 1 && result.output.isEmpty, "\(result)")
        }
        try store.write(0..<1, to: "Second.strata")
        #expect(try store.fail("create", store.address, "--from", "Second.strata", code: 1).contains("strata join"))
        #expect(try store.entryCount == entries)
        #expect(try store.fail("create", store.address, "--from", "Notes.strata", "--container", "x", code: 2) != "")
    }

    @Test("A mistyped address is an error of its own, whatever it is for")
    func mistypedAddresses() throws {
        try store.write(0..<1, to: "Notes.strata")
        let wrong = [
            ("Notes.sequence", "not the address"), ("files:///x", "begin with 'files://'"),
            ("file://x", "absolute path"), ("file:///", "absolute path"), ("file:/x", "not the address"),
        ]
        for (address, message) in wrong {
            for words in [["create", address], ["join", address, "Copy.strata"]] {
                let result = try store.run(words)
                #expect(result.code == 2 && result.errors.contains(message), "\(words): \(result)")
                #expect(result.errors.contains("file:///DIRECTORY"), "\(words): \(result)")
            }
        }
        for command in ["info", "log", "verify", "dump"] {
            #expect(try store.fail(command, "files:///x", code: 2).contains("begin with 'files://'"))
            #expect(try store.fail(command, store.address, code: 3).contains("strata create"))
        }
        #expect(try store.fail("join", store.address, "Copy.strata", code: 3).contains("(notFound)"))
        #expect(try store.fail("get", store.address, "record", code: 2).contains("strata join"))
        #expect(try store.fail("compact", store.address, "--before", "2", code: 2).contains("strata join"))
        #expect(try store.fail("log", "Notes.strata", "--copy", "Kept.strata", code: 2).contains("--copy"))
        #expect(try store.fail("join", store.address, store.address, code: 2).contains("strata replicate"))
        let files = RealFileSystem()
        for name in ["Notes.sequence", "Copy.strata", "Kept.strata"] { #expect(try !files.exists(store.path(name))) }
    }

    @Test("The directory of another store, and one that has more, are no copies")
    func refusedCopies() throws {
        try store.succeed("create", store.address)
        try store.write(0..<2, to: "Other.strata")
        let entries = try store.entryCount
        #expect(try store.fail("join", store.address, "Other.strata", code: 1).contains("another store"))
        #expect(try store.entryCount == entries && store.commits("Other.strata").count == 2)
        let writer = try store.open("Left.strata")
        for record in ["one", "two"] { try store.save(record, to: writer) }
        try writer.close()
        try store.lose(1)
        #expect(try store.fail("join", store.address, "Left.strata", code: 1).contains("(brokenSequence)"))
    }

    @Test("A sequencer without entries is not given a store by reading")
    func emptySequencer() throws {
        try DirectorySequencer(at: store.sequence).close()
        for words in [["info"], ["log"], ["show", "1"], ["verify"], ["dump"], ["join", "Copy.strata"]] {
            let result = try store.run([words[0], store.address] + words.dropFirst())
            #expect(result.code == 3 && result.errors.contains("strata create"), "\(words): \(result)")
        }
        #expect(try store.entryCount == 0 && !RealFileSystem().exists(store.path("Copy.strata")))
    }
}
