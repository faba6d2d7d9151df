import StrataSystem

/// The entries of the frame that is being filled. Nothing is allocated per entry.
struct FrameBuilder: ~Copyable {
    private let frameBytes: Int
    /// The entries as in a frame without a prefix.
    private var staged = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    private let starts = UnsafeMutablePointer<UInt32>.allocate(capacity: RunFormat.maximumEntries)
    private(set) var count = 0
    private var stagedBytes = 0
    private var prefixBytes = 0
    private var alignment = 1
    private(set) var tree = TreeID(rawValue: 0)
    /// The place of the last key; it stays readable when a new frame begins, until an entry is appended.
    private var lastKeyPlace = 0..<0

    init(frameBytes: Int) { self.frameBytes = frameBytes }

    deinit {
        staged.deallocate()
        starts.deallocate()
    }

    var lastKey: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: staged[lastKeyPlace]) }

    var firstKey: UnsafeRawBufferPointer {
        let header = RunFormat.entryHeaderBytes
        let count = Int(Bytes.load(UInt16.self, UnsafeRawBufferPointer(staged), at: 0))
        return UnsafeRawBufferPointer(rebasing: staged[header..<header + count])
    }

    /// Adds an entry; returns false if the frame has no room for it or belongs to another tree.
    ///
    /// - Parameters:
    ///   - length: the number that the entry has as the length of its value.
    ///   - stored: the value, or the reference.
    mutating func append(
        _ tree: TreeID, key: UnsafeRawBufferPointer, length: UInt16, stored: UnsafeRawBufferPointer, isHashed: Bool
    ) -> Bool {
        var prefix = isHashed ? 0 : key.count
        if count > 0 {
            guard tree == self.tree, count < RunFormat.maximumEntries else { return false }
            if prefixBytes > 0 { prefix = min(prefixBytes, Bytes.commonPrefix(firstKey, key)) } else { prefix = 0 }
        }
        let alignment = isHashed ? RunFormat.hashedAlignment : 1
        let bytes = Self.aligned(RunFormat.entryHeaderBytes + key.count + stored.count, to: alignment)
        let all = stagedBytes + bytes - (count + 1) * prefix
        let slotsEnd = RunFormat.frameHeaderBytes + prefix + (count + 1) * RunFormat.slotBytes
        guard Self.aligned(slotsEnd, to: alignment) + all <= frameBytes else { return false }
        if stagedBytes + bytes > staged.count { grow() }
        let start = stagedBytes
        staged.storeBytes(of: UInt16(key.count).littleEndian, toByteOffset: start, as: UInt16.self)
        staged.storeBytes(of: length.littleEndian, toByteOffset: start + 2, as: UInt16.self)
        let keyStart = start + RunFormat.entryHeaderBytes
        let keyEnd = keyStart + key.count
        UnsafeMutableRawBufferPointer(rebasing: staged[keyStart..<keyEnd]).copyMemory(from: key)
        UnsafeMutableRawBufferPointer(rebasing: staged[keyEnd..<start + bytes]).copyMemory(from: stored)
        for place in keyEnd + stored.count..<start + bytes { staged[place] = 0 }
        lastKeyPlace = keyStart..<keyEnd
        starts[count] = UInt32(start)
        (self.tree, prefixBytes, self.alignment) = (tree, prefix, alignment)
        stagedBytes += bytes
        count += 1
        return true
    }

    @inline(__always)
    private static func aligned(_ count: Int, to alignment: Int) -> Int { (count + alignment - 1) & -alignment }

    private mutating func grow() {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: staged.count * 2, alignment: 16)
        larger.copyMemory(from: UnsafeRawBufferPointer(staged))
        staged.deallocate()
        staged = larger
    }

    /// Writes the frame to `target`, and begins the next one.
    ///
    /// - Parameter place: receives the place of each entry in a frame of a hashed tree.
    mutating func finish(into target: UnsafeMutableRawBufferPointer, place: (_ index: Int, _ start: Int) -> Void) {
        let header = RunFormat.frameHeaderBytes
        target.storeBytes(of: UInt16(count).littleEndian, toByteOffset: RunFormat.countPlace, as: UInt16.self)
        target.storeBytes(
            of: UInt16(prefixBytes).littleEndian, toByteOffset: RunFormat.prefixBytesPlace, as: UInt16.self)
        target.storeBytes(
            of: UInt32(tree.rawValue).littleEndian, toByteOffset: RunFormat.treePlace, as: UInt32.self)
        let slots = header + prefixBytes
        let slotsEnd = slots + count * RunFormat.slotBytes
        var end = Self.aligned(slotsEnd, to: alignment)
        UnsafeMutableRawBufferPointer(rebasing: target[slotsEnd..<end]).initializeMemory(as: UInt8.self, repeating: 0)
        if prefixBytes == 0 {
            for index in 0..<count {
                let start = end + Int(starts[index])
                target.storeBytes(
                    of: UInt16(start).littleEndian, toByteOffset: slots + index * RunFormat.slotBytes,
                    as: UInt16.self)
                if alignment > 1 { place(index, start) }
            }
            UnsafeMutableRawBufferPointer(rebasing: target[end...]).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: staged[..<stagedBytes]))
            end += stagedBytes
        } else {
            UnsafeMutableRawBufferPointer(rebasing: target[header...]).copyMemory(from: firstKey.keeping(prefixBytes))
            for index in 0..<count { end = copySuffixed(index, to: target, at: end, slots) }
        }
        UnsafeMutableRawBufferPointer(rebasing: target[end...]).initializeMemory(as: UInt8.self, repeating: 0)
        let sum = CRC32C.checksum(UnsafeRawBufferPointer(target).dropping(RunFormat.countPlace))
        target.storeBytes(of: sum.littleEndian, as: UInt32.self)
        (count, stagedBytes, prefixBytes) = (0, 0, 0)
    }

    /// Copies an entry without the prefix, and returns its end.
    private func copySuffixed(
        _ index: Int, to target: UnsafeMutableRawBufferPointer, at place: Int, _ slots: Int
    ) -> Int {
        let start = Int(starts[index])
        let next = index + 1 < count ? Int(starts[index + 1]) : stagedBytes
        let source = UnsafeRawBufferPointer(staged)
        let suffix = Bytes.load(UInt16.self, source, at: start) - UInt16(prefixBytes)
        target.storeBytes(
            of: UInt16(place).littleEndian, toByteOffset: slots + index * RunFormat.slotBytes, as: UInt16.self)
        target.storeBytes(of: suffix.littleEndian, toByteOffset: place, as: UInt16.self)
        target.storeBytes(
            of: source.loadUnaligned(fromByteOffset: start + 2, as: UInt16.self), toByteOffset: place + 2,
            as: UInt16.self)
        let rest = UnsafeRawBufferPointer(
            rebasing: source[start + RunFormat.entryHeaderBytes + prefixBytes..<next])
        let bytes = place + RunFormat.entryHeaderBytes
        UnsafeMutableRawBufferPointer(rebasing: target[bytes...]).copyMemory(from: rest)
        return bytes + rest.count
    }
}
