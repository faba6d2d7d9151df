import CSQLite

/// A connection to SQLite through its C API, with statements that are prepared once.
// @unchecked: used by one thread at a time, which is why SQLite is told to use no mutex.
final class SQLiteConnection: @unchecked Sendable {
    private var database: OpaquePointer?
    private var statements: [String: OpaquePointer?] = [:]

    init(path: String, _ configuration: SQLiteConfiguration) throws {
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        try check(sqlite3_open_v2(path, &database, flags, nil))
        try run("PRAGMA page_size = \(configuration.pageBytes)")
        for pragma in configuration.pragmas { try run("PRAGMA \(pragma)") }
        try run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
        sqlite3_busy_timeout(database, 10_000)
    }

    deinit { close() }

    func close() {
        for statement in statements.values { sqlite3_finalize(statement) }
        statements = [:]
        sqlite3_close_v2(database)
        database = nil
    }

    func statement(_ text: String) throws -> OpaquePointer? {
        if let known = statements[text] { return known }
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v3(database, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil))
        statements[text] = statement
        return statement
    }

    func step(_ statement: OpaquePointer?) throws {
        let result = sqlite3_step(statement)
        sqlite3_reset(statement)
        guard result == SQLITE_DONE else { throw failure }
    }

    func run(_ text: String) throws { try check(sqlite3_exec(database, text, nil, nil, nil)) }

    func check(_ result: Int32) throws { if result != SQLITE_OK { throw failure } }

    var failure: BenchError { BenchError(message: "SQLite: \(String(cString: sqlite3_errmsg(database)))") }
    /// The number of rows that the last statement changed.
    var changeCount: Int { Int(sqlite3_changes(database)) }
}
