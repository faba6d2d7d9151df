import CSQLite
import Glibc

/// SQLite at its own best, through its C API: a write-ahead log, every transaction synced, prepared statements, a cache
/// of 256 MiB, what is bound never copied.
// @unchecked: used by one thread at a time; whoever shares it sees to that.
final class SQLiteStore: @unchecked Sendable {
    private var database: OpaquePointer?
    private var insert: OpaquePointer?
    private var select: OpaquePointer?
    private var begin: OpaquePointer?
    private var commit: OpaquePointer?
    private let rows: SQLiteRows
    private let name = UnsafeMutableRawBufferPointer.allocate(byteCount: TaskRecords.nameBytes, alignment: 8)
    /// What a change feed would go by.
    private var change: Int64 = 0

    private static let columns = [
        "title TEXT", "notes TEXT", "status TEXT", "assignee TEXT", "priority INTEGER", "position INTEGER",
        "estimate REAL", "due REAL", "thumbnail BLOB", "latitude REAL", "longitude REAL", "accuracy REAL",
    ]
    private static let columnCount = columns.count + 5

    init(path: String, _ records: TaskRecords) throws {
        rows = SQLiteRows(records)
        // No mutex: one thread at a time uses it.
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        try check(sqlite3_open_v2(path, &database, flags, nil))
        try run("PRAGMA journal_mode = WAL")
        try run("PRAGMA synchronous = FULL")
        try run("PRAGMA cache_size = -262144")
        try run("PRAGMA wal_autocheckpoint = 10000")
        try run(
            """
            CREATE TABLE task(zone INTEGER NOT NULL, name TEXT NOT NULL, change INTEGER NOT NULL, \
            created INTEGER NOT NULL, modified INTEGER NOT NULL, \(Self.columns.joined(separator: ", ")))
            """)
        let marks = Array(repeating: "?", count: Self.columnCount).joined(separator: ", ")
        insert = try prepare("INSERT INTO task VALUES(\(marks))")
        begin = try prepare("BEGIN IMMEDIATE")
        commit = try prepare("COMMIT")
    }

    deinit {
        for statement in [insert, select, begin, commit] { sqlite3_finalize(statement) }
        sqlite3_close_v2(database)
        name.deallocate()
    }

    /// Fills it with `count` records, without syncing each, and makes the indexes.
    func fill(_ count: Int) throws {
        try run("PRAGMA synchronous = OFF")
        for start in stride(from: 0, to: count, by: 50_000) {
            try together { for index in start..<min(count, start + 50_000) { try add(index) } }
        }
        try run("CREATE UNIQUE INDEX task_name ON task(zone, name)")
        try run("CREATE INDEX task_change ON task(zone, change)")
        for key in TaskRecords.indexedKeys { try run("CREATE INDEX task_\(key) ON task(\(key))") }
        try run("PRAGMA wal_checkpoint(TRUNCATE)")
        try run("PRAGMA synchronous = FULL")
        select = try prepare("SELECT * FROM task WHERE zone = ? AND name = ?")
    }

    // MARK: Writing

    /// One transaction, durable when it returns.
    func together(_ body: () throws -> Void) throws {
        try step(begin)
        try body()
        try step(commit)
    }

    /// Adds the record with that number: a transaction of its own unless one is open.
    func add(_ index: Int) throws {
        change += 1
        TaskRecords.write(name: index, into: name)
        let now = Int64(secondsNow() * 1e6)
        sqlite3_bind_int64(insert, 1, 1)
        sqlite3_bind_text(insert, 2, name.baseAddress, Int32(name.count), nil)
        sqlite3_bind_int64(insert, 3, change)
        sqlite3_bind_int64(insert, 4, now)
        sqlite3_bind_int64(insert, 5, now)
        rows.bind(index, to: insert, from: 6)
        try step(insert)
    }

    // MARK: Reading

    /// Reads all columns where they are; the sum of what was looked at, so that nothing is left out.
    func fetchInPlace(_ name: UnsafeRawBufferPointer) throws -> Int {
        try find(name)
        var sum = 0
        for column in 0..<Int32(Self.columnCount) {
            switch sqlite3_column_type(select, column) {
            case SQLITE_INTEGER: sum &+= Int(sqlite3_column_int64(select, column))
            case SQLITE_FLOAT: sum &+= Int(sqlite3_column_double(select, column))
            case SQLITE_TEXT:
                sum &+= Int(sqlite3_column_text(select, column)?.pointee ?? 0)
                sum &+= Int(sqlite3_column_bytes(select, column))
            default:
                sum &+= Int(UInt(bitPattern: sqlite3_column_blob(select, column)) & 1)
                sum &+= Int(sqlite3_column_bytes(select, column))
            }
        }
        sqlite3_reset(select)
        return sum
    }

