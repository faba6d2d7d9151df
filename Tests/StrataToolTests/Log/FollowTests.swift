import Foundation
import Glibc
import StrataStore
import StrataSystem
import Testing

@Suite struct FollowTests {
    @Test func seesWhatALiveWriterAppendsThroughSegmentSwitches() throws {
        let fixture = try StoreFixture(segmentBytes: 64 << 10)
        try fixture.internNames()
        let tool = try fixture.start("log", "--follow", "--oneline", fixture.name)
        #expect(try tool.readLine()?.hasPrefix("1 ") == true)
        for round in 0..<3 {
            try fixture.saveNotes(100, noise: 700)
            for note in 1...100 {
                let offset = round * 100 + note + 1
                #expect(try tool.readLine()?.hasPrefix("\(offset) ") == true)
            }
        }
        #expect(try fixture.segments().count > 3)
        kill(tool.identifier, SIGINT)
        #expect(try tool.wait() == 128 + SIGINT)
        #expect(try tool.errors().isEmpty)
        try fixture.close()
    }

    @Test func endsAtTheOffsetItWasToldToReach() throws {
        let fixture = try StoreFixture()
        try fixture.internNames()
        let tool = try fixture.start("log", "--follow", "--oneline", "--to", "3", fixture.name)
        #expect(try tool.readLine() != nil)
        try fixture.saveNotes(5)
        let result = try tool.finish()
        #expect(result.code == 0 && result.lines.count == 2)
    }

    @Test func onlyNewCommits() throws {
        let fixture = try StoreFixture()
        try fixture.internNames()
        let tool = try fixture.start("log", "--follow", "-n", "0", "--oneline", fixture.name)
        // What is there when it opens the store is not new. Nobody sees when that is: it gets time at first, and
        // further commits on a busy machine.
        var count = 0
        while try count < 300 && !tool.hasOutput(within: count == 0 ? 500 : 100) {
            try fixture.saveNotes(1)
            count += 1
        }
        let first = try #require(try tool.readLine()?.split(separator: " ").first.flatMap { Int($0) })
        try #require(first >= 2 && first <= count + 1)
        try fixture.saveNotes(1)
        for offset in first + 1...count + 2 { #expect(try tool.readLine()?.hasPrefix("\(offset) ") == true) }
        tool.closePipe()
        #expect(try tool.wait() == 0)
    }

    @Test func whatIsOlderThanSinceIsPassedOverAlsoWhenItComesLater() throws {
        let fixture = try StoreFixture()
        try fixture.internNames()
        // The fixture's commits are 1.5 s apart, so that of the next five the last two are not older.
        let since = StoreFixture.startTime + 5 * 1_500_000
        let tool = try fixture.start("log", "--follow", "--oneline", "--since", "@\(since)", "--to", "6", fixture.name)
        // Long enough for the tool to have opened the store; were it not, the test would only be weaker.
        usleep(300_000)
        try fixture.saveNotes(5)
        let result = try tool.finish()
        #expect(result.code == 0 && result.lines.map { $0.prefix(2) } == ["5 ", "6 "], "\(result.output)")
        #expect(result.lines.first?.contains(" anna on phone ") == true)
    }

    /// No writer does that, but whoever copies a store over another one may.
    @Test func aSegmentThatBecomesShorterIsDamage() throws {
        let fixture = try StoreFixture.small()
        let tool = try fixture.start("log", "--oneline", "--follow", fixture.name)
        for _ in 1...4 { #expect(try tool.readLine() != nil) }
        let segment = try RealFileSystem().open(try fixture.segments()[0], .write)
        try segment.truncate(to: 300)
        let result = try tool.finish()
        #expect(result.code == 3 && result.errors.contains("(impossibleLength)"), "\(result.errors)")
    }

    /// A writer closes a segment before it makes the next one; whoever looks in between must go on all the same.
    @Test func goesOnBehindASegmentThatHadNoSuccessorYet() throws {
        let fixture = try StoreFixture.segmented()
        let segments = try fixture.segments()
        let second = try #require(Int(segments[1].suffix(24).dropLast(4)))
        let hidden = segments.dropFirst().map { ($0, $0 + ".hidden") }
        for (path, other) in hidden { try RealFileSystem().rename(path, to: other) }
        // What says that there are more commits would make this a log that has lost some.
        unlink("\(fixture.path)/log/tail")
        try? FileManager.default.removeItem(atPath: fixture.path + "/views")
        let tool = try fixture.start("log", "--follow", "--oneline", "--to", "\(second)", fixture.name)
        for offset in 1..<second { #expect(try tool.readLine()?.hasPrefix("\(offset) ") == true) }
        // Several polls, each of which finds the closed segment without a successor.
        usleep(500_000)
        for (path, other) in hidden { try RealFileSystem().rename(other, to: path) }
        #expect(try tool.readLine()?.hasPrefix("\(second) ") == true)
        #expect(try tool.wait() == 0)
    }

    @Test func aStoreThatIsRemovedAndMadeAgainEndsIt() throws {
        let fixture = try StoreFixture.small()
        let tool = try fixture.start("log", "--oneline", "--follow", fixture.name)
        for _ in 1...4 { #expect(try tool.readLine() != nil) }
        try FileManager.default.removeItem(atPath: fixture.path)
        let store = try Store.open(at: fixture.path)
        try store.close()
        let result = try tool.finish()
        #expect(result.code == 3 && result.output.isEmpty, "\(result)")
        #expect(result.errors.contains("(directoryGone)") && result.errors.contains(fixture.name), "\(result)")
    }
}
