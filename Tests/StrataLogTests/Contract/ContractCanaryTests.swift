import StrataLog
import StrataModel
import StrataSystem
import TestSupport
import Testing

@Suite("Canary: the contract suite notices a log with a bug")
struct ContractCanaryTests {
    @Test("Each bug is noticed", arguments: BrokenLog.Bug.allCases)
    func bugs(bug: BrokenLog.Bug) throws {
        #expect(throws: Mismatch.self) { try Self.checkAll(LogFixture(BrokenLog(bug))) }
    }

    @Test("A log without one passes")
    func none() throws {
        try Self.checkAll(LogFixture(MemoryLog()))
    }

    private static func checkAll(_ fixture: LogFixture) throws {
        try AppendContractTests.checkReadBack(fixture)
        try TouchContractTests.checkPages(fixture)
        try AppendContractTests.checkConflicts(fixture)
    }
}
