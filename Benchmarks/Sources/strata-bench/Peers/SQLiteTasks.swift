import CSQLite
import Glibc

/// SQLite with tasks in it, at its own best: prepared statements, and nothing that is bound is copied.
// @unchecked: used by one thread at a time, which those that share it ensure.
final class SQLiteTasks: TaskStore, @unchecked Sendable {
    let engine = "SQLite"
    let configuration: String
    let paths: [String]
    private let path: String
    let settings: SQLiteConfiguration
    private let connection: SQLiteConnection
    private let rows: SQLiteRows
    private let insert, update, delete, bury, begin, commit: OpaquePointer?
    private let name = UnsafeMutableRawBufferPointer.allocate(byteCount: TaskRecords.nameBytes, alignment: 8)
    /// The number of the last change, by which a feed reads.
    private var change: Int64 = 0

    static let columns = [
        "title TEXT", "notes TEXT", "status TEXT", "assignee TEXT", "priority INTEGER", "position INTEGER",
        "estimate REAL", "due REAL", "thumbnail BLOB", "latitude REAL", "longitude REAL", "accuracy REAL",
    ]
    static let columnCount = columns.count + 5
    /// The columns of a record's own values: not its zone, name, change and times.
    static let valueColumns = Int32(5)..<Int32(columnCount)

    init(path: String, _ settings: SQLiteConfiguration, _ records: TaskRecords) throws {
        self.path = path
        self.settings = settings
        configuration = settings.name
        paths = ["", "-wal", "-shm"].map { path + $0 }
        rows = SQLiteRows(records)
        connection = try SQLiteConnection(path: path, settings)
        let key = settings.hasRowID ? "" : ", PRIMARY KEY(zone, name)"
        try connection.run(
            """
            CREATE TABLE IF NOT EXISTS task(zone INTEGER NOT NULL, name TEXT NOT NULL, change INTEGER NOT NULL, \
            created INTEGER NOT NULL, modified INTEGER NOT NULL, \(Self.columns.joined(separator: ", "))\(key)) \
            \(settings.hasRowID ? "" : "WITHOUT ROWID");
            CREATE TABLE IF NOT EXISTS gone(zone INTEGER, change INTEGER, name TEXT, PRIMARY KEY(zone, change)) \
            WITHOUT ROWID
            """)
        let marks = Array(repeating: "?", count: Self.columnCount).joined(separator: ", ")
        insert = try connection.statement("INSERT INTO task VALUES(\(marks))")
        let sets = Self.columns.map { "\($0.prefix { $0 != " " }) = ?" }.joined(separator: ", ")
        update = try connection.statement(
            "UPDATE task SET change = ?, modified = ?, \(sets) WHERE zone = ? AND name = ?")
        delete = try connection.statement("DELETE FROM task WHERE zone = ? AND name = ?")
        bury = try connection.statement("INSERT INTO gone VALUES(?, ?, ?)")
        begin = try connection.statement("BEGIN IMMEDIATE")
        commit = try connection.statement("COMMIT")
    }

    deinit { name.deallocate() }

    func close() throws {
        connection.close()
    }

