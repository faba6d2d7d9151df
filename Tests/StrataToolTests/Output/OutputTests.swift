import Glibc
import Testing

@testable import StrataTool

/// Tests when printed lines leave the buffer.
@Suite struct OutputTests {
    private static func isHandedOn(holdsFirstLine: Bool, lineBytes: Int) throws -> Bool {
        let descriptor = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(descriptor) }
        let output = Output(descriptor: descriptor)
        output.holdsFirstLine = holdsFirstLine
        output.write(String(repeating: "a", count: lineBytes))
        try output.endLine()
        return output.hasHandedOn
    }

    @Test func theFirstLineIsHandedOnAtOnce() throws {
        #expect(try Self.isHandedOn(holdsFirstLine: false, lineBytes: 10))
    }

    /// A command that can start again keeps what fits into the buffer.
    @Test func aHeldFirstLineWaitsUntilTheBufferIsFull() throws {
        #expect(try !Self.isHandedOn(holdsFirstLine: true, lineBytes: 10))
        #expect(try !Self.isHandedOn(holdsFirstLine: true, lineBytes: (64 << 10) - 1))
        #expect(try Self.isHandedOn(holdsFirstLine: true, lineBytes: 64 << 10))
    }
}
