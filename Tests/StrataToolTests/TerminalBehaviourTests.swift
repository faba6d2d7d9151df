import Foundation
import Glibc
import StrataSystem
import TestSupport
import Testing

@testable import StrataTool

/// What somebody sees who sits at a terminal: colours, progress, and ^C.
@Suite(.enabled(if: PseudoTerminal.isOffered, PseudoTerminal.whyNot)) struct TerminalBehaviourTests {
    private static let escape = "\u{1B}["

    private func show(
        _ words: String, _ environment: String = "", in directory: String, isPaged: Bool = false
    ) throws -> PseudoTerminal {
        let pager = isPaged ? "" : "PAGER= "
        return try PseudoTerminal(
            "\(pager)\(environment) exec '\(try ToolProcess.toolPath)' \(words)", in: directory)
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

    @Test func progressIsTakenAway() throws {
        let fixture = try StoreFixture.segmented()
        let terminal = try show("verify --deep \(fixture.name)", "TERM=dumb", in: fixture.directory.path)
        #expect(terminal.finish() == 0)
        let bar = try #require(terminal.text.range(of: "\r[", options: .backwards), "\(terminal.text)")
        let rest = terminal.text[bar.lowerBound...]
        #expect(rest.contains("\r\u{1B}[Klog ok: "), "the line is empty before the result comes: \(rest)")
        #expect(!rest.dropFirst(2).contains("\r["))
    }

    @Test func progressIsForTerminals() throws {
        let fixture = try StoreFixture.segmented()
        let line = "'\(try ToolProcess.toolPath)' verify --deep --color never \(fixture.name) 2> errors"
        let terminal = try PseudoTerminal("PAGER= \(line)", in: fixture.directory.path)
        #expect(terminal.finish() == 0 && terminal.text.hasPrefix("log ok: "), "\(terminal.text)")
        let errors = try RealFileSystem().readAll(fixture.directory.path("errors"), atMost: 1 << 16)
        #expect(errors.isEmpty)
    }

    // MARK: Being interrupted

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
        let fixture = try StoreFixture()
        try fixture.internNames()
        try fixture.saveNotes(20_000)
        try fixture.close()
        let terminal = try show("verify --deep \(fixture.name)", in: fixture.directory.path)
        #expect(terminal.waits(for: "\r["))
        terminal.type("\u{03}")
        let code = terminal.finish()
        #expect(code == 128 + SIGINT || code == 0, "\(String(describing: code))")
        #expect(terminal.isRestored && !terminal.text.contains("strata verify: "))
    }
}
