import CRocksDB
import Glibc
import StrataSystem
import Synchronization

/// RocksDB with the same rows as the other stores: the record, one for each index, and its change. Its log is synced
/// with each write, and each save looks once if the record exists.
// @unchecked: RocksDB's handles may be used by all threads, and nothing else changes after `init`.
final class RocksTasks: TaskStore, @unchecked Sendable {
    let engine = "RocksDB"
    let configuration: String
    let settings: RocksConfiguration
    let paths: [String]
    private let encoder: RocksEncoder
    private let change = Atomic<UInt64>(0)
    /// Two saves of one record wait for each other, as the old rows of one are the other's.
    private let stripes = (0..<256).map { _ in Lock(0) }
    private let database: OpaquePointer?
    private let family: OpaquePointer?
    private let options = rocksdb_options_create()
    private let tableOptions = rocksdb_block_based_options_create()
    private let writing = rocksdb_writeoptions_create()
    private let reading = rocksdb_readoptions_create()
    private let isClosed = Atomic(false)

    init(path: String, _ settings: RocksConfiguration, _ records: TaskRecords) throws {
        paths = [path]
        configuration = settings.name
        self.settings = settings
        encoder = RocksEncoder(records)
        rocksdb_options_set_create_if_missing(options, 1)
        rocksdb_options_set_compression(options, Int32(rocksdb_lz4_compression))
        rocksdb_options_set_write_buffer_size(options, 64 << 20)
        rocksdb_options_set_max_write_buffer_number(options, 4)
        rocksdb_options_set_max_background_jobs(options, 2)
        rocksdb_options_set_enable_pipelined_write(options, settings.isPipelined ? 1 : 0)
        let cache = rocksdb_cache_create_lru(settings.cacheBytes)
        rocksdb_block_based_options_set_block_cache(tableOptions, cache)
        // The options share it, and it ends with the database.
        rocksdb_cache_destroy(cache)
        rocksdb_block_based_options_set_filter_policy(tableOptions, rocksdb_filterpolicy_create_bloom(10))
        rocksdb_options_set_block_based_table_factory(options, tableOptions)
        rocksdb_writeoptions_set_sync(writing, 1)
        (database, family) = try Self.open(path, options)
    }

    /// By the longer way, as only this gives the handle that many reads together ask for.
    private static func open(
        _ path: String, _ options: OpaquePointer?
    ) throws -> (database: OpaquePointer?, family: OpaquePointer?) {
        try "default".withCString { name in
            var (names, familyOptions): ([UnsafePointer<CChar>?], [OpaquePointer?]) = ([name], [options])
            var family: OpaquePointer?
            let database = try checking {
                rocksdb_open_column_families(options, path, 1, &names, &familyOptions, &family, &$0)
            }
            return (database, family)
        }
    }

    static func checking<Result>(_ body: (inout UnsafeMutablePointer<CChar>?) -> Result) throws -> Result {
        var message: UnsafeMutablePointer<CChar>?
        let result = body(&message)
        guard let message else { return result }
        defer { rocksdb_free(message) }
        throw BenchError(message: "RocksDB: \(String(cString: message))")
    }

    func close() {
        guard !isClosed.exchange(true, ordering: .relaxed) else { return }
        rocksdb_column_family_handle_destroy(family)
        rocksdb_close(database)
        rocksdb_readoptions_destroy(reading)
        rocksdb_writeoptions_destroy(writing)
        rocksdb_block_based_options_destroy(tableOptions)
        rocksdb_options_destroy(options)
    }

    func fill(_ count: Int) throws {
        rocksdb_writeoptions_set_sync(writing, 0)
        rocksdb_writeoptions_disable_WAL(writing, 1)
        for start in stride(from: 0, to: count, by: 1_000) {
            try write(TaskWrite.inserts(start..<min(count, start + 1_000)))
        }
        rest()
        rocksdb_writeoptions_disable_WAL(writing, 0)
        rocksdb_writeoptions_set_sync(writing, 1)
    }

    func resume(after count: Int) { change.store(UInt64(count), ordering: .relaxed) }

    func rest() { rocksdb_compact_range(database, nil, 0, nil, 0) }

    func reader(isShared: Bool) -> any TaskReader { RocksReader(database, family, reading, encoder) }

    // MARK: Writing

    func write(_ writes: [TaskWrite]) throws {
        if writes.count == 1, let only = writes.first {
            return try stripes[only.number & 255].withLock { _ in try writeAll(writes) }
        }
        try writeAll(writes)
    }

