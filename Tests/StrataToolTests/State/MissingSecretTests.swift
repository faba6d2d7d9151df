import Foundation
import StrataLog
import StrataModel
import StrataStore
import StrataViews
import Testing

@testable import StrataTool

/// A store that was made before stores had a secret, and that the tool only reads.
@Suite struct MissingSecretTests {
    private let fixture: StateFixture
    private let old = "Old.strata"
    private let missing = "The store has no secret yet, so it makes no change tokens. Open it once for writing."

    init() throws {
        let fixture = try StateFixture()
        self.fixture = fixture
        try fixture.change { try fixture.save("tea", ["rank": .int64(1)], to: $0) }
        var commits: [NewCommit] = []
        var cursor = try LogReader.open(at: fixture.path).read(from: 1)
        while let commit = try cursor.next() {
            var envelope = try Envelope(decoding: commit.payload)
            envelope.events.removeAll { $0.kind == .secretDrawn }
            commits.append(NewCommit(id: commit.id, time: commit.time, payload: envelope.encoded()[...]))
        }
        let log = try SegmentedLog.open(at: fixture.directory.path(old), touches: { try Envelope.touches(of: $0) })
        _ = try log.append(commits, expecting: log.end)
        try log.close()
    }

    @Test(arguments: [["Notes"], []]) func `Its feed is shown, and why there is no token`(_ zone: [String]) throws {
        let result = try fixture.run(["feed", old] + zone + ["--user", "anna", "--all", "--limit", "1"])
        #expect(result.code == 0 && result.output.contains("changed  "), "\(result)")
        #expect(result.output.contains("page 2: 1 changed, 0 deleted") && !result.output.contains("token"), "\(result)")
        #expect(result.errors.components(separatedBy: missing).count == 2, "once: \(result)")
        #expect(result.errors.hasPrefix("strata feed: no token can be made: "), "\(result)")
        let json = try fixture.run(["feed", old] + zone + ["--user", "anna", "--json"])
        #expect(json.code == 0 && json.lines.last?.contains("\"token\":null") == true, "\(json)")
    }

    @Test func `Its matches are shown, and why there is no cursor`() throws {
        let words = ["query", old, "Note", "--user", "anna"]
        let whole = try fixture.run(words)
        #expect(whole.code == 0 && whole.lines.last == "2 records" && whole.errors.isEmpty, "\(whole)")
        let result = try fixture.run(words + ["--limit", "1"])
        #expect(result.code == 0 && result.lines.last == "1 record", "\(result)")
        #expect(result.errors.contains("no cursor can be made: \(missing)"), "\(result)")
    }

    @Test func `Opened for writing once, it has tokens`() throws {
        let store = try Store.open(at: fixture.directory.path(old))
        try store.close()
        let result = try fixture.run(["feed", old, "Notes", "--user", "anna"])
        #expect(result.errors.isEmpty && result.output.contains("; token "), "\(result)")
    }
}
