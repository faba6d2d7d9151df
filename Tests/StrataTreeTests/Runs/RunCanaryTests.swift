import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataTree

/// Faults that the model tests of runs must find.
@Suite("Canaries of the tests of runs")
struct RunCanaryTests {
    private let trial: RunTrial
    /// A layer with values, and a newer one that deletes some of the keys, one range, and has one of its keys again.
    private let older: RunModel
    private let newer: RunModel
    private let newest: RunModel

    init() throws {
        trial = try RunTrial(frameBytes: 256)
        var (older, newer, newest) = (RunModel(), RunModel(), RunModel())
        for number in 0..<60 {
            older.entries[Self.key(number)] = .value([UInt8(number)])
            if number % 7 == 0 { newer.entries[Self.key(number)] = .mark }
        }
        newer.ranges = [DeletedRange(tree: RunTrial.hashed, lower: bigEndian(20), upper: bigEndian(40))]
        newest.entries[Self.key(25)] = .value([99])
        (self.older, self.newer, self.newest) = (older, newer, newest)
    }

    private static func key(_ number: Int) -> RunKey { RunKey(tree: RunTrial.hashed, bytes: bigEndian(number)) }

    /// What a stack of runs, newest first, says of each key.
    private func answers(_ stack: [Run]) throws -> [ModelContent] {
        try (0..<60).map { number in
            try bigEndian(number).withUnsafeBytes { bytes in
                let hash = RunTrial.owner.keyHash.hash(RunTrial.hashed, bytes)
                for run in stack {
                    if let found = try run.get(RunTrial.hashed, bytes, hash: hash) { return try trial.model(found) }
                }
                return .mark
            }
        }
    }

    private var expected: [ModelContent] {
        let merged = RunModel.merged([newest, newer, older], isOldest: true)
        return (0..<60).map { merged.entries[Self.key($0)] ?? .mark }
    }

    private func merge(_ runs: [Run], from start: RunKey? = nil, limit: Int = .max, isOldest: Bool) throws
        -> (piece: Piece, consumedUpTo: RunKey?)
    {
        let cursors = try runs.map { run in
            var cursor = RunCursor(run)
            _ = try start.map { try cursor.seek(acrossTrees: $0) } ?? cursor.seekFirst()
            return cursor
        }
        var merger = RunMerger(cursors, ranges: runs.map(\.ranges), from: start, isOldest: isOldest)
        let writer = try trial.writer()
        try merger.writePiece(to: writer, atMost: limit)
        return (try trial.open(try writer.finish()), merger.consumedUpTo)
    }

    @Test("A hash that forgets a key is noticed")
    func forgottenKey() throws {
        let run = try trial.run(older)
        let descriptor = run.pieces[0].descriptor
        #expect(try answers([run]) == (0..<60).map { .value([UInt8($0)]) })
        let path = trial.path(descriptor.number)
        var forged = try ForgedRun(try trial.disk.content(of: path), frameBytes: trial.frameBytes)
        #expect(forged.hashedEntries == 60)
        try forged.forgetHash()
        #expect(forged.hashedEntries == 59)
        trial.disk.setContent(forged.content, of: path)
        let wrong = try answers([try Run([try trial.open(descriptor)])])
        #expect(wrong.count { $0 == .mark } == 1)
    }

    @Test("A scan of a frame whose slots are in another order ends", .timeLimit(.minutes(1)))
    func swappedSlots() throws {
        let descriptor = try trial.run(older).pieces[0].descriptor
        let path = trial.path(descriptor.number)
        var forged = try ForgedRun(try trial.disk.content(of: path), frameBytes: trial.frameBytes)
        let prefixBytes = Int(forged[trial.frameBytes + RunFormat.prefixBytesPlace])
        let slots = trial.frameBytes + RunFormat.frameHeaderBytes + prefixBytes
        for place in slots..<slots + RunFormat.slotBytes {
            let byte = forged[place]
            forged[place] = forged[place + RunFormat.slotBytes]
            forged[place + RunFormat.slotBytes] = byte
        }
        forged.sealFrame(1)
        trial.disk.setContent(forged.content, of: path)
        var cursor = PieceCursor(try trial.open(descriptor))
        var (count, isThere) = (0, try cursor.seekFirst())
        while isThere { (count, isThere) = (count + 1, try cursor.next()) }
        #expect(count == Int(descriptor.entries))
    }

    @Test("A mark or a range that is dropped above the bottom is noticed", arguments: [true, false])
    func droppedMark(isOldest: Bool) throws {
        let (bottom, runs) = (try trial.run(older), [try trial.run(newest), try trial.run(newer)])
        #expect(try answers(runs + [bottom]) == expected)
        let merged = try Run([try merge(runs, isOldest: isOldest).piece])
        #expect(try (answers([merged, bottom]) == expected) == !isOldest)
    }

    @Test("A merge that ignores the key that it consumed up to is noticed")
    func ignoredStart() throws {
        let runs = [try trial.run(newest), try trial.run(newer), try trial.run(older)]
        let (first, start) = try merge(runs, limit: 4_608, isOldest: true)
        #expect(try #require(start) > Self.key(25) && start! < Self.key(59))
        let second = try merge(runs, from: start, isOldest: true).piece
        #expect(try answers([try Run([first, second])]) == expected)
        // It writes again what the first piece has.
        let again = try merge(runs, isOldest: true).piece
        #expect(throws: StrataError.self) { _ = try Run([first, again]) }
        // A run whose consumed part is still visible deletes what a newer one had there.
        let rest = try runs.map { try Run($0.pieces, visibleFrom: start) }
        let merged = try Run([first])
        #expect(try answers(rest + [merged]) == expected)
        #expect(try answers([rest[0], runs[1], rest[2], merged]) != expected)
    }
}
