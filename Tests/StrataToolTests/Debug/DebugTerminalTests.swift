import Foundation
import Glibc
import StrataModel
import StrataSystem
import TestNeeds
import TestSupport
import Testing

@testable import StrataTool

/// `strata debug` for somebody who sits at a terminal: keys, completion, history, ^C and ^D.
@Suite(.needs(.terminal)) struct DebugTerminalTests {
    private static let (up, left, right) = ("\u{1B}[A", "\u{1B}[D", "\u{1B}[C")

    private func debug(
        _ fixture: StateFixture, _ more: String = "--user anna", _ environment: String = "TERM=xterm NO_COLOR=1"
    ) throws -> PseudoTerminal {
        try debug(fixture.name, in: fixture.directory.path, more, environment)
    }

    private func debug(
        _ store: String, in directory: String, _ more: String, _ environment: String = "TERM=xterm NO_COLOR=1"
    ) throws -> PseudoTerminal {
        let line = "exec '\(try ToolProcess.toolPath)' debug \(store) \(more)"
        return try PseudoTerminal("XDG_STATE_HOME='\(directory)/state' \(environment) \(line)", in: directory)
    }

    @Test func aSessionFromBeginningToEnd() throws {
        let fixture = try StateFixture()
        let terminal = try debug(fixture)
        #expect(terminal.waits(for: "Notes.strata, offsets 1 to 5; 'help' lists the commands"))
        #expect(terminal.waits(for: "strata 0> "))
        terminal.type("stpe\r")
        #expect(terminal.waits(for: "unknown command stpe; did you mean step?"))
        terminal.type("s 3\r")
        #expect(terminal.waits(for: "strata 3> "))
        // An empty line does it again, as far as there are commits.
        terminal.type("\r")
        #expect(terminal.waits(for: "the end: there are no more commits"))
        #expect(terminal.waits(for: "strata 5> "))
        terminal.type("print gone rank\r")
        #expect(terminal.waits(for: "there is no record gone here, after commit 5"))
        terminal.type("back\r")
        #expect(terminal.waits(for: "strata 4> "))
        terminal.type("print gone rank\r")
        #expect(terminal.waits(for: "rank = 1"))
        terminal.type("\u{04}")
        #expect(terminal.finish() == 0)
        #expect(terminal.isRestored && !terminal.text.contains("\u{1B}[1m"))
    }

    @Test(.needs(.libedit)) func arrowsHistoryAndCompletion() throws {
        let fixture = try StateFixture()
        let terminal = try debug(fixture)
        #expect(terminal.waits(for: "strata 0> "))
        terminal.type("step 9\(Self.left)\(Self.right)\u{7F}2\r")
        #expect(terminal.waits(for: "strata 2> "))
        terminal.type(Self.up + "\r")
        #expect(terminal.waits(for: "strata 4> "))
        terminal.type("pri\tmil\tran\t\r")
        #expect(terminal.waits(for: "rank = 3"))
        terminal.type("break dev\ttab\t\r")
        #expect(terminal.waits(for: "breakpoint 1: device tablet"))
        terminal.type("query No\t--zo\tNot\t--keys rank\r")
        #expect(terminal.waits(for: "rank=3"), "\(terminal.text)")
        terminal.type("never sent\u{03}")
        // Between two lines it would take back what was typed ahead.
        terminal.type("quit\r")
        #expect(terminal.finish() == 0 && terminal.isRestored)
        // The next session remembers it, but not what was never sent.
        let next = try debug(fixture)
        #expect(next.waits(for: "strata 0> "))
        next.type(String(repeating: Self.up, count: 4) + "\r")
        #expect(next.waits(for: "there is no record milk here"))
        next.type("\u{12}step\r")
        #expect(next.waits(for: "strata 2> "))
        next.type("\u{04}")
        #expect(next.finish() == 0)
        let path = fixture.directory.path("state/strata/debug_history")
        let kept = try String(contentsOfFile: path, encoding: .utf8).replacing("\\040", with: " ")
        let typed = "step 2\nprint milk rank \nbreak device tablet \nquery Note --zone Notes --keys rank\nquit\n"
        #expect(kept.contains("\n" + typed), "\(kept)")
        #expect(try ToolProcess.run(["-c", "%a", path], in: "/tmp", program: "/usr/bin/stat").output == "600\n")
    }

    /// Some come while a command runs, when a terminal that edits lines itself would take them.
    @Test(.needs(.libedit)) func keysTypedAheadAreForTheNextLine() throws {
        let fixture = try StateFixture()
        let terminal = try debug(fixture)
        #expect(terminal.waits(for: "strata 0> "))
        for round in 0..<60 {
            let before = terminal.shown.count
            terminal.type("step\r")
            usleep(50 << UInt32(round % 6))
            terminal.type("bad\u{15}goto stx\u{7F}art\r")
            try #require(terminal.waits(for: "the beginning: there is no commit yet", from: before))
        }
        terminal.type("step 9\r")
        #expect(terminal.waits(for: "the end: there are no more commits"))
        terminal.type("\u{04}")
        #expect(terminal.finish() == 0 && terminal.isRestored)
        #expect(!terminal.text.contains("unknown command"), "\(terminal.text)")
    }

    /// A session goes on where its lines cannot be kept.
    @Test func aHistoryWithoutAPlace() throws {
        let fixture = try StateFixture()
        let line = "exec '\(try ToolProcess.toolPath)' debug \(fixture.name)"
        let terminal = try PseudoTerminal("XDG_STATE_HOME=/dev/null TERM=xterm \(line)", in: fixture.directory.path)
        #expect(terminal.waits(for: "strata 0> "))
        terminal.type("step 2\r")
        #expect(terminal.waits(for: "strata 2> "))
        terminal.type("\u{04}")
        #expect(terminal.finish() == 0 && terminal.isRestored)
    }

    @Test func interruptedWhileItGoesOn() throws {
        let fixture = try StoreFixture()
        try fixture.internNames()
        try fixture.saveNotes(5_000)
        try fixture.close()
        let terminal = try debug(fixture.name, in: fixture.directory.path, "")
        #expect(terminal.waits(for: "strata 0> "))
        terminal.type("break refusal\r")
        #expect(terminal.waits(for: "breakpoint 1: refusal"))
        // Again and again between both ends, until one is met on its way. What comes too early or too late is a key for
        // the next line.
        var isMet = false
        for round in 0..<200 where !isMet {
            let before = terminal.shown.count
            terminal.type("continue\r")
            usleep(1_000 << UInt32(round % 6))
            terminal.type("\u{03}")
            terminal.type("goto start\r")
            try #require(terminal.waits(for: "the beginning: there is no commit yet", from: before))
            isMet = terminal.text.contains("interrupted")
        }
        #expect(isMet, "\(terminal.text.suffix(2_000))")
        terminal.type("step\r")
        #expect(terminal.waits(for: "strata 1> "))
        terminal.type("quit\r")
        #expect(terminal.finish() == 0 && terminal.isRestored)
    }

    /// In the middle of the log, which the state does not need.
    @Test func damageIsToldAndTheSessionGoesOn() throws {
        let fixture = try StoreFixture.sealed()
        #expect(try fixture.run("rebuild-views", fixture.name, "--apply").code == 0)
        let place = try fixture.middle(ofSegment: 1)
        let last = try fixture.middle(ofSegment: 3)
        try fixture.change(fixture.place(of: place).path, at: fixture.place(of: place).range.lowerBound + 20) {
            $0 ^ 0x10
        }
        let terminal = try debug(fixture.name, in: fixture.directory.path, "")
        #expect(terminal.waits(for: "strata 0> "))
        terminal.type("step 2\r")
        #expect(terminal.waits(for: "strata 2> "))
        terminal.type("step 500\r")
        #expect(terminal.waits(for: "badChecksum"), "\(terminal.text)")
        terminal.type("back\r")
        #expect(terminal.waits(for: "strata 1> "), "it has stayed where it was")
        terminal.type("goto \(last)\r")
        #expect(terminal.waits(for: "strata \(last)> "), "what is behind the damage is whole")
        terminal.type("break refusal\rrcontinue\rwhere\r")
        #expect(terminal.waits(for: "after commit \(last);"), "\(terminal.text)")
        terminal.type("\u{04}")
        #expect(terminal.finish() == 0 && terminal.isRestored)
    }

    @Test(.needs(.libedit), arguments: [SIGTERM, SIGHUP, SIGQUIT])
    func aSignalPutsTheTerminalBack(_ number: Int32) throws {
        let fixture = try StateFixture()
        let terminal = try debug(fixture)
        #expect(terminal.waits(for: "strata 0> "))
        #expect(!terminal.isRestored, "every key comes at once")
        terminal.signal(number)
        #expect(terminal.finish() == 128 + number)
        #expect(terminal.isRestored)
    }

    /// Setting the terminal in the background would stop the process instead of ending it.
    @Test(.needs(.libedit)) func aSignalInTheBackgroundLeavesTheTerminalAlone() throws {
        let fixture = try StoreFixture()
        try fixture.internNames()
        let notes = try (0..<3_000).map { try fixture.noteEvent("a note with a long name \($0)") }
        try fixture.append(Envelope(header: StoreFixture.header, events: notes).encoded())
        try fixture.close()
        // When the session is stopped (147), the shell goes on with a job that sets the terminal.
        let line = """
            set -m; export TERM=xterm NO_COLOR=1 XDG_STATE_HOME="$PWD/state"; \
            sh -c 'echo $$ >session; exec "$0" debug \(fixture.name)' '\(try ToolProcess.toolPath)'; \
            stty sane -echo; kill %1; kill -CONT %1; code=147; \
            while [ $code = 147 ]; do sleep 0.05; wait %1; code=$?; done; echo "ended $code"
            """
        let terminal = try PseudoTerminal(line, in: fixture.directory.path)
        #expect(terminal.waits(for: "strata 0> "))
        terminal.type("step 2\r")
        #expect(terminal.waits(for: "strata 2> "))
        // The output is larger than the terminal's buffer, so the command does not end before it is read.
        terminal.type("print\r")
        #expect(eventually { terminal.takesSignals })
        let session = try String(contentsOfFile: fixture.directory.path("session"), encoding: .utf8)
        kill(try #require(pid_t(session.dropLast())), SIGSTOP)
        #expect(terminal.waits(for: "ended \(128 + SIGTERM)"), "\(terminal.text.suffix(200))")
        #expect(!terminal.isRestored, "the terminal is as the other job has set it")
        #expect(terminal.finish() == 0)
    }

    @Test func aDumbTerminalGivesLines() throws {
        let fixture = try StateFixture()
        let terminal = try debug(fixture, "--user anna", "TERM=dumb")
        #expect(terminal.waits(for: "strata 0> "))
        terminal.type("step 2\n")
        #expect(terminal.waits(for: "strata 2> "))
        terminal.type("\u{04}")
        #expect(terminal.finish() == 0 && terminal.isRestored)
        #expect(!terminal.text.contains("\u{1B}"))
    }

    @Test func coloursSayNothingAlone() throws {
        let fixture = try StateFixture()
        let commands = "-e 'watch milk rank' -e continue -e continue -e diff"
        let colored = try debug(fixture, "--user anna \(commands)", "TERM=xterm NO_COLOR=")
        #expect(colored.finish() == 0 && colored.text.contains("\u{1B}[31m"))
        let plain = try debug(fixture, "--user anna \(commands)", "TERM=xterm NO_COLOR=1")
        #expect(plain.finish() == 0 && !plain.text.contains("\u{1B}["))
        #expect(colored.text.replacing(/\u{1B}\[[0-9;]*m/, with: "") == plain.text)
    }
}
