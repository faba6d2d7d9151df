import StrataLog
import StrataSystem
import TestSupport
import Testing

@Suite("Files that a process has mapped, and address space that it may have")
struct MappedFileTests {
    private func run(_ words: [String]) throws -> (lines: [String], status: Int32) {
        let directory = try TestDirectory()
        let child = try ChildProcess(ChildProcess.product("store-child"), [directory.path("Notes.strata")] + words)
        let lines = child.lines()
        let status = child.wait()
        #expect(LogVerifier.verify(at: directory.path("Notes.strata")).damage == nil)
        return (lines, status)
    }

    @Test(
        "A file that is cut short while the store is open ends no process, and nothing is lost or wrong",
        arguments: ["views", "log/tail"], [false, true])
    func cutShort(_ name: String, reads: Bool) throws {
        let (lines, status) = try run(["cut", name] + (reads ? ["read"] : []))
        #expect(status == 0 && lines == ["200", "204", "204"])
    }

    @Test(
        "A store opens, is folded anew and written within little address space, and leaves some to others",
        // With the second, all that is wanted for the views fits, and nothing else.
        arguments: [1_024, 256 << 10 + 300])
    func limited(mebibytes: Int) throws {
        let (lines, status) = try run(["limited", "\(mebibytes)"])
        #expect(status == 0 && lines == ["200", "204", "4", "opened"])
    }
}
