import Foundation
import StrataLog
import StrataModel
import StrataStore
import StrataSystem
import TestSupport
import Testing

@Suite("strata erase on the address of a sequencer, end to end", .timeLimit(.minutes(5)))
struct SequencedErasureTests {
    private let store: SequencedStore
    private let secret = SeededGenerator(seed: 5).text

    init() throws {
        store = try SequencedStore()
        try store.succeed("create", store.address)
        let copy = try store.open("A.strata")
        defer { try? copy.close() }
        for number in 0..<3 { try store.save("card", to: copy, title: "\(number) \(secret)") }
        try store.save("note", to: copy)
    }

    /// The files below the test's directory in which the secret stands.
    private func files(in name: String) throws -> [String] {
        let root = URL(fileURLWithPath: store.path(name))
        let found = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
        return try (found?.allObjects as? [URL] ?? []).filter { url in
            guard try url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else { return false }
            return isFound(Array(secret.utf8), in: Array(try Data(contentsOf: url)))
        }.map(\.lastPathComponent)
    }

    @Test("It says which copies have it, and which trim removes it from the sequencer, and info says so later")
    func erase() throws {
        try store.open("B.strata").close()
        let plan = try store.succeed("erase", store.address, "card")
        #expect(plan.hasPrefix("_defaultZone / Item / card: 3 versions, present\n"))
        #expect(plan.contains("nothing was changed"))
        #expect(try !store.succeed("info", store.address).contains("erasure"))
        let text = try store.succeed("erase", store.address, "card", "--reason", "asked for", "--apply")
        #expect(text.hasPrefix("_defaultZone / Item / card: 3 versions, present, erased\n"), "\(text)")
        #expect(text.contains("erased in 0 of 2 copies"), "\(text)")
        for name in ["A.strata", "B.strata"] { #expect(text.contains("not yet: \(store.path(name)), ")) }
        let command = "strata trim \(store.address) --before 6"
        #expect(text.contains("the sequencer has the data until '\(command)'"), "\(text)")
        #expect(try !files(in: "A.strata").isEmpty && !files(in: "Notes.sequence").isEmpty)
        // One copy is updated by the tool, the other by its program.
        try store.succeed("join", store.address, store.path("A.strata"))
        #expect(try files(in: "A.strata") == [])
        let info = try store.succeed("info", store.address)
        #expect(info.contains("\nerasure     commit 5\n            erased in 1 of 2 copies"), "\(info)")
        #expect(info.contains("not yet: \(store.path("B.strata")), ") && !info.contains("A.strata"))
        let object = try store.object("info", store.address)
        #expect(object["erasure"] as? UInt64 == 5 && object["trimBefore"] as? UInt64 == 6)
        #expect(object["waiting"] as? [String] == [store.path("B.strata")])
        try store.open("B.strata").close()
        #expect(try files(in: "B.strata") == [])
        #expect(try store.object("info", store.address)["waiting"] as? [String] == [])
        try store.succeed("trim", store.address, "--before", "6")
        #expect(try files(in: "Notes.sequence") == [] && !store.succeed("info", store.address).contains("erasure"))
        #expect(try store.succeed("records", store.path("B.strata")).contains("note"))
        let verified = try store.succeed("verify", store.path("A.strata"), "--against", store.address)
        #expect(verified.contains("\nagrees with "))
    }

    @Test("What commands read of the address has it no more, nor do copies that they keep; history cannot be copied")
    func reading() throws {
        let kept = store.path("Kept.strata")
        try store.succeed("log", store.address, "--copy", kept)
        #expect(try !files(in: "Kept.strata").isEmpty)
        let object = try store.object(
            "erase", store.address, "card", "--reason", "asked for", "--apply", "--copy", store.path("Mine.strata"))
        #expect(object["erased"] as? Bool == true && object["trimBefore"] as? UInt64 == 6)
        // The copy of the command counts as one, and has done it.
        #expect(object["waiting"] as? [String] == [store.path("A.strata")])
        #expect(try files(in: "Mine.strata") == [])
        let log = try store.succeed("log", store.address, "--patch", "--copy", kept)
        #expect(!log.contains(secret) && log.contains("card"))
        #expect(try files(in: "Kept.strata") == [])
        #expect(try !store.succeed("show", store.address, "1").contains(secret))
        // A copy is made from the entries, a standby from what a copy has left.
        try store.succeed("replicate", store.address, store.path("B.strata"))
        #expect(try files(in: "B.strata") == [])
        let standby = try store.run("replicate", kept, store.path("Standby.strata"))
        #expect(standby.code == 1 && standby.errors.contains("Data was erased from a commit"), "\(standby)")
        let lone = store.path("Lone.strata")
        try store.succeed("promote", kept, "--force")
        try RealFileSystem().rename(kept, to: lone)
        let refused = try store.run("create", "file://" + store.path("New.sequence"), "--from", lone)
        #expect(refused.code == 1 && refused.errors.contains("Data was erased from a commit"), "\(refused)")
    }

    @Test("What cannot be erased is refused with the reason")
    func refusals() throws {
        let entries = try store.entryCount
        let unknown = try store.run("erase", store.address, "never", "--reason", "x", "--apply")
        #expect(unknown.code == 1 && unknown.errors.contains("There is no record 'never'"), "\(unknown)")
        #expect(try store.entryCount == entries)
        #expect(try store.run("erase", store.address, "card", "--apply").code == 2)
        let copy = try store.run("erase", store.path("A.strata"), "card", "--reason", "x", "--apply")
        #expect(copy.code != 0 && copy.errors.contains("several processes write"), "\(copy)")
        #expect(try store.entryCount == entries)
    }
}

extension SeededGenerator {
    /// Letters that no compression finds again.
    fileprivate var text: String {
        var generator = self
        return String(decoding: generator.nextBytes(24).map { UInt8(ascii: "a") + $0 % 26 }, as: UTF8.self)
    }
}
