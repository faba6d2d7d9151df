import Foundation
import StrataLog
import StrataModel
import StrataStore
import StrataSystem
import StrataTree
import StrataViews
import TestSupport
import Testing

/// `verify --deep`: the views against a fresh fold of the log, their frames, and the files of assets.
@Suite struct DeepVerifyTests {
    private let fixture: StateFixture

    init() throws { fixture = try StateFixture() }

    private func deep() throws -> ToolResult { try fixture.run("verify", "--deep", fixture.name) }

    private func object() throws -> [String: Any] {
        try #require(try fixture.objects("verify", "--deep", fixture.name).first)
    }

    /// Writes a state whose trees are not what the log gives; frames and checksums are all right.
    private func alter(opaque: ([UInt8]) -> [UInt8] = { $0 }, _ body: (Fork) throws -> Void) throws {
        let log = try LogReader.open(at: fixture.path)
        let owner = Views.owner(log.identity.storeID)
        let opened = try TreeStore.open(in: fixture.path, owner, hashed: Views.hashed) { _ in true }
        let state = try #require(opened.state)
        let fork = try opened.store.fork()
        try body(fork)
        try opened.store.publish(fork)
        try opened.store.freeze()
        let waiting = try #require(opened.store.nextToFlush())
        try opened.store.flush(waiting, at: state.position, opaque: opaque(state.opaque))
    }

    /// An entry of a tree whose key has these bytes.
    private func entry(_ id: TreeID, holding text: String, in fork: Fork) throws -> (key: [UInt8], row: [UInt8]) {
        var found: (key: [UInt8], row: [UInt8])?
        try fork.scan(id, from: nil, to: nil) { key, row in
            if String(decoding: key, as: UTF8.self).contains(text) { found = ([UInt8](key), [UInt8](row)) }
            return found == nil
        }
        return try #require(found)
    }

    private func put(_ id: TreeID, _ key: [UInt8], _ row: [UInt8], in fork: Fork) throws {
        try key.withUnsafeBytes { key in try row.withUnsafeBytes { try fork.put(id, key, $0) } }
    }

    // MARK: All is well

    @Test func aWholeStore() throws {
        let before = try fixture.content()
        let result = try deep()
        #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
        #expect(result.lines[0].hasPrefix("log ok: 5 commits, "))
        #expect(result.lines[1].hasPrefix("views ok: the state at 5 has "), "\(result.output)")
        #expect(result.lines[2] == "assets ok: 1 file, 3 bytes")
        #expect(result.lines.count == 3)
        #expect(try fixture.content() == before)
        #expect(try fixture.run("verify", fixture.name).output.hasPrefix("ok: 5 commits, "))
    }

    @Test func json() throws {
        let object = try object()
        try PromisedKeys.expect(object, follows: "What `verify` prints")
        let views = try #require(object["views"] as? [String: Any])
        try PromisedKeys.expect(views, follows: "Views that were compared")
        #expect(views["found"] as? String == "whole" && views["folded"] as? Int == 5)
        let states = try #require(views["states"] as? [[String: Any]])
        for state in states { try PromisedKeys.expect(state, follows: "A state that was compared") }
        #expect(states.last?["ok"] as? Bool == true)
        let assets = try #require(object["assets"] as? [String: Any])
        try PromisedKeys.expect(assets, follows: "Assets that were read")
        #expect(assets["files"] as? Int == 1 && assets["bytes"] as? Int == 3)
        #expect(try fixture.objects("verify", fixture.name).first?["views"] == nil)
    }

    @Test func viewsThatAreMissingOrBehindAreNoDamage() throws {
        try fixture.change { try fixture.save("late", ["rank": .int64(9)], to: $0) }
        let behind = try deep()
        #expect(behind.code == 0, "\(behind)")
        #expect(behind.output.contains("views ok: the state at 5 "))
        #expect(behind.output.contains("note: the log continues after the state, up to commit 6"))
        try FileManager.default.removeItem(atPath: fixture.path + "/views")
        let missing = try deep()
        #expect(missing.code == 0 && missing.output.contains("note: there are no views"), "\(missing)")
        #expect(missing.output.contains("assets ok: 1 file"))
        #expect((try object()["views"] as? [String: Any])?["found"] as? String == "none")
    }

