import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataTree

@Suite("Frames with any content")
struct FrameContentTests {
    @Test("Whatever a frame says, nothing outside of it is read", arguments: seeds(4))
    func anything(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var readable = 0
        for _ in 0..<3_000 {
            var frame = [UInt8](repeating: 0, count: 4_096)
            // A few entries, most of them inside the frame.
            let count = Int.random(in: 0...20, using: &random)
            frame[4] = UInt8(count)
            frame[6] = UInt8.random(in: 0...9, using: &random)
            for entry in 0..<count {
                let slot = 12 + Int(frame[6]) + 2 * entry
                let place = Int.random(in: 60...4_000, using: &random)
                (frame[slot], frame[slot + 1]) = (UInt8(place & 0xFF), UInt8(place >> 8))
                for (offset, byte) in [4, 0, UInt8.random(in: 0...255, using: &random), 0].enumerated() {
                    frame[place + offset] = byte
                }
            }
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                frame[Int.random(in: 0..<200, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if frame.withUnsafeBytes({ FrameTrial.run($0) }) { readable += 1 }
        }
        #expect(readable > 100 && readable < 2_990)
    }

    @Test("The corpus of fuzz-frame")
    func corpus() throws {
        let tests = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        let folder = tests.joined(separator: "/") + "/Fuzz/corpus/fuzz-frame/"
        let files = RealFileSystem()
        let inputs = try files.list(folder).map { try files.readAll(folder + $0, atMost: 1 << 20) }
        #expect(inputs.count > 10)
        for input in inputs { input.withUnsafeBytes { _ = FrameTrial.run($0) } }
    }
}
