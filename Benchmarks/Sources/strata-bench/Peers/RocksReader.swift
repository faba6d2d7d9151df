import CRocksDB

/// The reads of one client of RocksDB.
final class RocksReader: TaskReader {
    private let database: OpaquePointer?
    private let family: OpaquePointer?
    private let options: OpaquePointer?
    private let encoder: RocksEncoder
    private var key: [UInt8] = []

    init(
        _ database: OpaquePointer?, _ family: OpaquePointer?, _ options: OpaquePointer?, _ encoder: RocksEncoder
    ) {
        self.database = database
        self.family = family
        self.options = options
        self.encoder = encoder
    }

    /// The value of a key where the cache has it; nil if there is none.
    static func pin(_ database: OpaquePointer?, _ options: OpaquePointer?, _ key: [UInt8]) throws -> OpaquePointer? {
        try key.withUnsafeBytes { key in
            try RocksTasks.checking {
                rocksdb_get_pinned(
                    database, options, key.baseAddress?.assumingMemoryBound(to: CChar.self), key.count, &$0)
            }
        }
    }

    /// The same of many keys, which have the same length, together.
    static func pin(
        _ database: OpaquePointer?, _ family: OpaquePointer?, _ options: OpaquePointer?, _ keys: [[UInt8]]
    ) throws -> [OpaquePointer?] {
        guard keys.count > 1, let length = keys.first?.count else {
            return try keys.map { try pin(database, options, $0) }
        }
        var values = [OpaquePointer?](repeating: nil, count: keys.count)
        var errors = [UnsafeMutablePointer<CChar>?](repeating: nil, count: keys.count)
        keys.flatMap(\.self).withUnsafeBytes { together in
            let starts = keys.indices.map { place in
                together.baseAddress.map { ($0 + place * length).assumingMemoryBound(to: CChar.self) }
            }
            rocksdb_batched_multi_get_cf(
                database, options, family, keys.count, starts, Array(repeating: length, count: keys.count), &values,
                &errors, false)
        }
        for case let error? in errors { throw BenchError(message: "RocksDB: \(String(cString: error))") }
        return values
    }

    static func bytes(of slice: OpaquePointer?) -> UnsafeRawBufferPointer {
        var count = 0
        let start = rocksdb_pinnableslice_value(slice, &count)
        return UnsafeRawBufferPointer(start: start, count: count)
    }

    func fetch(_ keys: ArraySlice<TaskKey>, _ reading: Reading) throws -> Int {
        if keys.count == 1, let only = keys.first { return try fetch(only.name[...], reading) }
        return try Self.pin(database, family, options, keys.map { Self.recordKeyPrefix + $0.name }).reduce(0) {
            guard let value = $1 else { throw BenchError(message: "RocksDB lacks a record") }
            defer { rocksdb_pinnableslice_destroy(value) }
            return $0 &+ look(at: Self.bytes(of: value), reading)
        }
    }

    private static let recordKeyPrefix: [UInt8] = [0x72, 0, 0, 0, 0]

    private func fetch(_ name: ArraySlice<UInt8>, _ reading: Reading) throws -> Int {
        key.removeAll(keepingCapacity: true)
        key += Self.recordKeyPrefix
        key += name
        guard let slice = try Self.pin(database, options, key) else {
            throw BenchError(message: "RocksDB lacks a record")
        }
        defer { rocksdb_pinnableslice_destroy(slice) }
        return look(at: Self.bytes(of: slice), reading)
    }

    func query(priority: Int, limit: Int) throws -> Int {
        encoder.indexKey(priority: priority, into: &key)
        let start = key
        return try scan(from: start, limit: limit) { key, _ in
            key.starts(with: start) ? Array(key.suffix(TaskRecords.nameBytes)) : nil
        }
    }