    /// Reads all columns into values of Swift.
    func fetch(_ name: UnsafeRawBufferPointer) throws -> TaskRecords.Sample {
        try find(name)
        let texts = (Int32(5)..<9).map { column in
            let bytes = UnsafeRawBufferPointer(
                start: sqlite3_column_text(select, column), count: Int(sqlite3_column_bytes(select, column)))
            return String(decoding: bytes, as: UTF8.self)
        }
        let blob = UnsafeRawBufferPointer(
            start: sqlite3_column_blob(select, 13), count: Int(sqlite3_column_bytes(select, 13)))
        let sample = TaskRecords.Sample(
            texts: texts, priority: sqlite3_column_int64(select, 9), position: sqlite3_column_int64(select, 10),
            estimate: sqlite3_column_double(select, 11), due: sqlite3_column_double(select, 12),
            thumbnail: [UInt8](blob), latitude: sqlite3_column_double(select, 14),
            longitude: sqlite3_column_double(select, 15))
        sqlite3_reset(select)
        return sample
    }

    private func find(_ name: UnsafeRawBufferPointer) throws {
        sqlite3_bind_int64(select, 1, 1)
        sqlite3_bind_text(select, 2, name.baseAddress, Int32(name.count), nil)
        guard sqlite3_step(select) == SQLITE_ROW else { throw BenchError(message: "SQLite lacks a record") }
    }

    /// One read transaction around all that `body` reads.
    func reading(_ body: () throws -> Void) throws {
        try run("BEGIN")
        try body()
        try step(commit)
    }

    // MARK: The C API

    private func prepare(_ text: String) throws -> OpaquePointer? {
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v3(database, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil))
        return statement
    }

    private func step(_ statement: OpaquePointer?) throws {
        let result = sqlite3_step(statement)
        sqlite3_reset(statement)
        guard result == SQLITE_DONE else { throw failure }
    }

    private func run(_ text: String) throws { try check(sqlite3_exec(database, text, nil, nil, nil)) }

    private func check(_ result: Int32) throws { if result != SQLITE_OK { throw failure } }

    private var failure: BenchError { BenchError(message: "SQLite: \(String(cString: sqlite3_errmsg(database)))") }
}

/// The values of the samples where SQLite can read them for as long as it likes.
// @unchecked: nothing changes after `init`.
private final class SQLiteRows: @unchecked Sendable {
    private let samples: [TaskRecords.Sample]
    private var texts: [[UnsafeMutableRawBufferPointer]]
    private var blobs: [UnsafeMutableRawBufferPointer]

    init(_ records: TaskRecords) {
        samples = records.samples
        texts = samples.map { $0.texts.map { Self.kept($0.utf8) } }
        blobs = samples.map { Self.kept($0.thumbnail) }
    }

    deinit { for bytes in blobs + texts.joined() { bytes.deallocate() } }

    private static func kept(_ bytes: some Collection<UInt8>) -> UnsafeMutableRawBufferPointer {
        let kept = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
        kept.copyBytes(from: bytes)
        return kept
    }

    func bind(_ index: Int, to statement: OpaquePointer?, from first: Int32) {
        let place = index % samples.count
        for (column, text) in texts[place].enumerated() {
            sqlite3_bind_text(statement, first + Int32(column), text.baseAddress, Int32(text.count), nil)
        }
        sqlite3_bind_int64(statement, first + 4, samples[place].priority)
        sqlite3_bind_int64(statement, first + 5, samples[place].position)
        sqlite3_bind_double(statement, first + 6, samples[place].estimate)
        sqlite3_bind_double(statement, first + 7, samples[place].due)
        sqlite3_bind_blob(statement, first + 8, blobs[place].baseAddress, Int32(blobs[place].count), nil)
        sqlite3_bind_double(statement, first + 9, samples[place].latitude)
        sqlite3_bind_double(statement, first + 10, samples[place].longitude)
        sqlite3_bind_double(statement, first + 11, 5)
    }
}
