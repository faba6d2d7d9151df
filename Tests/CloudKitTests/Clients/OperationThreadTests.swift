import TestSupport
import Testing

@Suite("Threads of operations", .timeLimit(.minutes(2)))
struct OperationThreadTests {
    @Test("2,000 operations one after another need no more threads than a few")
    func oneAfterAnother() throws {
        let child = try ChildProcess(ChildProcess.product("cloudkit-child"), ["threads", "2000"])
        let counts = child.lines().last?.split(separator: " ").compactMap { Int($0) } ?? []
        try #require(counts.count == 2, "the process ended without a result")
        #expect(counts[1] <= counts[0] + 8, "\(counts)")
    }
}
