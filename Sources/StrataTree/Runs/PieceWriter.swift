import StrataModel
import StrataSystem

/// Writes a piece: entries in order, then its hash, fences and footer. Nothing is allocated per entry.
///
/// ```swift
/// let writer = PieceWriter(try files.open(path, .create), number: 7, owner, hashed: [records])
/// try writer.append(tree: records, key: key, content: .value(value))
/// let descriptor = try writer.finish()   // the caller syncs the file
/// ```
final class PieceWriter {
    private let number: UInt64
    private let owner: RunOwner
    private let hashed: Set<TreeID>
    private let keyHash: KeyHash
    private let frameBytes: Int
    // Unchecked: no closure of a caller runs while one of these changes, and a check costs as much as an append.
    @exclusivity(unchecked) private var output: RunOutput
    @exclusivity(unchecked) private var frame: FrameBuilder
    @exclusivity(unchecked) private var hashes = HashBuilder()
    /// The number of the frame that is being filled.
    @exclusivity(unchecked) private var frameNumber = 1
    @exclusivity(unchecked) private var fencePlaces: [UInt32] = []
    @exclusivity(unchecked) private var fences = ByteWriter()
    private var footer = PieceFooter()
    /// The tree of the last entry, which is not in the footer yet.
    @exclusivity(unchecked) private var tree: PieceTree?
    private var ranges: [DeletedRange] = []
    /// The bytes of values in blob files, by the numbers of these.
    private var blobs: [UInt64: Int] = [:]
    private var first: RunKey?

    /// - Parameters:
    ///   - file: empty; nothing else writes to it.
    ///   - hashed: the trees whose entries are also found by hash.
    init(
        _ file: any File, number: UInt64, _ owner: RunOwner, hashed: Set<TreeID>,
        frameBytes: Int = RunFormat.frameBytes
    ) {
        assert(RunFormat.frameSizes.contains(frameBytes) && RunFormat.bufferBytes % frameBytes == 0)
        (self.number, self.owner, self.hashed, self.frameBytes) = (number, owner, hashed, frameBytes)
        keyHash = owner.keyHash
        output = RunOutput(file)
        frame = FrameBuilder(frameBytes: frameBytes)
    }

    /// The bytes that the piece would have if it were finished now, without its footer.
    var byteCount: Int {
        frameNumber * frameBytes + HashLayout(entries: hashes.count).byteCount + fences.bytes.count
            + 4 * fencePlaces.count
    }

    /// The number of entries so far.
    var entries: UInt64 { footer.entries + (tree?.entries ?? 0) }

    /// Adds an entry, whose key is not before that of the last one.
    ///
    /// - Throws: ``StrataError`` of the file; also if the entry is out of order or too long, which damaged inputs of a
    ///   merge may cause.
    func append(tree id: TreeID, key: UnsafeRawBufferPointer, content: RunContent) throws {
        if tree?.id != id { try start(id) } else if Bytes.compare(frame.lastKey, key) > 0 { throw outOfOrder }
        let isHashed = tree?.isHashed == true
        switch content {
        case .value(let value):
            guard value.count <= RunFormat.maximumValueBytes else { throw tooLong }
            try append(id, key, length: UInt16(value.count), value, isHashed)
            tree?.valueBytes += UInt64(value.count)
        case .blob(let reference):
            note(reference)
            let fields = (reference.file.littleEndian, reference.place.littleEndian, reference.byteCount.littleEndian)
            try withUnsafeBytes(of: fields) { try append(id, key, length: RunFormat.blobLength, $0, isHashed) }
            tree?.valueBytes += UInt64(reference.byteCount)
        case .mark:
            try append(id, key, length: RunFormat.markLength, .init(start: nil, count: 0), isHashed)
            tree?.marks += 1
        }
        tree?.entries += 1
        if isHashed { hashes.append(keyHash.hash(id, key)) }
    }

    private func append(
        _ id: TreeID, _ key: UnsafeRawBufferPointer, length: UInt16, _ stored: UnsafeRawBufferPointer,
        _ isHashed: Bool
    ) throws {
        guard key.count > 0, key.count <= RunFormat.maximumKeyBytes else { throw tooLong }
        if !frame.append(id, key: key, length: length, stored: stored, isHashed: isHashed) {
            if frame.count > 0 { try finishFrame() }
            guard frame.append(id, key: key, length: length, stored: stored, isHashed: isHashed) else { throw tooLong }
        }
        if frame.count == 1 { startFrame(id, key) }
    }

    /// Deletes a range of keys in older layers. Ranges may come in any order, before or after entries.
    ///
    /// - Parameter upper: the first key after the range; empty if it reaches to the end of the tree.
    func addRange(tree: TreeID, lower: [UInt8], upper: [UInt8]) {
        ranges.append(DeletedRange(tree: tree, lower: lower, upper: upper))
    }

    // MARK: Frames

