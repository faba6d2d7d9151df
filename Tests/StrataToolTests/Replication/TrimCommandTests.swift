import Foundation
import StrataLog
import StrataModel
import StrataStore
import StrataSystem
import TestSupport
import Testing

@Suite("strata trim, end to end on a sequencer in a directory", .timeLimit(.minutes(5)))
struct TrimCommandTests {
    private let store: SequencedStore

    init() throws {
        store = try SequencedStore()
        try store.succeed("create", store.address)
    }

    /// Writes records through a copy, one commit and one entry for each.
    private func write(_ records: Range<Int>, through name: String = "A.strata") throws {
        let copy = try store.open(name)
        defer { try? copy.close() }
        for record in records { try store.save("record-\(record)", to: copy) }
    }

    private var bases: [String] {
        get throws { try RealFileSystem().list(store.sequence + "/files/bases").sorted() }
    }

    private func agrees(_ name: String) throws -> Bool {
        try store.succeed("verify", store.path(name), "--against", store.address).contains("\nagrees with ")
    }

    @Test("Entries go, a new copy begins with the base, and all copies and commands go on")
    func trim() throws {
        try write(0..<12)
        let (before, entries) = (try store.commits("A.strata"), try store.entryCount)
        let text = try store.succeed("trim", store.address, "--before", "10")
        #expect(text.hasPrefix("entries up to 10 were removed; new copies begin after commit 9/"))
        // The mark came, and ten entries went.
        #expect(try store.entryCount == entries + 1 - 10 && bases.count == 2)
        #expect(try store.succeed("join", store.address, store.path("B.strata")).hasPrefix("12 commits came; "))
        try write(12..<15, through: "B.strata")
        try write(15..<16)
        for name in ["A.strata", "B.strata"] { #expect(try agrees(name)) }
        #expect(try Array(store.commits("A.strata")[..<12]) == before)
        // What commands read of the address begins after the base.
        #expect(try store.succeed("info", store.address).contains("\nentries     11 to "))
        let info = try store.object("info", store.address)
        #expect(info["firstEntry"] as? UInt64 == 11)
        let log = try store.succeed("log", store.address, "--oneline")
        #expect(log.split(separator: "\n").count == 16 - 9)
        try store.succeed("join", store.address, store.path("B.strata"))
        let records = try store.succeed("records", store.path("B.strata"))
        #expect(try records == store.succeed("records", store.path("A.strata")) && records.contains("record-15"))
        // A second trim replaces the base.
        let object = try store.object("trim", store.address, "--before", "15", "--ignore-copies")
        #expect(object["horizon"] as? UInt64 == 14 && object["lastEntry"] as? UInt64 ?? 0 > 10)
        #expect(try bases.count == 2)
        try store.succeed("join", store.address, store.path("C.strata"))
        #expect(try agrees("C.strata"))
    }

    @Test("The base is in the directory that --files names, which other commands need then")
    func files() throws {
        let files = store.path("Other.files")
        try write(0..<5)
        try store.succeed("trim", store.address, "--before", "4", "--files", files)
        #expect(try RealFileSystem().list(files + "/bases").count == 2)
        #expect(try store.fail("join", store.address, store.path("B.strata"), code: 3).contains("no base is left"))
        try store.succeed("join", store.address, store.path("B.strata"), "--files", files)
        for words in [["info"], ["log"], ["verify"]] {
            let result = try store.run(words + [store.address, "--files", files])
            #expect(result.code == 0 && result.errors.isEmpty, "\(words): \(result)")
        }
        let misplaced = try store.run("log", store.path("A.strata"), "--files", files)
        #expect(misplaced.code == 2 && misplaced.errors.contains("--files is for a store that is given by its address"))
    }

    @Test("A temporary copy leaves no trace, and --copy keeps one with its history")
    func copies() throws {
        try write(0..<6)
        let notes = store.sequence + "/files/copies"
        let known = try RealFileSystem().list(notes)
        try store.succeed("trim", store.address, "--before", "3")
        #expect(try RealFileSystem().list(notes) == known)
        try store.succeed("trim", store.address, "--before", "5", "--copy", store.path("Kept.strata"))
        #expect(try store.commits("A.strata").count == 6)
        let kept = try LogReader.open(at: store.path("Kept.strata"))
        #expect(kept.floor.offset == 2 && kept.end.offset == 6)
        #expect(try RealFileSystem().list(notes).count == known.count + 1)
    }

    @Test("What cannot be trimmed is refused with the reason, and the sequencer stays as it is")
    func refusals() throws {
        try write(0..<4)
        try write(4..<4, through: "Slow.strata")
        try write(4..<8)
        let entries = try store.entryCount
        func refused(_ words: String..., because reason: String) throws {
            let result = try store.run(["trim", store.address] + words)
            #expect(result.code == 1 && result.output.isEmpty && result.errors.contains(reason), "\(words): \(result)")
            #expect(try store.entryCount == entries)
        }
        try refused("--before", "10", because: "past its end")
        try refused("--before", "1", because: "nothing can be trimmed")
        try refused("--before", "8", because: "Slow.strata")
        #expect(try store.run("trim", store.address).code == 2)
        #expect(try store.run("trim", store.address, "--before", "0").code == 2)
        #expect(try store.run("trim", store.path("A.strata"), "--before", "3").code == 2)
        #expect(try store.run("trim", store.address, "--before", "3", "--copy", store.address).code == 2)
        // The slow copy is told what to do once it is too late.
        try store.succeed("trim", store.address, "--before", "8", "--ignore-copies")
        let late = try store.fail("join", store.address, store.path("Slow.strata"), code: 1)
        #expect(late.contains("make a new copy"), "\(late)")
        #expect(try store.commits("Slow.strata").count == 4)
        let again = try store.run("trim", store.address, "--before", "8")
        #expect(again.code == 1 && again.errors.contains("nothing can be trimmed"))
    }

    @Test("A damaged base is reported by whoever joins; canary: entries that went without a base, too")
    func damage() throws {
        try write(0..<6)
        try store.succeed("trim", store.address, "--before", "5")
        let base = store.sequence + "/files/bases/" + (try #require(try bases.first))
        var bytes = try RealFileSystem().readAll(base, atMost: 1 << 20)
        bytes[bytes.count / 2] ^= 1
        try RealFileSystem().replace(base, in: store.sequence + "/files/bases", with: bytes)
        let damaged = try store.run("join", store.address, store.path("B.strata"))
        #expect(damaged.code == 3 && damaged.errors.contains("does not match its mark"), "\(damaged)")
        #expect(try !RealFileSystem().exists(store.path("B.strata")))
        // The copy that has all history makes another base.
        try write(6..<8)
        let again = try store.run("trim", store.address, "--before", "8", "--copy", store.path("A.strata"))
        #expect(again.code == 0 && again.output.contains("after commit 7/"), "\(again)")
        try store.succeed("join", store.address, store.path("B.strata"))
        #expect(try agrees("B.strata"))
        for name in try bases { try RealFileSystem().remove(store.sequence + "/files/bases/" + name) }
        let lost = try store.fail("join", store.address, store.path("C.strata"), code: 3)
        #expect(lost.contains("no base is left"), "\(lost)")
    }
}