    private func writeAll(_ writes: [TaskWrite]) throws {
        let batch = rocksdb_writebatch_create()
        defer { rocksdb_writebatch_destroy(batch) }
        var (key, value): ([UInt8], [UInt8]) = ([], [])
        let now = UInt64(secondsNow() * 1e6)
        let keys = writes.map { entry in
            encoder.recordKey(entry, into: &key)
            return key
        }
        let states = try RocksReader.pin(database, family, reading, keys)
        defer { for state in states { rocksdb_pinnableslice_destroy(state) } }
        for (entry, old) in zip(writes, states) {
            let number = change.wrappingAdd(1, ordering: .relaxed).newValue
            encoder.recordKey(entry, into: &key)
            guard (old == nil) == (entry.kind == .insert) else { throw BenchError(message: "RocksDB: wrong record") }
            if entry.kind == .delete {
                delete(key, batch)
            } else {
                encoder.value(entry, change: number, now: now, into: &value)
                put(key, value[...], batch)
            }
            // The rows of the state before, and those of the new one.
            if let old {
                let bytes = RocksReader.bytes(of: old)
                encoder.forEachRow(entry, bytes, &key) { key in delete(key, batch) }
                encoder.changeKey(
                    entry.user, bytes.loadUnaligned(fromByteOffset: RocksEncoder.Place.change, as: UInt64.self),
                    into: &key)
                delete(key, batch)
            }
            if entry.kind != .delete {
                value.withUnsafeBytes { bytes in
                    encoder.forEachRow(entry, bytes, &key) { key in put(key, [], batch) }
                }
            }
            encoder.changeKey(entry.user, number, into: &key)
            put(key, (entry.kind == .delete ? [0x64] : [0x73]) + encoder.name(entry.number), batch)
        }
        try Self.checking { rocksdb_write(database, writing, batch, &$0) }
    }

    private func put(_ key: [UInt8], _ value: ArraySlice<UInt8>, _ batch: OpaquePointer?) {
        key.withUnsafeBytes { key in
            value.withUnsafeBytes { value in
                rocksdb_writebatch_put(
                    batch, key.baseAddress?.assumingMemoryBound(to: CChar.self), key.count,
                    value.baseAddress?.assumingMemoryBound(to: CChar.self), value.count)
            }
        }
    }

    private func delete(_ key: [UInt8], _ batch: OpaquePointer?) {
        key.withUnsafeBytes { key in
            rocksdb_writebatch_delete(batch, key.baseAddress?.assumingMemoryBound(to: CChar.self), key.count)
        }
    }
}

/// Keys and values of tasks: what a program in C would write.
struct RocksEncoder: Sendable {
    /// The places in a value: change, creation and modification in microseconds, due, priority, position, estimate,
    /// latitude, longitude, accuracy; then each text and the thumbnail behind its length.
    enum Place {
        static let change = 0
        static let due = 24
        static let priority = 32
        static let position = 40
        static let estimate = 48
        static let texts = 80
    }

    private let records: TaskRecords
    /// All that does not change with the record, as a memory copy is the fastest encoder.
    private let encoded: [[UInt8]]

    init(_ records: TaskRecords) {
        self.records = records
        encoded = records.samples.map { sample in
            var bytes: [UInt8] = []
            let numbers: [UInt64] = [
                UInt64(bitPattern: sample.priority), UInt64(bitPattern: sample.position), sample.estimate.bitPattern,
                sample.latitude.bitPattern, sample.longitude.bitPattern, 5.0.bitPattern,
            ]
            for number in numbers { Self.append(number, to: &bytes) }
            for text in sample.texts.map({ Array($0.utf8) }) + [sample.thumbnail] {
                Self.append(UInt64(text.count), to: &bytes)
                bytes += text
            }
            return bytes
        }
    }

    func name(_ number: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: TaskRecords.nameBytes) { buffer, count in
            TaskRecords.write(name: number, into: UnsafeMutableRawBufferPointer(buffer))
            count = TaskRecords.nameBytes
        }
    }

    func recordKey(_ entry: TaskWrite, into key: inout [UInt8]) {
        begin(&key, 0x72, entry.user)
        key += name(entry.number)
    }

    func value(_ entry: TaskWrite, change: UInt64, now: UInt64, into value: inout [UInt8]) {
        value.removeAll(keepingCapacity: true)
        let due = TaskRecords.due(entry.number, version: entry.version).bitPattern
        for number in [change, now, now, due] { Self.append(number, to: &value) }
        value += encoded[records.place(of: entry.number, version: entry.version)]
    }

    /// Calls `body` with the key of each row that the indexes have of a state.
    func forEachRow(
        _ entry: TaskWrite, _ value: UnsafeRawBufferPointer, _ key: inout [UInt8], _ body: ([UInt8]) -> Void
    ) {
        for place in [Place.priority, Place.estimate, Place.due] {
            begin(&key, 0x69, entry.user)
            key.append(UInt8(place))
            append(bigEndian: value.loadUnaligned(fromByteOffset: place, as: UInt64.self), to: &key)
            key += name(entry.number)
            body(key)
        }
    }

    func indexKey(priority: Int, into key: inout [UInt8]) {
        begin(&key, 0x69, 0)
        key.append(UInt8(Place.priority))
        append(bigEndian: UInt64(priority), to: &key)
    }

    func changeKey(_ user: Int, _ change: UInt64, into key: inout [UInt8]) {
        begin(&key, 0x63, user)
        append(bigEndian: change, to: &key)
    }

    private func begin(_ key: inout [UInt8], _ kind: UInt8, _ user: Int) {
        key.removeAll(keepingCapacity: true)
        key.append(kind)
        withUnsafeBytes(of: UInt32(user).bigEndian) { key.append(contentsOf: $0) }
    }

    private func append(bigEndian number: UInt64, to key: inout [UInt8]) {
        withUnsafeBytes(of: number.bigEndian) { key.append(contentsOf: $0) }
    }

    private static func append(_ number: UInt64, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
    }
}
