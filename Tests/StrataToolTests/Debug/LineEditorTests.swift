import StrataModel
import Testing

@testable import StrataTool

@Suite struct LineEditorTests {
    private func replacements(_ line: String, at start: Int, from place: Int, _ candidates: String...) -> [String] {
        LineEditor.replacements(for: .init(start: place, candidates: candidates), of: line, from: start)
    }

    @Test func theCommonBeginningComesFirst() {
        #expect(replacements("b", at: 0, from: 0, "back") == ["back", "back"])
        #expect(replacements("s", at: 0, from: 0, "step", "stop") == ["st", "step", "stop"])
        #expect(replacements("a", at: 0, from: 0, "\"a b\"", "ab") == ["", "\"a b\"", "ab"])
        #expect(replacements("x", at: 0, from: 0).isEmpty)
    }

    /// libedit looks back to the last blank, which a quoted word may contain, and counts scalars.
    @Test func aQuotedWordIsReplacedAfterItsLastBlank() {
        #expect(replacements("p \"a ", at: 5, from: 2, "\"a b\"", "\"a c\"") == ["", "b\"", "c\""])
        #expect(replacements("e\u{301} \"a b", at: 6, from: 2, "\"a bc\"") == ["bc\"", "bc\""])
        #expect(replacements("p \"a b", at: 5, from: 2, "'a b'").isEmpty)
    }

    @Test func aTextThatControlsTheTerminalIsLeftOut() {
        #expect(replacements("a", at: 0, from: 0, "a\u{1B}[31m", "ab") == ["ab", "ab"])
        #expect(replacements("a", at: 0, from: 0, "a\u{1B}[31m").isEmpty)
    }

    @Test func aMissingLibraryIsNamed() {
        #expect {
            _ = try LineEditor(library: "libnowhere.so.2", historyPath: nil) { .init(start: $0.count, candidates: []) }
        } throws: { error in
            (error as? StrataError)?.code == .notFound && "\(error)".contains("apt install libedit2")
        }
    }
}
