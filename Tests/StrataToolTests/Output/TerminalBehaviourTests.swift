import Foundation
import Glibc
import StrataSystem
import TestNeeds
import TestSupport
import Testing

@testable import StrataTool

/// What somebody sees who sits at a terminal: colours, progress, and ^C.
@Suite(.needs(.terminal)) struct TerminalBehaviourTests {
    private static let escape = "\u{1B}["

    private func show(
        _ words: String, _ environment: String = "", in directory: String, isPaged: Bool = false, columns: UInt16 = 0
    ) throws -> PseudoTerminal {
        let pager = isPaged ? "" : "PAGER= "
        return try PseudoTerminal(
            "\(pager)\(environment) exec '\(try ToolProcess.toolPath)' \(words)", in: directory, columns: columns)
    }

    // MARK: Colours

    @Test(arguments: [
        ("TERM=xterm NO_COLOR=", "", true), ("TERM=xterm NO_COLOR=1", "", false), ("TERM=dumb NO_COLOR=", "", false),
        ("TERM=xterm NO_COLOR=", "--color never", false), ("TERM=dumb NO_COLOR=1", "--color always", true),
        ("TERM=xterm NO_COLOR=", "--json", false), ("TERM=xterm NO_COLOR=", "--json --color always", false),
    ])
    func colours(_ environment: String, _ option: String, _ isColored: Bool) throws {
        let fixture = try StoreFixture.small()
        for words in ["log", "show"] {
            let operand = words == "show" ? " 2" : ""
            let terminal = try show(
                "\(words) \(fixture.name)\(operand) \(option)", environment, in: fixture.directory.path)
            #expect(terminal.finish() == 0, "\(terminal.text)")
            #expect(terminal.text.contains(Self.escape) == isColored, "\(terminal.text)")
        }
    }

    @Test func noColoursInAPipe() throws {
        let fixture = try StoreFixture.small()
        let line = "TERM=xterm '\(try ToolProcess.toolPath)' log \(fixture.name) | cat"
        let terminal = try PseudoTerminal(line, in: fixture.directory.path)
        #expect(terminal.finish() == 0 && terminal.text.contains("commit 1"))
        #expect(!terminal.text.contains(Self.escape))
    }

    @Test func damageIsRed() throws {
        let fixture = try StoreFixture.segmented()
        try fixture.flipByte(inSegment: 1)
        let red = Self.escape + "1;31mdamage"
        for (words, code) in [("verify", 1), ("segments", 3), ("repair", 1)] {
            let terminal = try show("\(words) \(fixture.name)", "TERM=xterm NO_COLOR=", in: fixture.directory.path)
            #expect(terminal.finish() == Int32(code), "\(terminal.text)")
            #expect(terminal.text.contains(red), "\(words): \(terminal.text)")
        }
    }

    // MARK: Progress

    private static let progress = "\r\u{1B}[Kstrata import: "

    /// An import that waits for the end of its input, longer than it takes a line of progress to come.
    private func stalledImport(of fixture: StoreFixture) throws -> PseudoTerminal {
        let export = try fixture.run("export", fixture.name)
        try Data(export.output.utf8).write(to: URL(fileURLWithPath: fixture.directory.path("export")))
        let line = "{ head -n 200 export; cat pipe; } | '\(try ToolProcess.toolPath)' import Copy.strata -"
        let terminal = try PseudoTerminal("mkfifo pipe; \(line)", in: fixture.directory.path)
        try #require(terminal.waits(for: Self.progress), "\(terminal.text)")
        return terminal
    }

    @Test func progressIsTakenAway() throws {
        let fixture = try StoreFixture.segmented()
        let terminal = try stalledImport(of: fixture)
        let rest = try ToolProcess.run(
            ["-c", "tail -n +201 export > pipe"], in: fixture.directory.path, program: "/bin/sh")
        #expect(rest.code == 0 && terminal.finish() == 0, "\(terminal.text)")
        let last = try #require(terminal.text.range(of: "strata import: ", options: .backwards))
        let end = terminal.text[last.upperBound...]
        #expect(end.contains(" s\r\u{1B}[K"), "the line is empty before the result comes: \(end)")
        #expect(!terminal.text.contains("[#"), "there is one style of progress: \(terminal.text)")
    }

    @Test func progressIsForTerminals() throws {
        let fixture = try StoreFixture.segmented()
        let line = "'\(try ToolProcess.toolPath)' verify --deep --color never \(fixture.name) 2> errors"
        let terminal = try PseudoTerminal("PAGER= \(line)", in: fixture.directory.path)
        #expect(terminal.finish() == 0 && terminal.text.hasPrefix("log ok: "), "\(terminal.text)")
        let errors = try RealFileSystem().readAll(fixture.directory.path("errors"), atMost: 1 << 16)
        #expect(errors.isEmpty)
    }

    // MARK: Pager

    @Test func noPagerWithoutOutput() throws {
        let fixture = try StoreFixture.small()
        for words in ["export \(fixture.name) Out", "import Copy.strata Out"] {
            let terminal = try show(
                words, "PAGER='echo started; cat'", in: fixture.directory.path, isPaged: true)
            #expect(terminal.finish() == 0, "\(terminal.text)")
            #expect(!terminal.text.contains("started"), "\(words): \(terminal.text)")
        }
    }

    @Test func noPagerForOutputThatArrivesOverTime() throws {
        let fixture = try StateFixture()
        let terminal = try show(
            "what-if \(fixture.name) --drop 4", "NO_COLOR=1 PAGER='echo started; cat'", in: fixture.directory.path,
            isPaged: true)
        #expect(terminal.finish() == 1, "\(terminal.text)")
        #expect(terminal.text.hasPrefix("commit 4  anna: accepted -> dropped"), "\(terminal.text)")
        #expect(!terminal.text.contains("started"), "\(terminal.text)")
    }

    @Test func noPagerThatIsNotThere() throws {
        let fixture = try StoreFixture.small()
        for pager in ["no-such-pager -R", "/no/such/pager"] {
            let terminal = try show(
                "log \(fixture.name)", "NO_COLOR=1 PAGER='\(pager)'", in: fixture.directory.path, isPaged: true)
            #expect(terminal.finish() == 0, "\(terminal.text)")
            #expect(terminal.text.contains("commit 1  "), "\(terminal.text)")
            #expect(terminal.text.contains("the pager '\(pager)' does not exist"), "\(terminal.text)")
        }
    }

    // MARK: Order

    @Test(arguments: [
        ("log", ["4", "3", "2", "1"]), ("log --reverse", ["1", "2", "3", "4"]), ("log -n 2", ["4", "3"]),
        ("log -n 2 --reverse", ["3", "4"]), ("log --user anna -n 2", ["4", "3"]),
    ])
    func theNewestCommitComesFirst(_ words: String, _ expected: [String]) throws {
        let fixture = try StoreFixture.small()
        func offsets(_ text: String) -> [String] {
            text.split { $0.isNewline }.compactMap { $0.split(separator: " ").first.map { String($0) } }
        }
        let terminal = try show(
            "\(words) --oneline --color never \(fixture.name)", in: fixture.directory.path)
        #expect(terminal.finish() == 0 && offsets(terminal.text) == expected, "\(terminal.text)")
        let piped = try ToolProcess.run(
            words.split(separator: " ").map { String($0) } + ["--oneline", fixture.name], in: fixture.directory.path)
        #expect(offsets(piped.output) == expected.reversed(), "programs get the order that they always got")
    }

    // MARK: Width

    @Test func helpIsAsWideAsTheTerminal() throws {
        let directory = try TestDirectory()
        for (columns, words) in [(60, "help"), (60, "log --help"), (40, "help"), (200, "help"), (0, "log --help")] {
            let terminal = try show(words, in: directory.path, columns: UInt16(columns))
            #expect(terminal.finish() == 0)
            let lines = terminal.text.split { $0.isNewline }.prefix { !$0.hasPrefix("example") }
            let widest = lines.map(\.count).max() ?? 0
            let room = columns == 0 ? 80 : min(columns, 100)
            #expect(widest <= room && widest > room * 3 / 4, "\(words) in \(columns): \(widest)")
        }
        let told = try show("help", "COLUMNS=50", in: directory.path, columns: 90)
        #expect(told.finish() == 0)
        #expect(told.text.split { $0.isNewline }.allSatisfy { $0.count <= 50 })
    }

    @Test func tablesLeaveOutWhatDoesNotFit() throws {
        let fixture = try StoreFixture.segmented()
        for (words, kept) in [("segments", "STATE"), ("frames", "CHECKSUM")] {
            for columns in [80, 60] {
                let line = "\(words) --color never \(fixture.name)"
                let terminal = try show(line, in: fixture.directory.path, columns: UInt16(columns))
                #expect(terminal.finish() == 0)
                let lines = terminal.text.split { $0.isNewline }.filter { !$0.hasPrefix("Notes.strata/") }
                #expect(lines.allSatisfy { $0.count <= columns }, "\(terminal.text)")
                #expect(terminal.text.contains(kept))
            }
            let wide = try show("\(words) --color never \(fixture.name)", in: fixture.directory.path, columns: 200)
            #expect(wide.finish() == 0)
            let piped = try fixture.run(words, fixture.name)
            #expect(wide.text.replacing("\r\n", with: "\n") == piped.output)
        }
    }

    // MARK: Being interrupted

    /// The import waits for the rest of its input, which never comes.
    @Test(arguments: [SIGINT, SIGTERM]) func interruptedWhileAStoreIsMade(_ signal: Int32) throws {
        let fixture = try StoreFixture.small()
        let folder = fixture.directory.path
        let export = try fixture.run("export", fixture.name).output
        try Data(export.split(separator: "\n").prefix(3).joined(separator: "\n").utf8 + [0x0A]).write(
            to: URL(fileURLWithPath: folder + "/Part"))
        let terminal = try PseudoTerminal(
            "mkfifo pipe && exec 3<> pipe && cat Part >&3 && exec '\(try ToolProcess.toolPath)' import New.strata pipe",
            in: folder)
        #expect(terminal.waits(for: "strata import: 3, "), "\(terminal.text)")
        let files = RealFileSystem()
        #expect(try files.list(folder).contains { $0.hasPrefix("New.strata.importing-") })
        if signal == SIGINT { terminal.type("\u{03}") } else { terminal.signal(signal) }
        #expect(terminal.finish() == 128 + signal, "\(terminal.text)")
        #expect(try !files.list(folder).contains { $0.hasPrefix("New.strata") })
        #expect(terminal.text.hasSuffix("\r\u{1B}[K") && terminal.isRestored, "\(terminal.text)")
    }

    /// The command waits for a schema, which never comes.
    @Test func interruptedBeforeThereIsOutput() throws {
        let fixture = try StoreFixture.small()
        let line = "PAGER='echo started; cat' exec '\(try ToolProcess.toolPath)' schema validate Notes.strata pipe"
        let terminal = try PseudoTerminal(
            "mkfifo pipe && exec 3<> pipe && \(line)",
            in: fixture.directory.path)
        #expect(terminal.waits(for: "strata schema: "), "\(terminal.text)")
        terminal.type("\u{03}")
        #expect(terminal.finish() == 128 + SIGINT, "\(terminal.text)")
        #expect(!terminal.text.contains("started") && terminal.text.hasSuffix("\r\u{1B}[K"), "\(terminal.text)")
    }

    @Test func interruptedWhileAFileIsWritten() throws {
        let fixture = try StoreFixture()
        try fixture.internNames()
        try fixture.saveNotes(20_000)
        try fixture.close()
        let (folder, files) = (fixture.directory.path, RealFileSystem())
        let terminal = try show("export \(fixture.name) Out", in: folder)
        while try !files.list(folder).contains(where: { $0.hasPrefix("Out") }) { usleep(1_000) }
        terminal.type("\u{03}")
        let code = terminal.finish()
        // A busy machine may have it written by then.
        #expect(code == 128 + SIGINT || code == 0, "\(String(describing: code))")
        #expect(try !files.list(folder).contains { $0.hasPrefix("Out.exporting-") })
        #expect(try files.exists(folder + "/Out") == (code == 0))
    }

    @Test func interruptedWhileItFollows() throws {
        let fixture = try StoreFixture.small()
        let terminal = try show("log --follow --oneline \(fixture.name)", in: fixture.directory.path)
        #expect(terminal.waits(for: "\n4 ") || terminal.text.contains("4 "))
        let before = terminal.text
        terminal.type("\u{03}")
        #expect(terminal.finish() == 128 + SIGINT)
        #expect(terminal.isRestored)
        let rest = String(terminal.text.dropFirst(before.count))
        #expect(!rest.contains("strata"), "nothing is said: \(rest)")
    }

    /// The pager has changed the terminal; the tool goes only when it has put it back.
    @Test func interruptedWhileAPagerShows() throws {
        let fixture = try StoreFixture()
        try fixture.internNames()
        try fixture.saveNotes(5_000)
        try fixture.close()
        let pager =
            "trap : INT; stty -echo < /dev/tty; echo started; sleep 20; cat > /dev/null; "
            + "stty echo < /dev/tty; echo restored"
        let terminal = try show(
            "log \(fixture.name)", "PAGER='\(pager)'", in: fixture.directory.path, isPaged: true)
        #expect(terminal.waits(for: "started"))
        #expect(!terminal.isRestored)
        terminal.type("\u{03}")
        #expect(terminal.finish() == 130, "\(terminal.text.suffix(300))")
        #expect(terminal.isRestored && terminal.text.contains("restored"))
        #expect(!terminal.text.contains("strata log: "))
    }

    @Test func interruptedInTheMidstOfLongWork() throws {
        let fixture = try StoreFixture.segmented()
        let terminal = try stalledImport(of: fixture)
        terminal.type("\u{03}")
        let code = terminal.finish()
        #expect(code == 128 + SIGINT, "\(String(describing: code))")
        let last = try #require(terminal.text.range(of: "strata import: ", options: .backwards))
        #expect(terminal.isRestored && terminal.text[last.upperBound...].contains(" s"), "\(terminal.text)")
        #expect(terminal.text.hasSuffix("\r\u{1B}[K"), "the line is empty at the end: \(terminal.text)")
        let names = try RealFileSystem().list(fixture.directory.path("."))
        #expect(!names.contains { $0.hasPrefix("Copy.strata") }, "\(names)")
    }
}
