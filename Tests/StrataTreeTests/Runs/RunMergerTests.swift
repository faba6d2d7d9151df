import StrataModel
import TestSupport
import Testing

@testable import StrataTree

/// Merges of random runs against the same merge of dictionaries.
@Suite("Merges of runs against a dictionary")
struct RunMergerTests {
    /// Merges in pieces of at most `limit` bytes, and begins again at each piece, as after a crash.
    private func merge(
        _ runs: [Run], _ trial: RunTrial, limit: Int, isOldest: Bool, afterEach: ([Run]) throws -> Void = { _ in }
    ) throws -> Run {
        var pieces: [Piece] = []
        var start: RunKey?
        while true {
            let cursors = try runs.map { run in
                var cursor = RunCursor(run)
                _ = try start.map { try cursor.seek(acrossTrees: $0) } ?? cursor.seekFirst()
                return cursor
            }
            var merger = RunMerger(cursors, ranges: runs.map(\.ranges), from: start, isOldest: isOldest)
            let writer = try trial.writer()
            try merger.writePiece(to: writer, atMost: limit)
            pieces.append(try trial.open(try writer.finish()))
            start = merger.consumedUpTo
            guard let start else { return try Run(pieces) }
            let rest = try runs.map { try Run($0.pieces, visibleFrom: start) }
            try afterEach(rest + [try Run(pieces)])
        }
    }