    /// In the order of the numbers, or where the table is a tree of names in theirs.
    func fill(_ count: Int) throws {
        try connection.run("PRAGMA synchronous = OFF")
        let numbers = Array(0..<count)
        let order =
            settings.hasRowID
            ? numbers : numbers.map { (TaskRecords.name($0), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
        for start in stride(from: 0, to: count, by: 50_000) {
            try write(TaskWrite.inserts(order[start..<min(count, start + 50_000)]))
        }
        if settings.hasRowID { try connection.run("CREATE UNIQUE INDEX task_name ON task(zone, name)") }
        try connection.run("CREATE INDEX task_change ON task(zone, change)")
        for key in TaskRecords.indexedKeys { try connection.run("CREATE INDEX task_\(key) ON task(\(key))") }
        try connection.run("ANALYZE; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA synchronous = FULL")
    }

    func resume(after count: Int) { change = Int64(count) }

    func rest() throws { try connection.run("PRAGMA wal_checkpoint(TRUNCATE)") }

    // MARK: Writing

    func write(_ writes: [TaskWrite]) throws {
        try connection.step(begin)
        do { for entry in writes { try write(entry) } } catch {
            try? connection.run("ROLLBACK")
            throw error
        }
        try connection.step(commit)
    }

    private func write(_ entry: TaskWrite) throws {
        change += 1
        TaskRecords.write(name: entry.number, into: name)
        let zone = Int64(entry.user + 1)
        let now = Int64(secondsNow() * 1e6)
        switch entry.kind {
        case .insert:
            bindKey(insert, zone, from: 1)
            for (place, number) in [change, now, now].enumerated() {
                sqlite3_bind_int64(insert, Int32(place) + 3, number)
            }
            rows.bind(entry, to: insert, from: 6)
            try connection.step(insert)
        case .update:
            sqlite3_bind_int64(update, 1, change)
            sqlite3_bind_int64(update, 2, now)
            rows.bind(entry, to: update, from: 3)
            bindKey(update, zone, from: 3 + Int32(Self.columns.count))
            try connection.step(update)
            guard connection.changeCount == 1 else { throw BenchError(message: "SQLite lacks a record") }
        case .delete:
            bindKey(delete, zone, from: 1)
            try connection.step(delete)
            guard connection.changeCount == 1 else { throw BenchError(message: "SQLite lacks a record") }
            sqlite3_bind_int64(bury, 1, zone)
            sqlite3_bind_int64(bury, 2, change)
            sqlite3_bind_text(bury, 3, name.baseAddress, Int32(name.count), nil)
            try connection.step(bury)
        }
    }

    private func bindKey(_ statement: OpaquePointer?, _ zone: Int64, from first: Int32) {
        sqlite3_bind_int64(statement, first, zone)
        sqlite3_bind_text(statement, first + 1, name.baseAddress, Int32(name.count), nil)
    }

    /// A reader beside writers has a connection of its own; else it has this one.
    func reader(isShared: Bool) throws -> any TaskReader {
        isShared
            ? try SQLiteReader(SQLiteConnection(path: path, settings), readsPerTransaction: 1)
            : try SQLiteReader(connection, readsPerTransaction: readsPerSnapshot)
    }
}

/// The values of the samples where SQLite can read them for as long as it likes.
// @unchecked: nothing changes after `init`.
private final class SQLiteRows: @unchecked Sendable {
    private let records: TaskRecords
    private var texts: [[UnsafeMutableRawBufferPointer]]
    private var blobs: [UnsafeMutableRawBufferPointer]

    init(_ records: TaskRecords) {
        self.records = records
        texts = records.samples.map { $0.texts.map { Self.kept($0.utf8) } }
        blobs = records.samples.map { Self.kept($0.thumbnail) }
    }

    deinit { for bytes in blobs + texts.joined() { bytes.deallocate() } }

    private static func kept(_ bytes: some Collection<UInt8>) -> UnsafeMutableRawBufferPointer {
        let kept = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
        kept.copyBytes(from: bytes)
        return kept
    }

    func bind(_ entry: TaskWrite, to statement: OpaquePointer?, from first: Int32) {
        let place = records.place(of: entry.number, version: entry.version)
        for (column, text) in texts[place].enumerated() {
            sqlite3_bind_text(statement, first + Int32(column), text.baseAddress, Int32(text.count), nil)
        }
        let sample = records.samples[place]
        sqlite3_bind_int64(statement, first + 4, sample.priority)
        sqlite3_bind_int64(statement, first + 5, sample.position)
        sqlite3_bind_double(statement, first + 6, sample.estimate)
        sqlite3_bind_double(statement, first + 7, TaskRecords.due(entry.number, version: entry.version))
        sqlite3_bind_blob(statement, first + 8, blobs[place].baseAddress, Int32(blobs[place].count), nil)
        sqlite3_bind_double(statement, first + 9, sample.latitude)
        sqlite3_bind_double(statement, first + 10, sample.longitude)
        sqlite3_bind_double(statement, first + 11, 5)
    }
}
