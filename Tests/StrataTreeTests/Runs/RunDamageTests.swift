import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataTree

/// Each byte of a small piece and of a blob file changed, and both cut short: an error or the same answer.
@Suite("Damaged runs")
struct RunDamageTests {
    private func model() -> RunModel {
        var model = RunModel()
        for number in 0..<24 {
            for tree in [RunTrial.hashed, RunTrial.sorted] {
                let key = RunKey(tree: tree, bytes: [7, 7, UInt8(number)])
                model.entries[key] = number % 5 == 0 ? .mark : .value(bytes(number == 6 ? 1_500 : number))
            }
        }
        model.ranges = [DeletedRange(tree: RunTrial.sorted, lower: [9], upper: [10])]
        return model
    }

    /// Reads everything in every way; returns nil if an error said so.
    private func read(_ trial: RunTrial, _ descriptor: PieceDescriptor, _ keys: [RunKey]) -> [ModelContent?]? {
        do {
            let run = try Run([try trial.open(descriptor)])
            var answers = try keys.map { key in
                try key.bytes.withUnsafeBytes { bytes -> ModelContent? in
                    let hash = RunTrial.owner.keyHash.hash(key.tree, bytes)
                    return try run.get(key.tree, bytes, hash: hash).map { try trial.model($0) }
                }
            }
            let content = try trial.content(of: run)
            answers += content.sortedKeys.map { content.entries[$0] }
            for tree in RunTrial.trees {
                answers += try trial.entries(of: run) { try $0.seek(tree, nil) }.map(\.1)
                _ = try run.estimatedCount(tree, from: nil, to: nil)
            }
            return answers
        } catch {
            #expect(error is StrataError)
            return nil
        }
    }

    @Test("A changed byte of a piece is an error or changes nothing", arguments: [0, 7])
    func flippedBytes(bit: Int) throws {
        let trial = try RunTrial(frameBytes: 256)
        let model = model()
        let run = try trial.run(model)
        try trial.blobs.finish()
        let descriptor = run.pieces[0].descriptor
        let keys =
            model.sortedKeys + [
                RunKey(tree: RunTrial.sorted, bytes: [9, 1]), RunKey(tree: RunTrial.hashed, bytes: [1]),
            ]
        let expected = try #require(read(trial, descriptor, keys))
        let path = trial.path(descriptor.number)
        var errors = 0
        for place in 0..<descriptor.byteCount {
            try trial.disk.flipBit(path, byte: place, bit: bit)
            let found = read(trial, descriptor, keys)
            if found == nil { errors += 1 }
            #expect(found == nil || found == expected, "byte \(place)")
            try trial.disk.flipBit(path, byte: place, bit: bit)
        }
        // All but the zeros between sections.
        let frames = run.pieces[0].endFrame
        #expect(errors >= frames * 256 + RunFormat.bucketBytes)
        #expect(read(trial, descriptor, keys) == expected)
    }

    @Test("A truncated piece is an error, before and while it is mapped")
    func truncated() throws {
        let trial = try RunTrial(frameBytes: 256)
        let model = model()
        let descriptor = try trial.run(model).pieces[0].descriptor
        try trial.blobs.finish()
        let content = try trial.disk.content(of: trial.path(descriptor.number))
        for count in stride(from: 0, to: content.count, by: 7) {
            trial.disk.setContent(Array(content[..<count]), of: trial.path(descriptor.number))
            #expect(read(trial, descriptor, model.sortedKeys) == nil)
        }
        trial.disk.setContent(content, of: trial.path(descriptor.number))
        // The rest of a truncated file reads as zeros.
        let expected = try #require(read(trial, descriptor, model.sortedKeys))
        for count in stride(from: content.count - 1, to: 0, by: -97) {
            trial.disk.setContent(
                Array(content[..<count]) + [UInt8](repeating: 0, count: content.count - count),
                of: trial.path(descriptor.number))
            let found = read(trial, descriptor, model.sortedKeys)
            #expect(found == nil || found == expected)
        }
    }

