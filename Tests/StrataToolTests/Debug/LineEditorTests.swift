import StrataSystem
import TestSupport
import Testing

@testable import StrataTool

/// The line that somebody types in a debugger's session, key by key.
@Suite struct LineEditorTests {
    private static let escape = "\u{1B}"

    /// What a line editor gives for what is typed, and what it remembers.
    private func typed(
        _ keys: String, history: [String] = [], completion: @escaping (String) -> LineEditor.Completion = none
    ) throws -> (answers: [LineEditor.Answer], shown: String, lines: [String]) {
        var bytes = Array(keys.utf8)[...]
        let reader = LineKeyReader { _ in bytes.popFirst() }
        var shown = ""
        var kept = LineHistory(path: nil)
        for line in history { kept.add(line) }
        let editor = LineEditor(history: kept, keys: reader, show: { shown += $0 }, completion: completion)
        var answers: [LineEditor.Answer] = []
        while answers.last != .ended { answers.append(try editor.read("> ")) }
        return (answers, shown, editor.history.lines)
    }

    private static func none(_ text: String) -> LineEditor.Completion { .init(start: text.count, candidates: []) }

    private func line(_ keys: String, history: [String] = []) throws -> String? {
        guard case .line(let text)? = try typed(keys + "\r", history: history).answers.first else { return nil }
        return text
    }

    @Test(arguments: [
        ("step", "step"), ("stp\u{1B}[Dep\u{7F}\u{1B}[C", "step"), ("tep\u{01}s", "step"),
        ("step\u{1B}[H\u{0B}back", "back"),
        ("a b\u{17}c", "a c"), ("abc\u{15}d", "d"), ("ab\u{1B}[D\u{1B}[3~c", "ac"), ("ab\u{02}\u{04}", "a"),
        ("one two\u{1B}[1;5D\u{1B}[1;5DX", "Xone two"), ("one two\u{01}\u{1B}f!", "one! two"),
        ("a\u{1B}[F\u{05}b", "ab"),
        ("é\u{7F}e", "e"), ("e\u{301}x\u{7F}\u{7F}y", "y"), ("👩‍👩‍👧z\u{1B}[D\u{7F}", "z"), ("a\u{1B}[99~b", "ab"),
        ("日本\u{1B}[D語", "日語本"), ("\u{1B}OAx", "x"),
    ])
    func keys(_ typed: String, _ wanted: String) throws { #expect(try line(typed) == wanted, "\(Array(typed.utf8))") }

    @Test func historyIsWalkedAndWhatIsTypedStays() throws {
        let history = ["step", "back", "list"]
        #expect(try line("\u{1B}[A", history: history) == "list")
        #expect(try line("\u{1B}[A\u{1B}[A\u{1B}[A\u{1B}[A", history: history) == "step")
        #expect(try line("ne\u{1B}[A\u{1B}[Bw", history: history) == "new")
        #expect(try line("\u{10}\u{10} 2", history: history) == "back 2")
        #expect(try line("\u{12}st", history: history) == "list")
        #expect(try line("\u{12}st\u{12}", history: history) == "step")
        #expect(try line("x\u{12}ba\u{06}!", history: history) == "back!")
        let all = try typed("step\rstep\r \rback\r")
        #expect(all.lines == ["step", "back"])
    }

    @Test func theEnds() throws {
        #expect(try typed("").answers == [.ended])
        #expect(try typed("\u{04}").answers == [.ended])
        #expect(try typed("st\u{03}back\r").answers == [.interrupted, .line("back"), .ended])
        #expect(try typed("st\u{03}").shown.contains("^C\r\n"))
    }

    @Test func completionIsOneOrACommonBeginningOrAList() throws {
        func complete(_ text: String) -> LineEditor.Completion {
            .init(start: 0, candidates: ["step", "stop", "back"].filter { $0.hasPrefix(text) })
        }
        #expect(try typed("b\t\r", completion: complete).answers.first == .line("back "))
        #expect(try typed("s\t\r", completion: complete).answers.first == .line("st"))
        let listed = try typed("st\t\r", completion: complete)
        #expect(listed.answers.first == .line("st") && listed.shown.contains("\r\nstep  stop\r\n"))
        #expect(try typed("x\t\r", completion: complete).answers.first == .line("x"))
    }

    @Test func aLongLineIsShownAroundTheCursor() throws {
        let text = String(repeating: "abcdefghij", count: 20)
        let shown = try typed(text + "\r").shown
        let drawn = shown.split { $0 == "\r" || $0 == "\r\n" }.filter { $0.hasPrefix("> ") }
        #expect(drawn.allSatisfy { $0.count < 90 } && drawn.contains { $0.count > 70 && $0.contains("hij") })
    }

    @Test(arguments: [
        ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("👩‍👩‍👧", 2), ("🙂", 2), ("한", 2), ("ﾊ", 1), ("\u{200B}", 0),
        ("❤️", 2),
    ])
    func widths(_ text: String, _ width: Int) { #expect(DisplayWidth.width(of: text) == width) }

    // MARK: The file

    @Test func historyIsKeptForTheUserAlone() throws {
        let directory = try TestDirectory()
        let path = directory.path("state/strata/debug_history")
        var history = LineHistory(path: path)
        for line in ["step", "step", "print \"a b\""] { history.add(line) }
        #expect(LineHistory(path: path).lines == ["step", "print \"a b\""])
        #expect(try ToolProcess.run(["-c", "%a", path], in: "/tmp", program: "/usr/bin/stat").output == "600\n")
        for number in 0..<2_500 { history.add("step \(number)") }
        #expect(history.lines.count == 1_000)
        #expect(LineHistory(path: path).lines == history.lines)
        #expect(LineHistory(path: path).lines.last == "step 2499")
        // Where it cannot be kept a session goes on without.
        var other = LineHistory(path: "/dev/null/strata/debug_history")
        other.add("step")
        #expect(other.lines == ["step"])
    }

    // MARK: Words

    @Test(arguments: [
        ("print 'a b' c", ["print", "a b", "c"]), ("a\\ b \"c\\\"d\"", ["a b", "c\"d"]), ("  x  ", ["x"]),
        ("p \"日 本\"", ["p", "日 本"]), ("''", [""]),
    ])
    func words(_ line: String, _ wanted: [String]) {
        #expect(DebugWords(line).words.map(\.text) == wanted)
        for word in wanted { #expect(DebugWords(DebugWords.quoted(word)).words.map(\.text) == [word]) }
    }

    @Test func aPredicateKeepsItsQuotes() {
        let words = DebugWords("until Note title == 'a  b' AND rank>3").words
        #expect(DebugWords.predicate(words[2...]) == "title == 'a  b' AND rank>3")
        #expect(DebugWords.predicate(DebugWords("x 'rank > 3'").words[1...]) == "rank > 3")
        #expect(DebugWords("a 'b").isOpen)
    }
}