    @Test func olderStatesAreComparedToo() throws {
        for _ in 0..<4 { try fixture.change { try fixture.saveMany(20, bytes: 100_000, to: $0) } }
        let views = try #require(try object()["views"] as? [String: Any])
        let states = try #require(views["states"] as? [[String: Any]])
        let offsets = states.compactMap { $0["offset"] as? Int }
        #expect(offsets.count > 1 && offsets == offsets.sorted(), "\(offsets)")
        #expect(offsets.last == views["folded"] as? Int)
        #expect(states.allSatisfy { $0["ok"] as? Bool == true })
        #expect(try deep().output.contains("; digests of \(offsets.count - 1) older ones match too"))
    }

    @Test func historyThatWasLetGoIsFoldedFromItsBase() throws {
        try fixture.change { store in
            try fixture.saveMany(40, bytes: 10_000, to: store)
            try store.compact(before: 30)
            try fixture.save("milk", ["photo": nil], to: store)
        }
        let result = try deep()
        #expect(result.code == 0 && result.output.contains("views ok: "), "\(result)")
        #expect(result.output.contains("after a base for all commits up to"))
    }

    // MARK: What differs

    @Test func aChangedRecordIsNamedWithItsCommit() throws {
        try alter { fork in
            let (key, row) = try entry(ViewTree.records, holding: "milk", in: fork)
            // In the fields, behind what the header says.
            try put(ViewTree.records, key, row.dropLast() + [row[row.count - 1] ^ 1], in: fork)
        }
        let result = try deep()
        #expect(result.code == 1 && result.errors.isEmpty, "\(result)")
        for line in [
            "views differ: 1 entry of the state at 5", "  first commit that produced one of them: 4",
            "  changed in records: record milk of zone Notes, from commit 4",
        ] { #expect(result.lines.contains { $0 == line }, "\(line) in \(result.output)") }
        let object = try object()
        #expect(object["ok"] as? Bool == false && object["damage"] is NSNull)
        let views = try #require(object["views"] as? [String: Any])
        #expect(views["firstOffset"] as? Int == 4)
        let difference = try #require((views["differences"] as? [[String: Any]])?.first)
        try PromisedKeys.expect(difference, follows: "An entry that differs")
        #expect(difference["offset"] as? Int == 4 && difference["tree"] as? String == "records")
        // Folding it anew mends it.
        #expect(try fixture.run("rebuild-views", "--apply", fixture.name).code == 0)
        #expect(try deep().code == 0)
    }

    @Test func theFirstCommitIsThatOfAllDifferences() throws {
        try alter { fork in
            for name in ["milk", "list"] {
                let (key, _) = try entry(ViewTree.records, holding: name, in: fork)
                _ = try key.withUnsafeBytes { try fork.delete(ViewTree.records, $0) }
            }
            let (key, row) = try entry(ViewTree.records, holding: "news", in: fork)
            try put(ViewTree.records, key + Array("paper".utf8), row, in: fork)
        }
        let result = try deep()
        #expect(result.code == 1 && result.output.contains("  first commit that produced one of them: 3"), "\(result)")
        // As the parent of a note it has the version of the note's change.
        #expect(result.output.contains("  missing in records: record list of zone Notes, from commit 4"))
        #expect(result.output.contains("  missing in records: record milk of zone Notes, from commit 4"))
        #expect(result.output.contains("  surplus in records: record newspaper of zone _defaultZone, from commit 3"))
    }

    @Test func rowsOfOtherTreesAreNamed() throws {
        try alter { fork in
            let (reference, _) = try entry(ViewTree.references, holding: "milk", in: fork)
            _ = try reference.withUnsafeBytes { try fork.delete(ViewTree.references, $0) }
            let (name, row) = try entry(ViewTree.ordinals, holding: "Work", in: fork)
            try put(ViewTree.ordinals, name, [row[0] + 40], in: fork)
        }
        let result = try deep()
        #expect(result.code == 1, "\(result)")
        #expect(
            result.output.contains(
                "reference from record milk of zone Notes to record list of zone Notes, from commit 4"),
            "\(result.output)")
        #expect(result.output.contains("changed in ordinals: ordinal of a zone whose key ends in "), "\(result.output)")
        #expect(result.output.contains("  first commit that produced one of them: 1"), "\(result.output)")
    }