    @Test("A piece that is truncated while the real system has it mapped is an error from then on")
    func truncatedWhileMapped() throws {
        let directory = try TestDirectory()
        let path = directory.path("1.run")
        let files = RealFileSystem()
        let file = try files.open(path, .create)
        let writer = PieceWriter(file, number: 1, RunTrial.owner, hashed: RunTrial.hashedTrees)
        for number in 0..<5_000 {
            try bigEndian(number).withUnsafeBytes {
                try writer.append(tree: RunTrial.hashed, key: $0, content: .value($0))
            }
        }
        let descriptor = try writer.finish()
        let piece = try Piece(try files.open(path, .read), descriptor, RunTrial.owner)
        func get(_ number: Int) throws -> Bool {
            try bigEndian(number).withUnsafeBytes {
                try piece.get(RunTrial.hashed, $0, hash: RunTrial.owner.keyHash.hash(RunTrial.hashed, $0)) != nil
            }
        }
        #expect(try get(1) && get(4_999) && !get(5_000))
        try file.truncate(to: RunFormat.frameBytes)
        #expect(throws: StrataError.self) { _ = try get(1) }
        #expect(throws: StrataError.self) { _ = try get(4_000) }
        var cursor = PieceCursor(piece)
        #expect(throws: StrataError.self) { _ = try cursor.seekFirst() }
    }

    @Test("Another file, store or form is refused")
    func others() throws {
        let trial = try RunTrial(frameBytes: 256)
        let first = try trial.run(model()).pieces[0].descriptor
        let second = try trial.run(RunModel()).pieces[0].descriptor
        var mixed = first
        mixed.number = second.number
        #expect(throws: StrataError.self) { _ = try trial.open(mixed) }
        (mixed.number, mixed.checksum) = (first.number, second.checksum)
        #expect(throws: StrataError.self) { _ = try trial.open(mixed) }
        for owner in [
            RunOwner(store: .zero, form: RunTrial.owner.form), RunOwner(store: RunTrial.owner.store, form: 6),
        ] {
            #expect(throws: StrataError.self) {
                _ = try Piece(try trial.disk.open(trial.path(first.number), .read), first, owner)
            }
        }
    }

    @Test("A descriptor is read back as it was written")
    func descriptors() throws {
        let trial = try RunTrial(frameBytes: 256)
        for descriptor in [
            try trial.run(model()).pieces[0].descriptor, try trial.run(RunModel()).pieces[0].descriptor,
        ] {
            var writer = ByteWriter()
            descriptor.encode(to: &writer)
            try writer.bytes.withUnsafeBytes { bytes in
                var reader = ByteReader(bytes)
                let found = try PieceDescriptor(decoding: &reader)
                #expect(found == descriptor)
                #expect(reader.remaining == 0)
                for count in 0..<bytes.count {
                    #expect(throws: StrataError.self) {
                        var reader = ByteReader(bytes.keeping(count))
                        _ = try PieceDescriptor(decoding: &reader)
                    }
                }
            }
        }
    }

    @Test("A changed byte of a blob file is an error or changes nothing; a wrong reference is refused")
    func blobs() throws {
        let trial = try RunTrial(frameBytes: 256)
        let values = [bytes(0), bytes(1), bytes(1_025), bytes(3_000)]
        let references = try values.map { try $0.withUnsafeBytes { try trial.blobs.append($0) } }
        try trial.blobs.finish()
        let path = "/1000.blob"
        let size = try trial.disk.content(of: path).count
        #expect(size % 4_096 == 0)
        func read() -> [[UInt8]]? {
            try? references.map { reference in
                let file = try BlobFile(try trial.disk.open(path, .read), number: 1_000)
                return [UInt8](try file.value(reference))
            }
        }
        #expect(read() == values)
        for place in 0..<5_000 {
            try trial.disk.flipBit(path, byte: place, bit: 3)
            let found = read()
            #expect(found == nil || found == values, "byte \(place)")
            try trial.disk.flipBit(path, byte: place, bit: 3)
        }
        let file = try BlobFile(try trial.disk.open(path, .read), number: 1_000)
        var wrong = references
        wrong[0].file = 7
        wrong[1].place = .max
        wrong[2].byteCount = .max
        wrong[3].place += 1
        for reference in wrong { #expect(throws: StrataError.self) { _ = try file.value(reference) } }
        for count in 0..<4 {
            trial.disk.setContent(Array(repeating: 0, count: count), of: path)
            #expect(read() == nil)
        }
    }
}