    func feed(after place: FeedPlace?, limit: Int) throws -> FeedPage {
        var last: UInt64 = 0
        if case .change(let known)? = place { last = UInt64(known) }
        encoder.changeKey(0, last + 1, into: &key)
        let prefix = Array(key.prefix(5))
        let count = try scan(from: key, limit: limit) { key, value in
            guard key.starts(with: prefix) else { return nil }
            last = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: 5, as: UInt64.self))
            // A deletion has nothing to be read.
            return value.first == 0x73 ? Array(value.dropFirst()) : []
        }
        return FeedPage(count: count, place: .change(Int64(last)), hasMore: count == limit)
    }

    /// Reads the records that rows name, until a row names none; how many rows there were.
    private func scan(
        from start: [UInt8], limit: Int, _ name: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> [UInt8]?
    ) throws -> Int {
        let iterator = rocksdb_create_iterator(database, options)
        defer { rocksdb_iter_destroy(iterator) }
        start.withUnsafeBytes {
            rocksdb_iter_seek(iterator, $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count)
        }
        var count = 0
        while count < limit, rocksdb_iter_valid(iterator) != 0 {
            var (keyCount, valueCount) = (0, 0)
            let key = UnsafeRawBufferPointer(start: rocksdb_iter_key(iterator, &keyCount), count: keyCount)
            let value = UnsafeRawBufferPointer(start: rocksdb_iter_value(iterator, &valueCount), count: valueCount)
            guard let name = name(key, value) else { break }
            if !name.isEmpty { _ = try fetchIfPresent(name) }
            count += 1
            rocksdb_iter_next(iterator)
        }
        return count
    }

    /// A record that was just deleted has an index row in the iterator's state, and no value in the newest one.
    private func fetchIfPresent(_ name: [UInt8]) throws -> Int {
        let slice = try Self.pin(database, options, Self.recordKeyPrefix + name)
        guard let slice else { return 0 }
        defer { rocksdb_pinnableslice_destroy(slice) }
        return look(at: Self.bytes(of: slice), .values)
    }

    // MARK: Values

    private func look(at value: UnsafeRawBufferPointer, _ reading: Reading) -> Int {
        switch reading {
        case .inPlace: sumInPlace(value)
        case .values: max(1, sample(value).thumbnail.count)
        }
    }

    private func sumInPlace(_ value: UnsafeRawBufferPointer) -> Int {
        var sum: UInt64 = 0
        for place in stride(from: RocksEncoder.Place.due, to: RocksEncoder.Place.texts, by: 8) {
            sum &+= number(value, place)
        }
        var place = 0
        forEachText(value) { bytes in
            // Of texts the others read the first byte and the length.
            sum &+= place < 4 ? UInt64(bytes.first ?? 0) &+ UInt64(bytes.count) : UInt64(byteSum(bytes))
            place += 1
        }
        return Int(truncatingIfNeeded: sum)
    }

    private func sample(_ value: UnsafeRawBufferPointer) -> TaskRecords.Sample {
        var (texts, blob): ([String], [UInt8]) = ([], [])
        forEachText(value) { bytes in
            if texts.count < 4 { texts.append(String(decoding: bytes, as: UTF8.self)) } else { blob = [UInt8](bytes) }
        }
        func real(_ place: Int) -> Double { Double(bitPattern: number(value, place)) }
        return TaskRecords.Sample(
            texts: texts, priority: Int64(bitPattern: number(value, RocksEncoder.Place.priority)),
            position: Int64(bitPattern: number(value, RocksEncoder.Place.position)),
            estimate: real(RocksEncoder.Place.estimate), due: real(RocksEncoder.Place.due), thumbnail: blob,
            latitude: real(56), longitude: real(64))
    }

    private func number(_ value: UnsafeRawBufferPointer, _ place: Int) -> UInt64 {
        value.loadUnaligned(fromByteOffset: place, as: UInt64.self)
    }

    private func forEachText(_ value: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) -> Void) {
        var place = RocksEncoder.Place.texts
        while place < value.count {
            let count = Int(number(value, place))
            body(UnsafeRawBufferPointer(rebasing: value[place + 8..<place + 8 + count]))
            place += 8 + count
        }
    }
}
