import StrataModel
import Testing

@Suite("Errors")
struct StrataErrorTests {
    @Test("An error is one line: the sentence, the place, the code, the cause")
    func rendering() {
        let bare = StrataError(.closed, "The log is closed.")
        #expect(bare.description == "The log is closed. (closed)")
        let full = StrataError(
            .badChecksum, "The checksum does not fit.",
            .init(
                segment: 1, offset: 42, position: 4_096, path: "/a/log", expected: "00000001", found: "ffffffff",
                line: 3, column: 7, errno: 5),
            cause: bare)
        #expect(
            full.description == """
                The checksum does not fit. [in /a/log, segment 1, offset 42, position 4096, line 3, column 7, \
                expected 00000001, found ffffffff] (badChecksum); because: The log is closed. (closed)
                """)
    }

    @Test("Locating an error fills in what is missing and keeps what is known")
    func locating() {
        let error = StrataError(.malformed, "Bad.", .init(offset: 7, position: 3))
        let located = error.located(path: "/a", segment: 1, offset: 99)
        #expect(located.context == .init(segment: 1, offset: 7, position: 3, path: "/a"))
        #expect(located.located(path: "/b", segment: 2).context == located.context)
        #expect(located.code == .malformed && located.message == "Bad.")
    }
}
