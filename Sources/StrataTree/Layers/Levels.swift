import StrataModel
import StrataSystem

/// The runs of a state, newest first. It never changes; a flush or a merge makes another one.
final class Levels: Sendable {
    let runs: [LeveledRun]
    /// The blob files that the runs refer to, by their numbers.
    let blobs: [UInt64: BlobFile]
    private let keyHash: KeyHash
    /// The epoch of the newest generation that the runs contain; 0 if they contain none of this process.
    let flushed: UInt64

    init(_ runs: [LeveledRun], blobs: [UInt64: BlobFile], keyHash: KeyHash, flushed: UInt64 = 0) {
        self.runs = runs
        self.blobs = blobs
        self.keyHash = keyHash
        self.flushed = flushed
    }

    static let none = Levels([], blobs: [:], keyHash: KeyHash(seed: 0))

    /// The levels with the run of a generation that is newer than the others.
    func adding(_ run: Run, _ blob: BlobFile?, _ keyHash: KeyHash, flushed: UInt64) -> Levels {
        var blobs = blobs
        if let blob { blobs[blob.number] = blob }
        return Levels(
            [LeveledRun(run: run, level: .flushed)] + runs, blobs: blobs, keyHash: keyHash, flushed: flushed)
    }

    /// The levels after a merge, with the blob files that the runs still refer to.
    func with(_ runs: [LeveledRun], adding blob: BlobFile?) -> Levels {
        var blobs = blobs
        if let blob { blobs[blob.number] = blob }
        let used = Set(runs.lazy.flatMap(\.run.pieces).flatMap(\.blobs).map(\.file))
        return Levels(runs, blobs: blobs.filter { used.contains($0.key) }, keyHash: keyHash, flushed: flushed)
    }

    var blobDescriptors: [BlobDescriptor] {
        blobs.values.map { BlobDescriptor(number: $0.number, byteCount: $0.byteCount) }.sorted { $0.number < $1.number }
    }

    /// The numbers of the files.
    func numbers(of use: RunHome.Use) -> Set<UInt64> {
        switch use {
        case .piece: Set(runs.lazy.flatMap(\.run.pieces).map(\.descriptor.number))
        case .blob: Set(blobs.keys)
        }
    }

    /// A number that no file of the runs has, nor any higher one: blob files are found by their numbers.
    var firstFreeNumber: UInt64 { (numbers(of: .piece).union(numbers(of: .blob)).max() ?? 0) + 1 }

    /// The sizes of all files.
    var byteCounts: [ObjectIdentifier: Int] {
        let pieces = runs.lazy.flatMap(\.run.pieces).map { (ObjectIdentifier($0), $0.descriptor.byteCount) }
        return Dictionary(pieces + blobs.values.map { (ObjectIdentifier($0), $0.byteCount) }) { size, _ in size }
    }

    /// The blob files that a merge into the base copies: less than half of them is in use, or they are small, and many
    /// would be there in the end.
    func sparseBlobs(small: Int) -> Set<UInt64> {
        var used: [UInt64: Int] = [:]
        for piece in runs.lazy.flatMap(\.run.pieces) {
            for blob in piece.blobs { used[blob.file, default: 0] += blob.byteCount }
        }
        return Set(blobs.values.filter { used[$0.number, default: 0] < max(small, $0.byteCount) / 2 }.map(\.number))
    }

    /// The content of a key; nil if no run has it. Bytes are valid as long as the levels.
    func find(_ id: TreeID, _ key: UnsafeRawBufferPointer) throws -> RunContent? {
        if runs.isEmpty { return nil }
        let hash = keyHash.hash(id, key)
        for run in runs {
            if let content = try run.run.get(id, key, hash: hash) { return content }
        }
        return nil
    }

    /// Looks up those keys that have no content yet.
    func find(_ id: TreeID, _ lookups: UnsafeMutableBufferPointer<RunLookup>) throws {
        for run in runs { try run.run.find(id, lookups) }
    }

    func hash(_ id: TreeID, _ key: UnsafeRawBufferPointer) -> UInt64 { keyHash.hash(id, key) }

    /// The value of an entry; nil for a deleted key.
    @inline(__always)
    func value(_ content: RunContent) throws -> UnsafeRawBufferPointer? {
        switch content {
        case .value(let value): value
        case .mark: nil
        case .blob(let reference): try value(of: reference)
        }
    }

    /// Called after bytes of the levels were used. Costs nothing as long as all files of the process can be read.
    ///
    /// - Throws: ``StrataError`` if some of them could not be read.
    @inline(__always)
    func requireReadable() throws {
        if MapGuard.hasMissingBytes { try requireAllReadable() }
    }

    private func requireAllReadable() throws {
        for run in runs { try run.run.requireReadable() }
        for blob in blobs.values { try blob.requireReadable() }
    }

    func value(of reference: BlobReference) throws -> UnsafeRawBufferPointer {
        guard let blob = blobs[reference.file] else {
            throw StrataError(
                .malformed, "A run refers to a blob file that its state does not name.",
                .init(found: "\(reference.file)"))
        }
        return try blob.value(reference)
    }
}