    private func start(_ id: TreeID) throws {
        if let last = tree {
            guard last.id < id else { throw outOfOrder }
            if frame.count > 0 { try finishFrame() }
            footer.trees.append(last)
        }
        tree = PieceTree(id: id, isHashed: hashed.contains(id), firstFrame: frameNumber)
    }

    private func startFrame(_ id: TreeID, _ key: UnsafeRawBufferPointer) {
        let key = RunKey(tree: id, bytes: [UInt8](key))
        first = first ?? key
        fencePlaces.append(UInt32(fences.bytes.count))
        key.encode(to: &fences)
    }

    private func finishFrame() throws {
        guard (frameNumber + 1) * frameBytes <= RunFormat.maximumEntriesEnd else {
            throw StrataError(.outOfRange, "A piece of a run is too large.", .init(found: "\(number)"))
        }
        if frameNumber == 1 { try writeHeader() }
        let (start, firstHash) = (frameNumber * frameBytes, hashes.count - frame.count)
        frame.finish(into: try output.take(frameBytes)) { hashes.setPlace(start + $1, of: firstHash + $0) }
        frameNumber += 1
    }

    private func writeHeader() throws {
        let target = try output.take(frameBytes)
        target.initializeMemory(as: UInt8.self, repeating: 0)
        var header = ByteWriter()
        header.append(bytes: RunFormat.magic.utf8)
        header.append(RunFormat.version)
        header.append(owner.form)
        header.append(0 as UInt32)
        header.append(owner.store)
        header.append(number)
        header.append(UInt32(frameBytes))
        target.copyBytes(from: header.bytes)
        let sum = CRC32C.checksum(UnsafeRawBufferPointer(target))
        target.storeBytes(of: sum.littleEndian, toByteOffset: RunFormat.checksumPlace, as: UInt32.self)
    }

    private func note(_ blob: BlobReference) {
        blobs[blob.file, default: 0] += Int(blob.byteCount)
    }

    private var outOfOrder: StrataError {
        StrataError(.malformed, "Entries of a run are out of order.", .init(found: "tree \(tree?.id.rawValue ?? 0)"))
    }

    private var tooLong: StrataError {
        StrataError(
            .malformed, "A key or value of a run has an invalid length.",
            .init(expected: "a key of 1 to \(RunFormat.maximumKeyBytes) bytes that fits in a frame"))
    }

    // MARK: Finishing

    /// Writes the rest of the piece. The file is durable once it is synced.
    func finish() throws -> PieceDescriptor {
        let last = tree.map { RunKey(tree: $0.id, bytes: [UInt8](frame.lastKey)) }
        if frame.count > 0 { try finishFrame() } else if frameNumber == 1 { try writeHeader() }
        if let tree { footer.trees.append(tree) }
        footer.ranges = DeletedRanges(ranges)
        footer.blobs = blobs.map { BlobUse(file: $0, byteCount: $1) }.sorted { $0.file < $1.file }
        footer.hashFrame = frameNumber
        try writeHash()
        footer.fencesFrame = output.byteCount / frameBytes
        try writeFences()
        let bytes = footer.encoded()
        let place = output.byteCount
        let checksum = bytes.withUnsafeBytes { CRC32C.checksum($0) }
        try bytes.withUnsafeBytes { try output.append($0) }
        try output.pad(to: DirectWrites.alignment, leaving: RunFormat.tailBytes)
        var tail = ByteWriter()
        tail.append(UInt64(place))
        tail.append(UInt32(bytes.count))
        tail.append(checksum)
        tail.append(0 as UInt64)
        tail.append(bytes: RunFormat.magic.utf8)
        try tail.bytes.withUnsafeBytes { try output.append($0) }
        try output.flush()
        return PieceDescriptor(
            number: number, byteCount: output.byteCount, entries: footer.entries, marks: footer.marks,
            checksum: checksum, first: first, last: last)
    }

    private func writeHash() throws {
        let layout = HashLayout(entries: hashes.count)
        guard layout.buckets > 0 else { return }
        let buckets = UnsafeMutableRawBufferPointer.allocate(byteCount: layout.byteCount, alignment: 64)
        defer { buckets.deallocate() }
        buckets.initializeMemory(as: UInt8.self, repeating: 0)
        hashes.write(to: buckets)
        try output.append(UnsafeRawBufferPointer(buckets))
        try output.pad(to: frameBytes)
    }

    private func writeFences() throws {
        var head = ByteWriter(reserving: 4 + 4 * fencePlaces.count)
        head.append(UInt32(fences.bytes.count))
        for place in fencePlaces { head.append(place) }
        var sum = CRC32C()
        try head.bytes.withUnsafeBytes {
            sum.update($0)
            try output.append($0)
        }
        try fences.bytes.withUnsafeBytes {
            sum.update($0)
            try output.append($0)
        }
        try withUnsafeBytes(of: sum.value.littleEndian) { try output.append($0) }
    }
}
