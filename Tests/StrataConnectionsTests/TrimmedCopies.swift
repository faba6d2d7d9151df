import StrataLog
import StrataModel
import StrataReplication
import StrataSystem
import TestSupport
import Testing

/// Copies of a store on a server that is trimmed to a base; the copies and the base are on a disk in memory.
enum TrimmedCopies {
    private static let files = "/Notes.files"

    /// Fills a sequencer, trims it, and compares a new copy with one that has everything.
    static func check(_ connect: () throws -> any Sequencer) throws {
        let platform = Platform(files: SimulatedDisk(), random: SeededRandom(seed: 3))
        func open(_ path: String) throws -> ReplicatedLog {
            try ReplicatedLog.open(
                at: path, sequencer: connect(), options: .init(filesDirectory: files),
                log: LogOptions(spaceStepBytes: 0), platform: platform)
        }
        func append(_ count: Int, to log: ReplicatedLog) throws {
            for _ in 0..<count {
                let payload = Envelope(events: [Event(.consoleActed, body: [1, 2, 3])]).encoded()
                let commit = NewCommit(id: platform.random.nextIdentifier(), time: 5, payload: payload[...])
                _ = try log.append([commit], expecting: try log.confirmEnd())
            }
        }
        try platform.files.makeDirectory(files)
        let first = try open("/First")
        try open("/Late").close()
        try append(6, to: first)
        let sequencer = try connect()
        defer { sequencer.close() }
        let trim = try SequencerTrim(of: sequencer, with: first, before: 5)
        try #require(trim.horizon.offset == 4 && trim.number == 5)
        var payloads: [ArraySlice<UInt8>] = [[7]]
        let draft = try first.copy.writeBase(at: 4) { payloads.popLast() }
        let mark = try trim.publish(try draft.read())
        try trim.append(mark)
        #expect(try trim.finish(mark) == 5)
        let new = try open("/New")
        #expect(new.floor.offset == 4 && new.end == first.end && new.copy.identity == first.copy.identity)
        try append(2, to: new)
        #expect(try first.confirmEnd() == new.end)
        // A copy that had read nothing is told, and a new one finds the mark without its file.
        let error = try #require(throws: StrataError.self) { _ = try open("/Late") }
        #expect(error.code == .outOfRange)
        let bases = files + "/bases"
        for name in try platform.files.list(bases) where name.hasSuffix(".mark") {
            try platform.files.remove(bases + "/" + name)
        }
        let last = try open("/Last")
        #expect(last.floor.offset == 4 && last.end == new.end)
        for log in [first, new, last] { try? log.close() }
    }
}
