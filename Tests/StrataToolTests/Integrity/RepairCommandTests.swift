import StrataSystem
import Testing

@Suite struct RepairCommandTests {
    @Test func nothingToRepair() throws {
        let fixture = try StoreFixture.small()
        let before = try fixture.content()
        for words in [["repair"], ["repair", "--apply"]] {
            let result = try ToolProcess.run(words + [fixture.name], in: fixture.directory.path)
            #expect(result.code == 0 && result.errors.isEmpty)
            #expect(result.output == "nothing to repair: the log is intact up to its end, 4/57803e49\n")
        }
        let after = try fixture.content().filter { !$0.key.hasSuffix("/LOCK") }
        #expect(after == before.filter { !$0.key.hasSuffix("/LOCK") })
    }

    /// The third commit of a small store is damaged: the dry run says what would be, and changes nothing.
    @Test func dryRun() throws {
        let fixture = try StoreFixture.small()
        try fixture.change(fixture.segments()[0], at: 520) { $0 ^ 0x10 }
        let before = try fixture.content()
        let result = try fixture.run("repair", fixture.name)
        #expect(result.code == 1 && result.errors.isEmpty)
        #expect(
            result.output == """
                damage: The checksum of a frame's header does not match. \
                [in Notes.strata/log/00000000000000000001.seg, segment 1, offset 4, position 504, \
                expected 75ff4121, found 6c8434f7] (badChecksum)
                would keep: everything up to 3/bf3902d5
                would lose: 4
                would do, in Notes.strata/log:
                  copy 00000000000000000001.seg to 00000000000000000001.seg.repaired-1
                  move tail to tail.repaired-1
                  cut 00000000000000000001.seg at position 504
                note: Notes.strata/log/repaired-1.txt
                nothing was changed: copy the store, then run it again with --apply

                """)
        #expect(try fixture.content() == before)
    }

    @Test("The plan says that a state beyond the end is lost")
    func laterState() throws {
        let fixture = try StateFixture()
        try fixture.damage(4)
        let sentence = "note: the views have the state after commit 5; a repair uses only the log"
        let result = try fixture.run("repair", fixture.name)
        #expect(result.code == 1 && result.output.contains(sentence), "\(result)")
    }

    @Test func applied() throws {
        let fixture = try StoreFixture.segmented()
        try fixture.flipByte(inSegment: 1)
        let damaged = try fixture.content()
        let whole = try fixture.run("log", "--json", fixture.name).lines
        let result = try fixture.run("repair", "--apply", fixture.name)
        #expect(result.code == 0 && result.errors.isEmpty)
        #expect(result.lines.contains { $0.hasPrefix("kept: everything up to \(whole.count)/") }, "\(result.output)")
        let lost = "lost: \(whole.count + 1) to 301; intact after the damage, and kept aside: "
        #expect(result.lines.contains { $0.hasPrefix(lost) }, "\(result.output)")
        #expect(try fixture.run("verify", fixture.name).code == 0)
        let log = try fixture.run("log", "--json", fixture.name)
        #expect(log.code == 0 && log.lines == whole)
        let kept = Set(try fixture.content().values)
        for (path, content) in damaged where path.hasSuffix(".seg") { #expect(kept.contains(content), "\(path)") }
        #expect(try fixture.run("repair", "--apply", fixture.name).output.hasPrefix("nothing to repair: "))
        try fixture.open()
        try fixture.saveNotes(1)
        try fixture.close()
        #expect(try fixture.run("verify", fixture.name).code == 0)
    }

    @Test func whatCannotBeRepairedIsSaid() throws {
        let fixture = try StoreFixture.segmented()
        try RealFileSystem().remove(try fixture.segments()[0])
        for words in [["repair"], ["repair", "--apply"]] {
            let result = try ToolProcess.run(words + [fixture.name], in: fixture.directory.path)
            #expect(result.code == 1)
            #expect(result.lines.last?.hasPrefix("cannot be repaired: The beginning of the log is lost") == true)
        }
    }

    @Test func ofALaterReleaseIsNoDamage() throws {
        let fixture = try StoreFixture.segmented()
        try fixture.makeNewer(try fixture.segments()[1])
        let before = try fixture.content()
        for words in [["verify"], ["repair"], ["repair", "--apply"]] {
            let result = try ToolProcess.run(words + [fixture.name], in: fixture.directory.path)
            #expect(result.code == 3 && result.output.isEmpty)
            #expect(result.errors.contains("The file has another version of the format"), "\(result.errors)")
            #expect(result.errors.contains("Use a newer strata"), "\(result.errors)")
        }
        let after = try fixture.content().filter { !$0.key.hasSuffix("/LOCK") }
        #expect(after == before.filter { !$0.key.hasSuffix("/LOCK") })
    }

    @Test func refusesBesideAWriter() throws {
        let fixture = try StoreFixture.segmented()
        try fixture.open()
        try fixture.flipByte(inSegment: 1)
        let result = try fixture.run("repair", "--apply", fixture.name)
        #expect(result.code == 3 && result.errors.contains("Another process or store object is writing to this store"))
        #expect(try fixture.run("repair", fixture.name).code == 1)
        try fixture.close()
        #expect(try fixture.run("repair", "--apply", fixture.name).code == 0)
    }

    @Test func noStore() throws {
        let fixture = try StoreFixture.small()
        #expect(try fixture.run("repair", "Nothing.strata").code == 3)
        let result = try fixture.run("repair", "--apply", ".")
        #expect(result.code == 3 && result.errors.contains("This is not a Strata store"))
        #expect(try !RealFileSystem().exists(fixture.directory.path("LOCK")))
    }
}
