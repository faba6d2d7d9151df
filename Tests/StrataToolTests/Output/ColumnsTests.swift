import Glibc
import StrataSystem
import TestSupport
import Testing

@testable import StrataTool

@Suite struct ColumnsTests {
    /// What is written to an output.
    private func written(_ body: (Output) throws -> Void) throws -> String {
        let directory = try TestDirectory()
        let descriptor = open(directory.path("out"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        let output = Output(descriptor: descriptor)
        try body(output)
        try output.flush()
        return String(decoding: try RealFileSystem().readAll(directory.path("out"), atMost: 1 << 16), as: UTF8.self)
    }

    /// As a terminal shows them: some characters take two columns, and marks take none.
    @Test func cellsAreCounted() throws {
        let text = try written { output in
            try Columns.write(
                [["name", "by"], ["\u{4EAC}\u{5B50}", "anna"], ["Ze\u{301}", "ben"], ["\u{1F600}", "x"]], to: output)
        }
        #expect(text == "name  by\n\u{4EAC}\u{5B50}  anna\nZe\u{301}    ben\n\u{1F600}    x\n")
    }

    @Test func whatDoesNotFitIsLeftOut() {
        #expect(Columns.fitting([5, 5, 5], in: nil, leavingOut: [1]) == [0, 1, 2])
        #expect(Columns.fitting([5, 5, 5], in: 19, leavingOut: [1]) == [0, 1, 2])
        #expect(Columns.fitting([5, 5, 5], in: 18, leavingOut: [1]) == [0, 2])
        #expect(Columns.fitting([5, 5, 5], in: 3, leavingOut: [1, 2]) == [0])
    }
}
