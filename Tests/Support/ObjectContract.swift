import StrataModel
import StrataReplication
import StrataSystem

/// What every object store must do, whatever keeps its messages.
///
/// ```swift
/// let keeper = MemoryKeeper(maximumMessageBytes: 1_100)
/// try ObjectContract { keeper }.run(seed: 1)
/// ```
package struct ObjectContract {
    /// Something that the contract says is not so.
    package struct Breach: Error, CustomStringConvertible {
        package let description: String
    }

    private let keeper: () throws -> any MessageKeeper

    /// - Parameter keeper: returns a keeper of the same messages at each call.
    package init(_ keeper: @escaping () throws -> any MessageKeeper) { self.keeper = keeper }

    private func require(_ isSo: Bool, _ what: String) throws {
        guard isSo else { throw Breach(description: what) }
    }

    /// Repeats what servers did not answer.
    package static func patiently<Result>(_ body: () throws -> Result) throws -> Result {
        var count = 0
        while true {
            do { return try body() } catch let error as StrataError where error.code == .unreachable && count < 50 {
                count += 1
            }
        }
    }

    package static func hash(_ bytes: [UInt8]) throws -> ContentHash {
        var hasher = ContentHasher()
        bytes.withUnsafeBytes { hasher.update($0) }
        return try ContentHash(bytes: hasher.finish())
    }

    /// Returns a file with bytes, and their hash.
    package static func file(
        _ bytes: [UInt8], on disk: SimulatedDisk = SimulatedDisk()
    ) throws -> (hash: ContentHash, file: any File) {
        let file = try disk.open("/object", .writeOrCreate)
        try file.truncate(to: 0)
        try file.write(bytes, at: 0)
        return (try hash(bytes), file)
    }

    @discardableResult
    package static func put(_ bytes: [UInt8], in store: ObjectStore) throws -> ContentHash {
        let (hash, file) = try file(bytes)
        try patiently { try store.put(hash, file, byteCount: bytes.count) }
        return hash
    }

    package static func fetch(_ hash: ContentHash, from store: ObjectStore) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try store.fetch(hash) { piece, position in bytes = bytes[..<position] + piece }
        return bytes
    }

    /// Puts objects of some sizes through one store, and reads them through another.
    package func run(seed: UInt64, pieceBytes: Int = 1_024) throws {
        let random = SeededRandom(seed: seed)
        let (one, other) = (ObjectStore(try keeper(), random), ObjectStore(try keeper(), random))
        defer { for store in [one, other] { store.close() } }
        var hashes: [ContentHash] = []
        for size in [0, 1, pieceBytes - 1, pieceBytes, pieceBytes + 1, 3 * pieceBytes, 5 * pieceBytes / 2] {
            let bytes = random.nextBytes(count: size)
            let hash = try Self.hash(bytes)
            try require(try Self.patiently { try !other.contains(hash) }, "\(size) bytes are there before they came")
            try Self.put(bytes, in: one)
            let fetched = try Self.patiently { try Self.fetch(hash, from: other) }
            try require(fetched == bytes, "\(size) bytes came back as others")
            // The same again is another process's success, too.
            try Self.put(bytes, in: other)
            hashes.append(hash)
        }
        try require(Set(try other.list()) == Set(hashes), "the list has other objects")
        let gone = hashes.removeFirst()
        try one.remove(gone)
        try require(try Self.patiently { try !other.contains(gone) }, "a removed object is there")
        try require(Set(try other.list()) == Set(hashes), "the list has another number of objects")
    }

    /// Puts one object through several stores at once; all must succeed.
    package func race(seed: UInt64, byteCount: Int) throws {
        let random = SeededRandom(seed: seed)
        let bytes = random.nextBytes(count: byteCount)
        let stores = try (0..<4).map { _ in ObjectStore(try keeper(), random) }
        let failures = Lock<[any Error]>([])
        let threads = try stores.map { store in
            try WorkerThread(name: "put") {
                do { try Self.put(bytes, in: store) } catch { failures.withLock { $0.append(error) } }
            }
        }
        for thread in threads { thread.join() }
        if let failure = failures.withLock({ $0.first }) { throw failure }
        let hash = try Self.hash(bytes)
        try require(try Self.patiently { try Self.fetch(hash, from: stores[0]) } == bytes, "the bytes are others")
        _ = try Self.patiently { try stores[1].removeLeftovers() }
        try require(try Self.patiently { try Self.fetch(hash, from: stores[2]) } == bytes, "a piece was a leftover")
        for store in stores { store.close() }
    }
}