    @Test func aMissingRowOfAnIndexIsNamed() throws {
        try fixture.change { store in
            try store.declareIndexes(type: "Note", fields: [("rank", .queryable)])
            store.awaitIndexes()
        }
        let whole = try deep()
        #expect(whole.code == 0, "\(whole)")
        try alter { fork in
            let (row, _) = try entry(ViewTree.index, holding: "milk", in: fork)
            _ = try row.withUnsafeBytes { try fork.delete(ViewTree.index, $0) }
        }
        let result = try deep()
        #expect(result.code == 1, "\(result)")
        #expect(
            result.output.contains(
                "missing in index: index of Note.rank (ordered), row of record milk of zone Notes, from commit 4"),
            "\(result.output)")
    }

    @Test func aWrongDigestOfAState() throws {
        try alter(opaque: { $0.dropLast() + [$0[$0.count - 1] ^ 1] }) { fork in
            let (key, row) = try entry(ViewTree.records, holding: "milk", in: fork)
            try put(ViewTree.records, key, row, in: fork)
        }
        let result = try deep()
        #expect(result.code == 1, "\(result)")
        #expect(result.output.contains("views differ: the digests of the state at 5\n  expected: state "))
        #expect(result.output.contains("\n  noted: state ") && !result.output.contains("sum of its trees"))
    }

    // MARK: Damage

    private func views(_ end: String) throws -> [String] {
        let directory = fixture.path + "/views"
        return try RealFileSystem().list(directory).filter { $0.hasPrefix(end) || $0.hasSuffix(end) }
            .map { "\(directory)/\($0)" }
    }

    @Test func aFlippedByteInAFrame() throws {
        var damaged: [Int] = []
        for path in try views(".run") {
            let name = path.split(separator: "/").last ?? ""
            let size = try RealFileSystem().readAll(path, atMost: 1 << 24).count
            for place in stride(from: 16_384 + 100, to: size, by: 16_384) {
                let file = try RealFileSystem().open(path, .write)
                defer { file.close() }
                let byte = try file.read(count: 1, at: place)
                try file.write([byte[0] ^ 0x04], at: place)
                let result = try deep()
                if result.code == 1 {
                    damaged.append(place)
                    let isOfState = result.output.contains("no state can be used")
                    #expect(isOfState || result.output.contains("/views/\(name)"), "\(result)")
                } else {
                    #expect(result.code == 0, "\(result)")
                }
                try file.write(byte, at: place)
            }
        }
        #expect(damaged.count > 5, "frames of the state: \(damaged)")
        #expect(try deep().code == 0)
    }

    @Test func damagedStates() throws {
        for path in try views("state-") {
            let file = try RealFileSystem().open(path, .write)
            defer { file.close() }
            try file.write([0xFF], at: 40)
        }
        let result = try deep()
        #expect(result.code == 1, "\(result)")
        #expect(result.output.contains("views damaged: no state can be used, they are damaged"))
    }

    // MARK: Assets

    private func asset() throws -> String {
        let files = RealFileSystem()
        let folder = try #require(try files.list(fixture.path + "/assets").first { $0.utf8.count == 2 })
        let path = "\(fixture.path)/assets/\(folder)"
        return path + "/" + (try #require(try files.list(path).first))
    }

    @Test(arguments: ["missing", "renamed", "longer", "changed"]) func assets(_ way: String) throws {
        let (files, path) = (RealFileSystem(), try asset())
        switch way {
        case "missing": try files.remove(path)
        case "renamed": try files.rename(path, to: path.dropLast() + (path.hasSuffix("0") ? "1" : "0"))
        case "longer": try Data("abcd".utf8).write(to: URL(fileURLWithPath: path))
        default: try Data("abd".utf8).write(to: URL(fileURLWithPath: path))
        }
        let result = try deep()
        #expect(result.code == 1 && result.output.contains("views ok: "), "\(result)")
        #expect(result.output.contains("assets damaged: 1 of 1 file"))
        let words = ["longer": "4 bytes instead of 3: ", "changed": "content does not match its name: "]
        #expect(result.output.contains("  " + (words[way] ?? "missing: ") + "Notes.strata/assets/"), "\(result)")
        #expect(result.output.contains(", named by commit 2"))
        #expect(result.output.contains("note: 1 file that no commit names:") == (way == "renamed"))
        let problem = try #require(((try object()["assets"] as? [String: Any])?["problems"] as? [[String: Any]])?.first)
        try PromisedKeys.expect(problem, follows: "An asset's problem")
    }

    @Test func filesThatNoCommitNamesAreNoted() throws {
        let stray = fixture.path + "/assets/notes.txt"
        try Data("mine".utf8).write(to: URL(fileURLWithPath: stray))
        let result = try deep()
        #expect(result.code == 0, "\(result)")
        #expect(result.output.hasSuffix("note: 1 file that no commit names:\n  Notes.strata/assets/notes.txt\n"))
    }

    // MARK: The log

    @Test func aDamagedLogComesFirst() throws {
        try fixture.damage(3)
        let result = try deep()
        #expect(result.code == 1 && result.lines[0] == "damaged", "\(result)")
        #expect(result.output.contains("note: the views and assets were not checked: the log comes first"))
        #expect(try object()["views"] == nil)
    }

    @Test func aCommitThatDoesNotFitTheOthers() throws {
        let bad = try StoreFixture.small()
        try bad.open()
        // Deletes a record in a zone that there is not.
        let event = try RecordDeletedEvent(
            RecordKey(zone: 77, name: "x"), type: 1, previous: Version(offset: 2, eventIndex: 0)
        ).event()
        try bad.append(Envelope(header: StoreFixture.header, events: [event]).encoded())
        try bad.close()
        #expect(try bad.run("verify", bad.name).code == 0)
        let result = try bad.run("verify", "--deep", bad.name)
        #expect(result.code == 1, "\(result)")
        #expect(result.output.contains("log damaged: a commit does not fit the commits before it"), "\(result)")
    }

    /// No state of a writer at work is ever taken for damage, however fast they come.
    @Test func besideAWriter() throws {
        let directory = try TestDirectory()
        let path = directory.path("Busy.strata")
        let writer = try ChildProcess(ChildProcess.product("store-child"), [path, "1"])
        #expect(writer.waitForLine())
        usleep(300_000)
        for _ in 0..<8 {
            let result = try ToolProcess.run("verify", "--deep", "Busy.strata", in: directory.path)
            #expect(result.code == 0, "\(result)")
        }
        writer.kill()
        let last = try ToolProcess.run("verify", "--deep", "Busy.strata", in: directory.path)
        #expect(last.code == 0 && last.output.contains("views ok: "), "\(last)")
    }

    @Test func nothingIsLeftInTheTemporaryDirectory() throws {
        let scratch = try TestDirectory()
        let shell = "TMPDIR='\(scratch.path)' '\(try ToolProcess.toolPath)' verify --deep Notes.strata"
        let result = try ToolProcess.run(["-c", shell], in: fixture.directory.path, program: "/bin/sh")
        #expect(result.code == 0, "\(result)")
        #expect(try RealFileSystem().list(scratch.path).isEmpty)
    }
}