    @Test("Of each key the newest entry stays", arguments: [256, 2_048], [false, true])
    func newestWins(frameBytes: Int, isOldest: Bool) throws {
        try withSeeds(40) { seed in
            let trial = try RunTrial(frameBytes: frameBytes)
            var generator = RunGenerator(seed: seed, trial, keys: 150)
            let layers = (0..<2 + Int(seed) % 4).map { _ in generator.layer() }
            let runs = try layers.map { try trial.run($0, pieces: 1 + Int(seed) % 2) }
            try trial.blobs.finish()
            let limit = seed % 3 == 0 ? Int.max : frameBytes * 4
            let expected = RunModel.merged(layers, isOldest: isOldest)
            let merged = try merge(runs, trial, limit: limit, isOldest: isOldest) { stack in
                try check(stack, layers, generator.keys, trial)
            }
            let found = try trial.content(of: merged)
            #expect(found.entries == expected.entries)
            for key in generator.keys { #expect(found.isDeleted(key) == expected.isDeleted(key)) }
            #expect(!isOldest || merged.marks == 0 && merged.ranges.isEmpty)
            for piece in merged.pieces {
                let content = try trial.disk.content(of: trial.path(piece.descriptor.number))
                let hashedEntries = try ForgedRun(content, frameBytes: frameBytes).hashedEntries
                #expect(hashedEntries == piece.footer.hashedEntries)
            }
        }
    }

    /// After each piece, what was written together with the rest of the inputs says the same as before.
    private func check(_ stack: [Run], _ layers: [RunModel], _ keys: [RunKey], _ trial: RunTrial) throws {
        let model = RunModel.merged(layers, isOldest: true)
        for key in keys {
            let found = try key.bytes.withUnsafeBytes { bytes -> ModelContent? in
                let hash = RunTrial.owner.keyHash.hash(key.tree, bytes)
                for run in stack {
                    if let content = try run.get(key.tree, bytes, hash: hash) { return try trial.model(content) }
                }
                return nil
            }
            #expect((found ?? .mark) == (model.entries[key] ?? .mark))
        }
        for run in stack {
            guard let first = run.visibleFrom else { continue }
            var cursor = RunCursor(run)
            #expect(try trial.entries(of: run) { try $0.seekFirst() }.allSatisfy { $0.0 >= first })
            for tree in RunTrial.trees {
                let forward = try trial.entries(of: run) { try $0.seek(tree, nil) }.map(\.0)
                #expect(forward.allSatisfy { $0 >= first })
                var backward: [RunKey] = []
                var isThere = try cursor.seekBefore(tree, nil)
                while isThere, let entry = cursor.entry {
                    backward.append(RunKey(entry))
                    isThere = try cursor.previous()
                }
                #expect(backward == forward.reversed())
            }
        }
    }

    @Test("Entries of one key stay in their order in a run")
    func equalKeys() throws {
        let trial = try RunTrial(frameBytes: 256)
        let key = RunKey(tree: RunTrial.sorted, bytes: [1])
        let writer = try trial.writer()
        for number in 0..<50 { try trial.append(key, .value([0, UInt8(number)]), to: writer) }
        let run = try Run([try trial.open(try writer.finish())])
        let found = try trial.entries(of: run) { cursor in
            try key.bytes.withUnsafeBytes { try cursor.seek(RunTrial.sorted, $0) }
        }
        #expect(found.map(\.1).first == .value([0, 0]) && found.count == 50)
    }

    @Test("Blobs are referred to by the merged run, or copied on")
    func blobs() throws {
        let trial = try RunTrial(frameBytes: 2_048)
        var model = RunModel()
        for number in 0..<20 {
            let value = [UInt8](repeating: 9, count: 1_025 + number)
            model.entries[RunKey(tree: RunTrial.hashed, bytes: [UInt8(number)])] = .value(value)
        }
        let run = try trial.run(model)
        try trial.blobs.finish()
        let bytes = (0..<20).reduce(0) { $0 + 1_025 + $1 }
        #expect(run.pieces[0].blobs == [BlobUse(file: 1_000, byteCount: bytes)])
        let file = try trial.disk.open("/1001.blob", .create)
        let copies = BlobWriter(file, number: 1_001)
        let old = try trial.openedBlobs.get()
        var cursor = RunCursor(run)
        _ = try cursor.seekFirst()
        var merger = RunMerger([cursor], ranges: [run.ranges], isOldest: true)
        let writer = try trial.writer()
        try merger.writePiece(to: writer, atMost: .max) { try copies.append(try old.value($0)) }
        try copies.finish()
        let piece = try trial.open(try writer.finish())
        #expect(piece.blobs.map(\.file) == [1_001])
        let blobs = try BlobFile(file, number: 1_001)
        var found: [ModelContent] = []
        var copied = PieceCursor(piece)
        var isThere = try copied.seekFirst()
        while isThere, case .blob(let reference) = copied.content {
            found.append(.value([UInt8](try blobs.value(reference))))
            isThere = try copied.next()
        }
        #expect(found == model.sortedKeys.map { model.entries[$0] })
    }

    @Test("Deleted ranges are united and clipped")
    func ranges() {
        func range(_ tree: UInt16, _ lower: [UInt8], _ upper: [UInt8]) -> DeletedRange {
            DeletedRange(tree: TreeID(rawValue: tree), lower: lower, upper: upper)
        }
        let ranges = DeletedRanges([
            range(2, [5], []), range(1, [4], [6]), range(1, [1], [3]), range(1, [3], [4]), range(2, [9], [12]),
            range(1, [8], [9]), range(3, [], [7]),
        ])
        #expect(ranges.ranges == [range(1, [1], [6]), range(1, [8], [9]), range(2, [5], []), range(3, [], [7])])
        func covers(_ tree: UInt16, _ key: [UInt8]) -> Bool {
            key.withUnsafeBytes { ranges.cover(TreeID(rawValue: tree), $0) }
        }
        #expect([[1], [2, 9], [5, 255], [8]].allSatisfy { covers(1, $0) })
        #expect(![[0], [6], [7], [9]].contains { covers(1, $0) })
        #expect(covers(2, [5]) && covers(2, [255]) && !covers(2, [4]) && covers(3, [0]) && !covers(3, [7]))
        let parts = ranges.clipped(
            from: RunKey(tree: TreeID(rawValue: 1), bytes: [2]), to: RunKey(tree: TreeID(rawValue: 2), bytes: [7]))
        #expect(parts.ranges == [range(1, [2], [6]), range(1, [8], [9]), range(2, [5], [7])])
        #expect(ranges.clipped(from: nil, to: nil) == ranges)
        #expect(
            ranges.clipped(from: RunKey(tree: TreeID(rawValue: 1), bytes: [6]), to: nil).ranges.first
                == range(1, [8], [9]))
    }
}
