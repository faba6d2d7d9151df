import StrataSystem

/// The hash of a key of a hashed tree (docs/format-runs.md §2).
package struct KeyHash: Sendable {
    /// The first eight bytes of the store id: names that collide in one store do not in another.
    let seed: UInt64

    package init(seed: UInt64) { self.seed = seed }

    private static let factor: UInt64 = 0x9E37_79B9_7F4A_7C15

    @inline(__always)
    private static func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let product = (a ^ b).multipliedFullWidth(by: factor)
        return product.high ^ product.low
    }

    package func hash(_ tree: TreeID, _ key: UnsafeRawBufferPointer) -> UInt64 {
        var hash = Self.mix(seed, UInt64(tree.rawValue) << 32 | UInt64(key.count))
        var place = 0
        while place + 8 <= key.count {
            hash = Self.mix(hash, Bytes.load(UInt64.self, key, at: place))
            place += 8
        }
        var last: UInt64 = 0
        while place < key.count {
            last |= UInt64(key[place]) << UInt64(8 * (place & 7))
            place += 1
        }
        return Self.mix(Self.mix(hash, last), Self.factor)
    }
}

/// The places of the buckets of a hash.
struct HashLayout {
    let buckets: Int

    init(entries: Int) { buckets = (entries + RunFormat.bucketLoad - 1) / RunFormat.bucketLoad }

    var groups: Int { (buckets + RunFormat.bucketsPerGroup - 1) / RunFormat.bucketsPerGroup }
    var byteCount: Int { groups * RunFormat.groupBytes }

    @inline(__always)
    func bucket(of hash: UInt64) -> Int { Int(hash.multipliedFullWidth(by: UInt64(buckets)).high) }

    @inline(__always)
    static func place(of bucket: Int) -> Int {
        bucket / RunFormat.bucketsPerGroup * RunFormat.groupBytes
            + bucket % RunFormat.bucketsPerGroup * RunFormat.bucketBytes
    }

    /// The place of a group's checksum.
    static func checksumPlace(ofGroup group: Int) -> Int {
        group * RunFormat.groupBytes + RunFormat.bucketsPerGroup * RunFormat.bucketBytes
    }

    static func checksum(_ group: UnsafeRawBufferPointer) -> UInt32 {
        CRC32C.checksum(group.keeping(RunFormat.bucketsPerGroup * RunFormat.bucketBytes))
    }
}

/// The hashes of the entries of a piece that is being written.
struct HashBuilder: ~Copyable {
    private struct Item {
        var hash: UInt64
        /// In units of ``RunFormat/hashedAlignment``.
        var place: UInt32 = 0
    }

    private var items = UnsafeMutableBufferPointer<Item>.allocate(capacity: 1_024)
    private(set) var count = 0

    deinit { items.deallocate() }

    mutating func append(_ hash: UInt64) {
        if count == items.count { grow() }
        items.initializeElement(at: count, to: Item(hash: hash))
        count += 1
    }

    /// Sets the place of an entry in the file.
    func setPlace(_ place: Int, of index: Int) { items[index].place = UInt32(place / RunFormat.hashedAlignment) }

    private mutating func grow() {
        let larger = UnsafeMutableBufferPointer<Item>.allocate(capacity: items.count * 2)
        _ = larger.moveInitialize(fromContentsOf: items)
        items.deallocate()
        items = larger
    }

    /// Writes the buckets with their checksums to `target`, which is zero.
    func write(to target: UnsafeMutableRawBufferPointer) {
        let layout = HashLayout(entries: count)
        for item in items[..<count] {
            var bucket = layout.bucket(of: item.hash)
            while !Self.insert(item, into: target, at: HashLayout.place(of: bucket)) {
                bucket = bucket + 1 == layout.buckets ? 0 : bucket + 1
            }
        }
        for group in 0..<layout.groups {
            let start = group * RunFormat.groupBytes
            let bytes = UnsafeRawBufferPointer(rebasing: target[start..<start + RunFormat.groupBytes])
            target.storeBytes(
                of: HashLayout.checksum(bytes).littleEndian,
                toByteOffset: HashLayout.checksumPlace(ofGroup: group), as: UInt32.self)
        }
    }

    private static func insert(_ item: Item, into target: UnsafeMutableRawBufferPointer, at bucket: Int) -> Bool {
        for slot in 0..<RunFormat.slotsPerBucket {
            let place = bucket + RunFormat.bucketPlaces + 4 * slot
            if target.load(fromByteOffset: place, as: UInt32.self) != 0 { continue }
            target.storeBytes(of: item.place.littleEndian, toByteOffset: place, as: UInt32.self)
            target.storeBytes(
                of: UInt16(truncatingIfNeeded: item.hash).littleEndian, toByteOffset: bucket + 2 * slot,
                as: UInt16.self)
            return true
        }
        target.storeBytes(of: 1, toByteOffset: bucket + RunFormat.passedPlace, as: UInt8.self)
        return false
    }
}
