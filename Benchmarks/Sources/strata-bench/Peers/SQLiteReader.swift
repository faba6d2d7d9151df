import CSQLite

/// The reads of one client of SQLite.
final class SQLiteReader: TaskReader {
    private let connection: SQLiteConnection
    private let readsPerTransaction: Int
    private var reads = 0
    private let find, select, changes, begin, commit: OpaquePointer?

    init(_ connection: SQLiteConnection, readsPerTransaction: Int) throws {
        self.connection = connection
        self.readsPerTransaction = readsPerTransaction
        find = try connection.statement("SELECT * FROM task WHERE zone = 1 AND name = ?")
        select = try connection.statement("SELECT * FROM task WHERE priority = ? AND zone = 1 LIMIT ?")
        changes = try connection.statement(
            "SELECT * FROM task WHERE zone = 1 AND change > ? ORDER BY change LIMIT ?")
        begin = try connection.statement("BEGIN")
        commit = try connection.statement("COMMIT")
    }

    /// The last transaction would keep writers of the same connection from theirs.
    deinit { if readsPerTransaction > 1, reads % readsPerTransaction != 0 { try? connection.step(commit) } }

    func fetch(_ keys: ArraySlice<TaskKey>, _ reading: Reading) throws -> Int {
        // One that is fetched alone shares a transaction with those that follow, as many together have one.
        let isAlone = keys.count == 1
        let begins = isAlone ? readsPerTransaction > 1 && reads % readsPerTransaction == 0 : true
        if isAlone { reads += 1 }
        let ends = isAlone ? readsPerTransaction > 1 && reads % readsPerTransaction == 0 : true
        if begins { try connection.step(begin) }
        var sum = 0
        for key in keys {
            try key.name.withUnsafeBytes { name in
                sqlite3_bind_text(find, 1, name.baseAddress, Int32(name.count), nil)
                guard sqlite3_step(find) == SQLITE_ROW else { throw BenchError(message: "SQLite lacks a record") }
                sum &+= look(at: find, reading)
                sqlite3_reset(find)
            }
        }
        if ends { try connection.step(commit) }
        return sum
    }

    func query(priority: Int, limit: Int) throws -> Int {
        sqlite3_bind_int64(select, 1, Int64(priority))
        sqlite3_bind_int64(select, 2, Int64(limit))
        return rows(of: select) { _ in }
    }

    func feed(after place: FeedPlace?, limit: Int) throws -> FeedPage {
        var last: Int64 = 0
        if case .change(let known)? = place { last = known }
        sqlite3_bind_int64(changes, 1, last)
        sqlite3_bind_int64(changes, 2, Int64(limit))
        let count = rows(of: changes) { last = sqlite3_column_int64($0, 2) }
        return FeedPage(count: count, place: .change(last), hasMore: count == limit)
    }

    private func rows(of statement: OpaquePointer?, _ body: (OpaquePointer?) -> Void) -> Int {
        var count = 0
        while sqlite3_step(statement) == SQLITE_ROW {
            body(statement)
            if look(at: statement, .values) != 0 { count += 1 }
        }
        sqlite3_reset(statement)
        return count
    }

    private func look(at row: OpaquePointer?, _ reading: Reading) -> Int {
        switch reading {
        case .inPlace: sumInPlace(row)
        case .values: max(1, sample(row).thumbnail.count)
        }
    }

    private func sumInPlace(_ row: OpaquePointer?) -> Int {
        var sum = 0
        for column in SQLiteTasks.valueColumns {
            switch sqlite3_column_type(row, column) {
            case SQLITE_INTEGER: sum &+= Int(sqlite3_column_int64(row, column))
            case SQLITE_FLOAT: sum &+= Int(sqlite3_column_double(row, column))
            case SQLITE_TEXT:
                sum &+= Int(sqlite3_column_text(row, column)?.pointee ?? 0)
                sum &+= Int(sqlite3_column_bytes(row, column))
            default:
                sum &+= byteSum(bytes(sqlite3_column_blob(row, column), row, column))
            }
        }
        return sum
    }

    private func sample(_ row: OpaquePointer?) -> TaskRecords.Sample {
        let texts = (Int32(5)..<9).map { column in
            String(decoding: bytes(sqlite3_column_text(row, column), row, column), as: UTF8.self)
        }
        return TaskRecords.Sample(
            texts: texts, priority: sqlite3_column_int64(row, 9), position: sqlite3_column_int64(row, 10),
            estimate: sqlite3_column_double(row, 11), due: sqlite3_column_double(row, 12),
            thumbnail: [UInt8](bytes(sqlite3_column_blob(row, 13), row, 13)),
            latitude: sqlite3_column_double(row, 14), longitude: sqlite3_column_double(row, 15))
    }

    private func bytes(_ start: UnsafeRawPointer?, _ row: OpaquePointer?, _ column: Int32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(row, column)))
    }
}
