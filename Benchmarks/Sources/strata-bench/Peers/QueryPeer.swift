import CSQLite

/// SQLite with the records of the queries' workload, and the same indexes.
// @unchecked: used by one thread.
final class QueryPeer: @unchecked Sendable {
    private var database: OpaquePointer?
    private var statements: [String: OpaquePointer?] = [:]
    /// Tells SQLite to copy what is bound.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    init(path: String, _ records: QueryRecords) throws {
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        try check(sqlite3_open_v2(path, &database, flags, nil))
        try run("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -1048576")
        try run("PRAGMA mmap_size = 8589934592")
        try run(
            """
            CREATE TABLE task(zone INTEGER NOT NULL, name TEXT NOT NULL, title TEXT, notes TEXT, project INTEGER, \
            bucket INTEGER, priority INTEGER, due REAL, latitude REAL, longitude REAL)
            """)
        let insert = try statement("INSERT INTO task VALUES(1,?,?,?,?,?,?,?,?,?)")
        try run("BEGIN")
        for index in 0..<records.count {
            let sample = records.sample(index)
            for (place, text) in [QueryRecords.name(index), sample.title, sample.notes].enumerated() {
                sqlite3_bind_text(insert, Int32(place + 1), text, -1, Self.transient)
            }
            for (place, number) in [sample.project, sample.bucket, sample.priority].enumerated() {
                sqlite3_bind_int64(insert, Int32(place + 4), number)
            }
            for (place, number) in [sample.due, sample.latitude, sample.longitude].enumerated() {
                sqlite3_bind_double(insert, Int32(place + 7), number)
            }
            guard sqlite3_step(insert) == SQLITE_DONE else { throw failure }
            sqlite3_reset(insert)
        }
        try run("COMMIT")
        try run("CREATE UNIQUE INDEX task_name ON task(zone, name)")
        for key in ["project", "bucket", "due"] { try run("CREATE INDEX task_\(key) ON task(\(key))") }
        try run("ANALYZE; PRAGMA wal_checkpoint(TRUNCATE)")
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(database)
    }

    enum Argument {
        case integer(Int64)
        case real(Double)
        case text(String)
    }

    /// Reads all columns of what a condition gives; returns the number of rows.
    func count(
        _ condition: String, _ arguments: [Argument], _ reading: Reading = .values
    ) throws -> Int {
        let query = try statement("SELECT * FROM task WHERE \(condition)")
        for (place, argument) in arguments.enumerated() {
            let place = Int32(place + 1)
            switch argument {
            case .integer(let number): sqlite3_bind_int64(query, place, number)
            case .real(let number): sqlite3_bind_double(query, place, number)
            case .text(let text): sqlite3_bind_text(query, place, text, -1, Self.transient)
            }
        }
        var (count, sum) = (0, 0)
        while sqlite3_step(query) == SQLITE_ROW {
            count += 1
            sum &+= reading == .values ? values(query) : look(query)
        }
        sqlite3_reset(query)
        guard count == 0 || sum != 0 else { throw BenchError(message: "the values are missing") }
        return count
    }

    /// Numbers changes, in the order in which rows came, with an index for each zone.
    func prepareFeed() throws {
        try run("ALTER TABLE task ADD COLUMN change INTEGER; UPDATE task SET change = rowid")
        try run("CREATE INDEX task_feed ON task(zone, change); ANALYZE; PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// Reads all changes of the zone, page by page; returns the number of rows.
    func readFeed(pageSize: Int, _ reading: Reading) throws -> Int {
        var count = 0
        while true {
            let page = try self.count(
                "zone = 1 AND change > ? ORDER BY change LIMIT \(pageSize)", [.integer(Int64(count))], reading)
            count += page
            if page < pageSize { return count }
        }
    }

    /// Makes the name and the values of a row, which nothing keeps.
    private func values(_ row: OpaquePointer?) -> Int {
        let sample = QueryRecords.Sample(
            title: text(row, 2), notes: text(row, 3), project: sqlite3_column_int64(row, 4),
            bucket: sqlite3_column_int64(row, 5), priority: sqlite3_column_int64(row, 6),
            due: sqlite3_column_double(row, 7), latitude: sqlite3_column_double(row, 8),
            longitude: sqlite3_column_double(row, 9))
        return text(row, 1).utf8.count &+ sample.notes.utf8.count
    }

    /// Looks at the values of a row where they are.
    private func look(_ row: OpaquePointer?) -> Int {
        var sum = 0
        for column in 2...3 as ClosedRange<Int32> {
            sum &+= Int(sqlite3_column_text(row, column)?.pointee ?? 0) &+ Int(sqlite3_column_bytes(row, column))
        }
        for column in 4...6 as ClosedRange<Int32> { sum &+= Int(sqlite3_column_int64(row, column)) }
        for column in 7...9 as ClosedRange<Int32> { sum &+= Int(sqlite3_column_double(row, column)) }
        return sum
    }

    private func text(_ query: OpaquePointer?, _ column: Int32) -> String {
        let bytes = UnsafeRawBufferPointer(
            start: sqlite3_column_text(query, column), count: Int(sqlite3_column_bytes(query, column)))
        return String(decoding: bytes, as: UTF8.self)
    }

    private func statement(_ text: String) throws -> OpaquePointer? {
        if let known = statements[text] { return known }
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v3(database, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil))
        statements[text] = statement
        return statement
    }

    private func run(_ text: String) throws { try check(sqlite3_exec(database, text, nil, nil, nil)) }
    private func check(_ result: Int32) throws { if result != SQLITE_OK { throw failure } }
    private var failure: BenchError { BenchError(message: "SQLite: \(String(cString: sqlite3_errmsg(database)))") }
}
