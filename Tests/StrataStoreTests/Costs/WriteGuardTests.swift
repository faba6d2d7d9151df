import StrataSystem
import TestSupport
import Testing

@Suite("Bytes and system calls of saves")
struct WriteGuardTests {
    @Test("A save writes and syncs no more than its limits, and all of it is counted")
    func limits() throws {
        for finding in try WriteGuard.few.run() { #expect(finding.holds, "\(finding)") }
    }

    @Test("Canary: files that write and sync twice exceed every limit")
    func doubled() throws {
        for finding in try WriteGuard.few.run(isDoubled: true) { #expect(finding.isExceeded, "\(finding)") }
    }
}
