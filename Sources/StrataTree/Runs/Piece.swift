import StrataModel
import StrataSystem

/// A file of a run, mapped. Its parts are checked when they are first used.
// @unchecked: the pointers and what they point to never change, and the bits of checked parts are atomic.
package final class Piece: @unchecked Sendable {
    /// The frames of a tree.
    private struct TreeFrames {
        var id: TreeID
        var isHashed: Bool
        var frames: Range<Int>
    }

    package let descriptor: PieceDescriptor
    let map: RunMap
    /// The address of the first frame.
    private let base: UnsafeRawPointer
    private let trees: UnsafeMutableBufferPointer<TreeFrames>
    let frameBytes: Int
    private let frameShift: Int
    let footer: PieceFooter
    let fences: Fences
    /// The number of the first frame after the entries; entries begin with frame 1.
    var endFrame: Int { footer.hashFrame }
    let checkedFrames: CheckedBits
    private let checkedGroups: CheckedBits
    private let hashLayout: HashLayout
    private let hashStart: Int

    /// Opens a piece; reads its header and footer.
    ///
    /// - Throws: ``StrataError`` if the file is damaged, or another than the descriptor says.
    package init(_ file: any File, _ descriptor: PieceDescriptor, _ owner: RunOwner) throws {
        self.descriptor = descriptor
        map = try RunMap(file, byteCount: descriptor.byteCount)
        guard map.bytes.count >= RunFormat.headerEnd + RunFormat.tailBytes else {
            throw map.malformed("no header", at: 0)
        }
        frameBytes = try Self.checkHeader(map, descriptor.number, owner)
        frameShift = frameBytes.trailingZeroBitCount
        let (footer, place) = try Self.readFooter(map, descriptor.checksum)
        self.footer = footer
        hashStart = footer.hashFrame * frameBytes
        hashLayout = HashLayout(entries: Int(footer.hashedEntries))
        let fencesStart = footer.fencesFrame * frameBytes
        guard hashStart + hashLayout.byteCount <= fencesStart, fencesStart <= place else {
            throw map.malformed("sections that overlap", at: place)
        }
        fences = Fences(map, fencesStart..<place, count: footer.hashFrame - 1)
        checkedFrames = CheckedBits(count: footer.hashFrame)
        checkedGroups = CheckedBits(count: hashLayout.groups)
        guard footer.entries == descriptor.entries, footer.marks == descriptor.marks else {
            throw map.malformed("\(footer.entries) entries, \(footer.marks) marks", at: place)
        }
        base = map.bytes.start
        trees = .allocate(capacity: footer.trees.count)
        for (index, tree) in footer.trees.enumerated() {
            let end = index + 1 < footer.trees.count ? footer.trees[index + 1].firstFrame : footer.hashFrame
            let frames = TreeFrames(id: tree.id, isHashed: tree.isHashed, frames: tree.firstFrame..<end)
            trees.initializeElement(at: index, to: frames)
        }
        try map.requireReadable()
    }

    deinit { trees.deallocate() }

    private static func checkHeader(_ map: RunMap, _ number: UInt64, _ owner: RunOwner) throws -> Int {
        let bytes = map.bytes.all
        guard bytes.prefix(RunFormat.versionPlace).elementsEqual(RunFormat.magic.utf8) else {
            throw map.malformed("another magic", at: 0)
        }
        let version = Bytes.load(UInt16.self, bytes, at: RunFormat.versionPlace)
        let frameBytes = Int(Bytes.load(UInt32.self, bytes, at: RunFormat.frameBytesPlace))
        guard version == RunFormat.version, RunFormat.frameSizes.contains(frameBytes),
            frameBytes.nonzeroBitCount == 1, frameBytes <= bytes.count
        else { throw map.malformed("version \(version), frames of \(frameBytes) bytes", at: 0) }
        var sum = CRC32C()
        sum.update(bytes.keeping(RunFormat.checksumPlace))
        sum.update(0 as UInt32)
        sum.update(bytes.keeping(frameBytes).dropping(RunFormat.storePlace))
        let stored = Bytes.load(UInt32.self, bytes, at: RunFormat.checksumPlace)
        try map.check(sum.value, is: stored, of: "header", at: 0)
        var reader = ByteReader(bytes, at: RunFormat.formPlace)
        let form = try reader.read(UInt16.self, "the form of the views")
        reader.position = RunFormat.storePlace
        let store = try reader.readIdentifier("the store id")
        let found = try reader.read(UInt64.self, "the number of the file")
        guard RunOwner(store: store, form: form) == owner, found == number else {
            throw map.malformed("file \(found) of store \(store), form \(form)", at: 0)
        }
        return frameBytes
    }

    private static func readFooter(_ map: RunMap, _ expected: UInt32) throws -> (PieceFooter, place: Int) {
        let bytes = map.bytes.all
        let end = bytes.count - RunFormat.tailBytes
        let tail = bytes.dropping(end)
        guard tail.dropping(RunFormat.tailMagicPlace).elementsEqual(RunFormat.magic.utf8),
            Bytes.load(UInt64.self, tail, at: 16) == 0
        else { throw map.malformed("no magic at its end", at: end) }
        let place = Bytes.load(UInt64.self, tail, at: 0)
        let count = Int(Bytes.load(UInt32.self, tail, at: 8))
        guard place <= UInt64(end), count <= end - Int(place) else {
            throw map.malformed("a footer outside of it", at: end)
        }
        let footer = UnsafeRawBufferPointer(rebasing: bytes[Int(place)..<Int(place) + count])
        let sum = CRC32C.checksum(footer)
        for stored in [Bytes.load(UInt32.self, tail, at: 12), expected] {
            try map.check(sum, is: stored, of: "footer", at: Int(place))
        }
        return (try PieceFooter(decoding: footer), Int(place))
    }

    /// The ranges of keys that older runs do not show.
    package var ranges: DeletedRanges { footer.ranges }
    /// The blob files that entries refer to, with the bytes of the values.
    package var blobs: [BlobUse] { footer.blobs }
    /// The numbers of entries by tree, marks included.
    package func entries(of tree: TreeID) -> UInt64 { footer.trees.first { $0.id == tree }?.entries ?? 0 }

    /// The frames of a tree; empty if the piece has none.
    @inline(__always)
    func frames(of id: TreeID) -> Range<Int> {
        for tree in trees where tree.id == id { return tree.frames }
        return 0..<0
    }

    /// The first frame of the trees after one.
    func firstFrame(after id: TreeID) -> Int { trees.first { $0.id > id }?.frames.lowerBound ?? endFrame }

    @inline(__always)
    func isHashed(_ id: TreeID) -> Bool {
        for tree in trees where tree.id == id { return tree.isHashed }
        return false
    }

    // MARK: Parts

    /// Opens a piece that was just written, and checks all its parts: no state names bytes that the disk did not keep,
    /// and no reader waits for their checksums.
    static func written(_ file: any File, _ descriptor: PieceDescriptor, _ owner: RunOwner) throws -> Piece {
        try RunMap.checkingWritten {
            let piece = try Piece(file, descriptor, owner)
            for number in 1..<max(1, piece.endFrame) { try piece.check(frame: number) }
            for group in 0..<piece.hashLayout.groups { try piece.check(group: group) }
            try piece.fences.check()
            return piece
        }
    }

    @inline(__always)
    func frame(_ number: Int) throws -> Frame {
        assert(number >= 1 && number < endFrame)
        if !checkedFrames.contains(number) { try check(frame: number) }
        return try reading(number) { try Frame(address(ofFrame: number), byteCount: frameBytes) }
    }

    /// Calls `body`, which reads a frame. Errors of its layout get their place.
    @inline(__always)
    func reading<Result>(_ number: Int, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch { throw placing(error, number) }
    }

    /// Returns the error of reading a frame with its place, if it has none.
    @inline(never)
    func placing(_ error: any Error, _ number: Int) -> any Error {
        guard let found = error as? StrataError, found.context.path == nil else { return error }
        return map.malformed("a place or length outside of the frame", at: number * frameBytes)
    }

    @inline(__always)
    func address(ofFrame number: Int) -> UnsafeRawPointer { base + number * frameBytes }

    @inline(never)
    private func check(frame number: Int) throws {
        let bytes = UnsafeRawBufferPointer(start: address(ofFrame: number), count: frameBytes)
        let sum = CRC32C.checksum(bytes.dropping(RunFormat.countPlace))
        try map.check(sum, is: Bytes.load(UInt32.self, bytes, at: 0), of: "a frame", at: number * frameBytes)
        checkedFrames.insert(number)
    }

    @inline(never)
    private func check(group: Int) throws {
        let start = hashStart + group * RunFormat.groupBytes
        let bytes = UnsafeRawBufferPointer(start: base + start, count: RunFormat.groupBytes)
        let stored = Bytes.load(UInt32.self, bytes, at: HashLayout.checksumPlace(ofGroup: 0))
        try map.check(HashLayout.checksum(bytes), is: stored, of: "a group of the hash", at: start)
        checkedGroups.insert(group)
    }

    // MARK: Hash

    @inline(__always)
    private func bucketAddress(_ bucket: Int) -> UnsafeRawPointer {
        base + hashStart + HashLayout.place(of: bucket)
    }

    /// Prefetches the bucket of a hash.
    @inline(__always)
    func ask(forBucketOf hash: UInt64) {
        if hashLayout.buckets > 0 { Prefetch.ask(bucketAddress(hashLayout.bucket(of: hash)), byteCount: 1) }
    }

    /// The places of entries that may have a hash, from bucket to bucket.
    struct Candidates {
        fileprivate let fingerprint: UInt64
        fileprivate var bucket: Int
        /// Bits of the slots of the bucket that have the fingerprint and were not returned.
        fileprivate var slots: UInt32
        /// The buckets that may still follow.
        fileprivate var left: Int
    }

    func candidates(of hash: UInt64) throws -> Candidates {
        let count = hashLayout.buckets
        var found = Candidates(fingerprint: hash & 0xFFFF, bucket: 0, slots: 0, left: count)
        if count > 0 {
            found.bucket = hashLayout.bucket(of: hash)
            found.slots = try slots(of: found.fingerprint, in: found.bucket)
        }
        return found
    }

    /// Returns the place of the next entry that may have the hash; nil if there is none.
    @inline(__always)
    func next(_ candidates: inout Candidates) throws -> Int? {
        while candidates.left > 0 {
            let bucket = bucketAddress(candidates.bucket)
            if candidates.slots != 0 {
                let slot = candidates.slots.trailingZeroBitCount
                candidates.slots &= candidates.slots - 1
                let place = UInt32(
                    littleEndian: bucket.load(fromByteOffset: RunFormat.bucketPlaces + 4 * slot, as: UInt32.self))
                if place != 0 { return Int(place) * RunFormat.hashedAlignment }
                continue
            }
            guard bucket.load(fromByteOffset: RunFormat.passedPlace, as: UInt8.self) != 0 else { break }
            candidates.left -= 1
            candidates.bucket = candidates.bucket + 1 == hashLayout.buckets ? 0 : candidates.bucket + 1
            candidates.slots = try slots(of: candidates.fingerprint, in: candidates.bucket)
        }
        candidates.left = 0
        return nil
    }

    /// Returns a bit for each slot that may have a fingerprint.
    @inline(__always)
    private func slots(of fingerprint: UInt64, in bucket: Int) throws -> UInt32 {
        let group = bucket / RunFormat.bucketsPerGroup
        if !checkedGroups.contains(group) { try check(group: group) }
        let address = bucketAddress(bucket)
        // Four fingerprints at a time: a lane that is equal becomes zero, and its highest bit is set by the borrow. A
        // lane above it may be set wrongly, which the comparison of keys finds out.
        let (ones, highs) = (0x0001_0001_0001_0001 as UInt64, 0x8000_8000_8000_8000 as UInt64)
        var bits: UInt32 = 0
        for word in 0..<3 {
            let lanes = UInt64(littleEndian: address.load(fromByteOffset: 8 * word, as: UInt64.self))
            let difference = lanes ^ fingerprint &* ones
            let equal = (difference &- ones) & ~difference & highs
            // The four highest bits, moved next to each other.
            let four = UInt32(truncatingIfNeeded: (equal >> 15 &* 0x0001_0002_0004_0008) >> 48) & 0xF
            bits |= four << UInt32(4 * word)
        }
        return bits & 0x3FF
    }

    /// Prefetches an entry, of a size that is usual.
    @inline(__always)
    func ask(forEntryAt place: Int) { Prefetch.ask(base + place, byteCount: 448) }

    /// Returns the content of the entry at a place of the hash if it has a key.
    @inline(__always)
    func content(at place: Int, in frames: Range<Int>, _ key: UnsafeRawBufferPointer) throws -> RunContent? {
        let number = place >> frameShift
        // The entry may be of another tree.
        guard frames.contains(number) else { return nil }
        if !checkedFrames.contains(number) { try check(frame: number) }
        let end = (number + 1) * frameBytes
        let (found, content) = try reading(number) {
            try Frame.entry(UnsafeRawBufferPointer(start: base + place, count: end - place), after: 0)
        }
        return found.count == key.count && Bytes.compare(found, key) == 0 ? content : nil
    }

    // MARK: Looking up

    /// Returns the content of a key, marks included; nil if the piece does not have it. Bytes are valid as long as the
    /// piece, once ``requireReadable()`` has returned after they were used.
    package func get(_ tree: TreeID, _ key: UnsafeRawBufferPointer, hash: UInt64) throws -> RunContent? {
        let content = isHashed(tree) ? try get(hashed: tree, key, hash) : try getSorted(tree, key)
        try map.requireReadable()
        return content
    }

    private func get(hashed tree: TreeID, _ key: UnsafeRawBufferPointer, _ hash: UInt64) throws -> RunContent? {
        let frames = frames(of: tree)
        var candidates = try candidates(of: hash)
        while let place = try next(&candidates) {
            if let content = try content(at: place, in: frames, key) { return content }
        }
        return nil
    }

    private func getSorted(_ tree: TreeID, _ key: UnsafeRawBufferPointer) throws -> RunContent? {
        guard let number = try fences.frame(of: key, in: frames(of: tree), orEqual: true) else { return nil }
        return try reading(number) { try frame(number).find(key) }
    }

    /// - Throws: ``StrataError`` if bytes that were read until now could not be read.
    package func requireReadable() throws { try map.requireReadable() }
}
