import Testing

/// Whoever reads the output may go at any time; the tool then ends quietly.
@Suite struct ClosedPipeTests {
    @Test(arguments: ["--oneline", "--json"]) func endsQuietly(_ form: String) throws {
        let fixture = try StoreFixture()
        try fixture.internNames()
        // More than a pipe and the tool's own buffer hold, so that it must meet the closed end.
        try fixture.saveNotes(20_000)
        try fixture.close()
        let tool = try fixture.start("log", form, fixture.name)
        #expect(try tool.readLine() != nil)
        tool.closePipe()
        #expect(try tool.wait() == 0)
        #expect(try tool.errors().isEmpty)
    }

    @Test func followingEndsThoughNothingIsPrinted() throws {
        let fixture = try StoreFixture.small()
        let tool = try fixture.start("log", "--oneline", "--follow", fixture.name)
        for _ in 1...4 { #expect(try tool.readLine() != nil) }
        tool.closePipe()
        #expect(try tool.wait() == 0)
        #expect(try tool.errors().isEmpty)
    }

    @Test func aFullDiskIsNoClosedPipe() throws {
        let fixture = try StoreFixture.small()
        let shell = try ToolProcess.run(
            ["-c", "\"$0\" log Notes.strata > /dev/full", try ToolProcess.toolPath], in: fixture.directory.path,
            program: "/bin/sh")
        #expect(shell.code == 3)
        #expect(shell.errors == "strata log: cannot write the output: No space left on device\n")
    }

    @Test("A closed pipe neither keeps a store from being made nor hides an error of making it")
    func aNewStore() throws {
        let fixture = try StateFixture()
        // Each is refused without its zone: more lines than the tool's own buffer holds.
        try fixture.change { try fixture.saveMany(600, bytes: 10, to: $0) }
        func whatIf(_ change: String...) throws -> (code: Int32, errors: String) {
            let words = ["what-if", fixture.name, "--json", "--out", "New.strata"] + change
            let tool = try ToolProcess(words, in: fixture.directory.path, isRead: false)
            return (try tool.wait(), try tool.errors())
        }
        #expect(try fixture.run("what-if", fixture.name, "--json", "--drop", "1").output.utf8.count > 100_000)
        let made = try whatIf("--drop", "1")
        #expect(made.code == 0 && made.errors.isEmpty, "\(made)")
        let info = try fixture.run("info", "New.strata")
        #expect(info.code == 0, "\(info)")
        let again = try whatIf("--drop", "1")
        #expect(again.code == 1 && again.errors.contains("already exists at the path"), "\(again)")
    }
}
