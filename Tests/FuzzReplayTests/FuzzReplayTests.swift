import FuzzedInputs
import StrataModel
import StrataSystem
import Testing

/// Every input that fuzzing found worth keeping, through the same functions.
@Suite struct FuzzReplayTests {
    private static let corpus =
        "/" + #filePath.split(separator: "/").dropLast(2).joined(separator: "/") + "/Fuzz/corpus/"

    private func inputs(of target: String) throws -> [[UInt8]] {
        let files = RealFileSystem()
        return try files.list(Self.corpus + target).map { name in
            try files.readAll(Self.corpus + target + "/" + name, atMost: 1 << 20)
        }
    }

    @Test("the corpus of fuzz-segment") func segments() throws {
        let inputs = try inputs(of: "fuzz-segment")
        #expect(inputs.count > 10)
        for input in inputs { _ = input.withUnsafeBytes { FuzzBodies.segment($0) } }
    }

    @Test("the corpus of fuzz-sealed") func sealedSegments() throws {
        let inputs = try inputs(of: "fuzz-sealed")
        #expect(inputs.count > 10)
        let counts = inputs.map { input in input.withUnsafeBytes { FuzzBodies.sealed($0) } }
        #expect(counts.contains { $0 ?? 0 > 2 } && counts.contains(nil))
    }

    @Test("the corpus of fuzz-envelope") func envelopes() throws {
        let inputs = try inputs(of: "fuzz-envelope")
        #expect(inputs.count > 10)
        for input in inputs { input.withUnsafeBytes { FuzzBodies.envelope($0) } }
    }

    @Test("the corpus of fuzz-event") func events() throws {
        let inputs = try inputs(of: "fuzz-event")
        #expect(inputs.count > 10)
        for input in inputs { input.withUnsafeBytes { FuzzBodies.event($0) } }
        let decoded = inputs.filter { input in
            guard let body = EventKind(rawValue: UInt64(input.first ?? 0)).body else { return false }
            return (try? body.init(decoding: input.dropFirst())) != nil
        }
        #expect(decoded.count > 10)
    }

    @Test("the corpus of fuzz-schema") func schemas() throws {
        let inputs = try inputs(of: "fuzz-schema")
        #expect(inputs.count > 10)
        let read = inputs.filter { input in input.withUnsafeBytes { FuzzBodies.schema($0) } }
        #expect(read.count > 5 && read.count < inputs.count - 5)
    }

    @Test("the corpus of fuzz-predicate") func predicates() throws {
        let inputs = try inputs(of: "fuzz-predicate")
        #expect(inputs.count > 10)
        let read = inputs.filter { input in input.withUnsafeBytes { FuzzBodies.predicate($0) } }
        #expect(read.count > 10 && read.count < inputs.count)
    }

    @Test("the corpus of fuzz-token") func tokens() throws {
        let inputs = try inputs(of: "fuzz-token")
        let read = inputs.filter { input in input.withUnsafeBytes { FuzzBodies.token($0) } }
        #expect(read.count >= 10 && read.count < inputs.count - 5)
    }

    @Test("some input of each corpus gets through to the end") func reach() throws {
        let envelopes = try inputs(of: "fuzz-envelope").filter { (try? Envelope(decoding: $0[...])) != nil }
        #expect(!envelopes.isEmpty)
        let commits = try inputs(of: "fuzz-segment").map { input in input.withUnsafeBytes { FuzzBodies.segment($0) } }
        #expect(commits.contains { $0 ?? 0 > 1 }, "a segment with several commits is accepted")
        #expect(commits.contains(nil), "a segment is refused")
    }
}
