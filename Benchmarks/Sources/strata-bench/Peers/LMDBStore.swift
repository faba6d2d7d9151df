import CLMDB
import Glibc

/// LMDB at its own best: a writable map, no sync.
final class LMDBStore {
    private var environment: OpaquePointer?
    private var database: MDB_dbi = 0

    init(path: String, mapBytes: Int) throws {
        mkdir(path, 0o755)
        try Self.check(mdb_env_create(&environment))
        try Self.check(mdb_env_set_mapsize(environment, mapBytes))
        let flags = MDB_WRITEMAP | MDB_NOSYNC | MDB_NOMETASYNC | MDB_NORDAHEAD
        try Self.check(mdb_env_open(environment, path, UInt32(flags), 0o644))
        try write { transaction in
            try Self.check(mdb_dbi_open(transaction, nil, UInt32(MDB_CREATE), &database))
        }
    }

    deinit { mdb_env_close(environment) }

    static func check(_ result: Int32) throws {
        guard result == 0 else { throw BenchError(message: "LMDB: \(String(cString: mdb_strerror(result)))") }
    }

    func write(_ body: (OpaquePointer?) throws -> Void) throws {
        var transaction: OpaquePointer?
        try Self.check(mdb_txn_begin(environment, nil, 0, &transaction))
        do { try body(transaction) } catch {
            mdb_txn_abort(transaction)
            throw error
        }
        try Self.check(mdb_txn_commit(transaction))
    }

    /// A snapshot that is held while `body` runs.
    func read(_ body: (OpaquePointer?) throws -> Void) throws {
        var transaction: OpaquePointer?
        try Self.check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction))
        defer { mdb_txn_abort(transaction) }
        try body(transaction)
    }

    func put(
        _ transaction: OpaquePointer?, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
        isAppended: Bool = false
    ) throws {
        var key = Self.value(key)
        var value = Self.value(value)
        try Self.check(mdb_put(transaction, database, &key, &value, UInt32(isAppended ? MDB_APPEND : 0)))
    }

    func get(_ transaction: OpaquePointer?, _ key: UnsafeRawBufferPointer) throws -> UnsafeRawBufferPointer {
        var key = Self.value(key)
        var value = MDB_val()
        try Self.check(mdb_get(transaction, database, &key, &value))
        return UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
    }

    func scan(
        _ transaction: OpaquePointer?, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Void
    ) throws {
        var cursor: OpaquePointer?
        try Self.check(mdb_cursor_open(transaction, database, &cursor))
        defer { mdb_cursor_close(cursor) }
        var (key, value) = (MDB_val(), MDB_val())
        while mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == 0 {
            body(
                UnsafeRawBufferPointer(start: key.mv_data, count: key.mv_size),
                UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size))
        }
    }

    private static func value(_ bytes: UnsafeRawBufferPointer) -> MDB_val {
        MDB_val(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }
}
