import StrataModel
import TestSupport
import Testing

@testable import StrataTree

/// Runs of random entries against a sorted dictionary, with frames so small that each boundary is met.
@Suite("Runs against a dictionary")
struct RunModelTests {
    @Test("Every read finds what was written", arguments: [256, 2_048, 16_384], [1, 3])
    func reads(frameBytes: Int, pieces: Int) throws {
        try withSeeds(12) { seed in
            let trial = try RunTrial(frameBytes: frameBytes)
            var generator = RunGenerator(seed: seed, trial, keys: 300)
            let model = generator.layer()
            let run = try trial.run(model, pieces: pieces)
            try trial.blobs.finish()
            try check(run, model, trial, &generator)
        }
    }

    private func check(_ run: Run, _ model: RunModel, _ trial: RunTrial, _ generator: inout RunGenerator) throws {
        #expect(try trial.content(of: run).entries == model.entries)
        #expect(run.entries == UInt64(model.entries.count))
        #expect(run.marks == UInt64(model.entries.values.count { $0 == .mark }))
        for key in generator.keys { try checkLookups(run, model, trial, key) }
        for tree in RunTrial.trees {
            let keys = model.sortedKeys.filter { $0.tree == tree }
            try checkTogether(run, model, trial, generator.keys.filter { $0.tree == tree })
            var cursor = RunCursor(run)
            #expect(try trial.entries(of: run) { try $0.seek(tree, nil) }.map(\.0) == keys)
            var found: [RunKey] = []
            var isThere = try cursor.seekBefore(tree, nil)
            while isThere, let entry = cursor.entry {
                found.append(RunKey(entry))
                isThere = try cursor.previous()
            }
            #expect(found == keys.reversed())
            try checkSeeks(run, keys, generator.keys.filter { $0.tree == tree })
        }
    }

    private func checkLookups(_ run: Run, _ model: RunModel, _ trial: RunTrial, _ key: RunKey) throws {
        for bytes in [key.bytes, key.bytes + [0], Array(key.bytes.dropLast())] where !bytes.isEmpty {
            try bytes.withUnsafeBytes {
                let hash = RunTrial.owner.keyHash.hash(key.tree, $0)
                let found = try run.get(key.tree, $0, hash: hash).map { try trial.model($0) }
                #expect(found == model.get(RunKey(tree: key.tree, bytes: bytes)))
            }
        }
    }

    private func checkTogether(_ run: Run, _ model: RunModel, _ trial: RunTrial, _ keys: [RunKey]) throws {
        guard let tree = keys.first?.tree else { return }
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 128 * 960, alignment: 1)
        defer { bytes.deallocate() }
        var end = 0
        var lookups = keys.prefix(Run.keysTogether).map { key in
            let place = UnsafeMutableRawBufferPointer(rebasing: bytes[end..<end + key.bytes.count])
            place.copyBytes(from: key.bytes)
            end += key.bytes.count
            let key = UnsafeRawBufferPointer(place)
            return RunLookup(key, hash: RunTrial.owner.keyHash.hash(tree, key))
        }
        try lookups.withUnsafeMutableBufferPointer { try run.find(tree, $0) }
        for (lookup, key) in zip(lookups, keys) {
            #expect(try lookup.content.map { try trial.model($0) } == model.get(key))
        }
        // Keys that have a content are not looked up again.
        try lookups.withUnsafeMutableBufferPointer { lookups in
            for index in lookups.indices { lookups[index].content = .mark }
            try run.find(tree, lookups)
        }
        #expect(try lookups.allSatisfy { try lookup(in: trial, $0) == .mark })
    }

    private func lookup(in trial: RunTrial, _ lookup: RunLookup) throws -> ModelContent? {
        try lookup.content.map { try trial.model($0) }
    }

    private func checkSeeks(_ run: Run, _ keys: [RunKey], _ wanted: [RunKey]) throws {
        var cursor = RunCursor(run)
        for key in wanted.prefix(60) {
            for bytes in [key.bytes, key.bytes + [0], Array(key.bytes.dropLast())] {
                let next = keys.firstIndex { !$0.bytes.lexicographicallyPrecedes(bytes) } ?? keys.count
                try bytes.withUnsafeBytes { bytes in
                    let isThere = try cursor.seek(key.tree, bytes)
                    #expect(isThere == (next < keys.count))
                    #expect(cursor.entry.map(RunKey.init) == (next < keys.count ? keys[next] : nil))
                    if isThere, try cursor.previous() {
                        #expect(next > 0 && cursor.entry.map(RunKey.init) == keys[next - 1])
                    }
                    let isBefore = try cursor.seekBefore(key.tree, bytes)
                    #expect(isBefore == (next > 0))
                    #expect(cursor.entry.map(RunKey.init) == (next > 0 ? keys[next - 1] : nil))
                }
            }
        }
    }

    @Test("Keys and values of the smallest and largest sizes", arguments: [2_048, 16_384])
    func limits(frameBytes: Int) throws {
        let trial = try RunTrial(frameBytes: frameBytes)
        var model = RunModel()
        for tree in RunTrial.trees {
            for (number, count) in [0, 1, 1_023, 1_024, 1_025, 70_000].enumerated() {
                let value = [UInt8](repeating: UInt8(number), count: count)
                model.entries[RunKey(tree: tree, bytes: [UInt8(number)])] = .value(value)
                let long = [UInt8](repeating: UInt8(number), count: RunFormat.maximumKeyBytes)
                model.entries[RunKey(tree: tree, bytes: long)] = .value(value)
            }
        }
        let run = try trial.run(model)
        try trial.blobs.finish()
        #expect(try trial.content(of: run) == model)
        let writer = try trial.writer()
        for count in [0, RunFormat.maximumKeyBytes + 1] {
            #expect(throws: StrataError.self) {
                try trial.append(RunKey(tree: RunTrial.sorted, bytes: bytes(count)), .mark, to: writer)
            }
        }
        #expect(throws: StrataError.self) {
            try bytes(1_025).withUnsafeBytes {
                try writer.append(tree: RunTrial.sorted, key: $0.keeping(1), content: .value($0))
            }
        }
    }

    @Test("A run without entries, and with one", arguments: [false, true])
    func fewEntries(hasOne: Bool) throws {
        let trial = try RunTrial(frameBytes: RunFormat.frameBytes)
        var model = RunModel()
        model.ranges = [DeletedRange(tree: RunTrial.sorted, lower: [1], upper: [])]
        if hasOne { model.entries[RunKey(tree: RunTrial.hashed, bytes: [7])] = .value([8]) }
        let run = try trial.run(model)
        var generator = RunGenerator(seed: 1, trial, keys: 40)
        try check(run, model, trial, &generator)
        #expect(try trial.content(of: run) == model)
    }

    @Test("Entries out of order are refused")
    func order() throws {
        let trial = try RunTrial(frameBytes: 256)
        let writer = try trial.writer()
        try trial.append(RunKey(tree: RunTrial.sorted, bytes: [5]), .mark, to: writer)
        for key in [RunKey(tree: RunTrial.sorted, bytes: [4]), RunKey(tree: RunTrial.hashed, bytes: [9])] {
            #expect(throws: StrataError.self) { try trial.append(key, .mark, to: writer) }
        }
        try trial.append(RunKey(tree: RunTrial.sorted, bytes: [5]), .mark, to: writer)
        #expect(try writer.finish().entries == 2)
    }

    @Test("Buckets that are full pass entries on", arguments: seeds(3))
    func fullBuckets(seed: UInt64) throws {
        let trial = try RunTrial(frameBytes: 256)
        var model = RunModel()
        for number in 0..<3_000 {
            model.entries[RunKey(tree: RunTrial.hashed, bytes: bigEndian(number))] = .value([UInt8(number & 0xFF)])
        }
        let run = try trial.run(model)
        for number in 0..<4_000 {
            let key = RunKey(tree: RunTrial.hashed, bytes: bigEndian(number))
            try key.bytes.withUnsafeBytes {
                let hash = RunTrial.owner.keyHash.hash(key.tree, $0)
                let found = try run.get(key.tree, $0, hash: hash).map { try trial.model($0) }
                #expect(found == model.get(key))
            }
        }
        // All in one bucket, with one fingerprint.
        var hashes = HashBuilder()
        for index in 0..<200 {
            hashes.append(0x77)
            hashes.setPlace(256 + 8 * index, of: index)
        }
        let layout = HashLayout(entries: 200)
        let target = UnsafeMutableRawBufferPointer.allocate(byteCount: layout.byteCount, alignment: 64)
        defer { target.deallocate() }
        target.initializeMemory(as: UInt8.self, repeating: 0)
        hashes.write(to: target)
        let passed = (0..<layout.buckets).count { target[HashLayout.place(of: $0) + RunFormat.passedPlace] == 1 }
        #expect(passed == 19)
    }

    @Test("Estimates are near, and exact within a frame; dividing keys divide", arguments: [256, 2_048])
    func estimates(frameBytes: Int) throws {
        let trial = try RunTrial(frameBytes: frameBytes)
        var model = RunModel()
        for number in 0..<2_000 {
            model.entries[RunKey(tree: RunTrial.sorted, bytes: bigEndian(number))] = .value(bytes(number % 20))
        }
        let run = try trial.run(model, pieces: 3)
        for (low, high) in [(0, 2_000), (5, 6), (100, 1_700), (700, 690), (1_990, 5_000)] {
            let count = try bigEndian(low).withUnsafeBytes { low in
                try bigEndian(high).withUnsafeBytes { try run.estimatedCount(RunTrial.sorted, from: low, to: $0) }
            }
            let exact = Double(max(0, min(high, 2_000) - low))
            #expect(abs(count - exact) <= 0.1 * exact, "\(low) to \(high)")
        }
        #expect(try run.estimatedCount(RunTrial.sorted, from: nil, to: nil) == 2_000)
        #expect(try run.estimatedCount(RunTrial.hashed, from: nil, to: nil) == 0)
        let piece = run.pieces[0]
        let keys = try piece.dividingKeys(RunTrial.sorted, from: nil, to: nil, count: 3)
        #expect(keys.count == 3 && keys == keys.sorted { $0.lexicographicallyPrecedes($1) })
        let parts = zip([nil] + keys, keys + [nil]).map { lower, upper in
            model.sortedKeys.count { key in
                key <= piece.descriptor.last! && !(lower.map { key.bytes.lexicographicallyPrecedes($0) } ?? false)
                    && upper.map { key.bytes.lexicographicallyPrecedes($0) } ?? true
            }
        }
        #expect((parts.min() ?? 0) * 4 > (parts.max() ?? 0), "\(parts)")
    }
}
