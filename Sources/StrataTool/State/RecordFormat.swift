import StrataModel
import StrataStore

/// A way to print the matches of a query.
protocol RecordFormat {
    func write(_ page: [Record], to output: Output) throws
    /// Writes the last line.
    /// - Parameter cursor: the start of the next page; nil if there is none.
    func writeEnd(count: Int, cursor: String?, to output: Output) throws
}

/// Returns the values of a record to print, in order.
private func shownFields(
    of record: Record, _ keys: [String]?, _ secrets: Secrets?
) throws -> [(key: String, value: FieldValue)] {
    var fields = try record.fields
    try secrets?.reveal(&fields, of: record)
    guard let keys else {
        return fields.map { ($0.key, $0.value) }.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }
    return keys.compactMap { key in fields[key].map { (key, $0) } }
}

/// Decrypts values, and counts those that cannot be decrypted.
final class Secrets {
    private(set) var closedCount = 0
    private(set) var firstReason: StrataError?

    /// - Throws: ``StrataError`` if the store's keys cannot be read.
    func reveal(_ fields: inout [String: FieldValue], of record: Record) throws {
        try record.forEachSealedField { key, value in
            if let value = try opened({ try value.get() }) { fields[key] = value }
        }
    }

    /// Returns the difference with decrypted values.
    func revealed(_ difference: RecordDifference) throws -> RecordDifference {
        func opened(_ value: FieldValue?, _ key: String, of record: Record?) throws -> FieldValue? {
            guard value?.kind.isSealed == true else { return value }
            return try self.opened { try record?.opened(key) } ?? value
        }
        return try difference.mappingFields { field in
            (
                try opened(field.before, field.key, of: difference.before),
                try opened(field.after, field.key, of: difference.after)
            )
        }
    }

    /// Returns nil for a value that cannot be decrypted.
    func opened(_ body: () throws -> FieldValue?) throws -> FieldValue? {
        do { return try body() } catch let error as StrataError where error.isOfOneValue {
            closedCount += 1
            firstReason = firstReason ?? error
            return nil
        }
    }
}

extension Secrets {
    /// Reports the values that could not be decrypted, and returns the exit code.
    func reportClosed(by command: String, _ output: Output) throws -> ExitCode {
        guard let reason = firstReason else { return .success }
        try output.flush()
        return Diagnostics.refuse(
            "\(closedCount.counted("encrypted value")) cannot be decrypted", code: reason.code, advice: "\(reason)",
            by: command)
    }
}

extension StrataError {
    fileprivate var isOfOneValue: Bool { [.keyMissing, .keyDestroyed, .sealBroken].contains(code) }
}

/// One line for each record, with names and zones aligned in columns.
struct RecordLines: RecordFormat {
    /// Longer names push the rest of the line to the right.
    private static let widestColumn = 40

    /// Nil for all keys.
    let keys: [String]?
    /// Nil leaves encrypted values encrypted.
    var secrets: Secrets?

    func write(_ page: [Record], to output: Output) throws {
        let columns = page.map { [Printable.escaped($0.id.name), Printable.escaped($0.id.zone.name)] }
        let widths = (0..<2).map { column in columns.map { DisplayWidth.width(of: $0[column]) }.max() ?? 0 }
        for (record, texts) in zip(page, columns) {
            let values = try shownFields(of: record, keys, secrets).map { field in
                Printable.escaped(field.key) + "=" + ValueText.text(of: field.value)
            }
            for (text, width) in zip(texts, widths) {
                // Without values no padding is needed.
                let isLast = values.isEmpty && text == texts.last
                output.write(isLast ? text : text.padded(to: min(width, Self.widestColumn) + 2, separation: 2))
            }
            try output.writeLine(values.joined(separator: "  "))
        }
    }

    func writeEnd(count: Int, cursor: String?, to output: Output) throws {
        output.write(count.counted("record"))
        if let cursor { output.write("; more with --cursor \(cursor)") }
        try output.endLine()
    }
}

/// One object for each record, and one for the end.
struct RecordJSON: RecordFormat {
    /// Nil for all keys.
    let keys: [String]?
    /// Nil leaves encrypted values encrypted.
    var secrets: Secrets?

    static let shape = Shape<(record: Record, fields: [(key: String, value: FieldValue)])>("A record") {
        Key("name", "of the record") { $0.record.id.name }
        Key("zone", "its zone's name") { $0.record.id.zone.name }
        Key("type", "its record type") { try $0.record.type }
        Key("changeTag", "of its newest version") { $0.record.version }
        Key("created", "when") { $0.record.created }
        Key("createdBy", "name of the user") { try $0.record.createdBy }
        Key("modified", "when") { $0.record.modified }
        Key("modifiedBy", "name of the user") { try $0.record.modifiedBy }
        Key(of: RecordDetail.links) { $0.record }
        Key("fields", "its values, or those of `--keys`") { ValueMap(fields: $0.fields) }
    }

    static let end = Shape<(count: Int, cursor: String?)>(
        "The end of a query", "The last line of `strata query --json`."
    ) {
        Key("records", "how many were printed") { $0.count }
        Key("cursor", "for `--cursor`, or null if there is no more") { $0.cursor }
    }

    func write(_ page: [Record], to output: Output) throws {
        for record in page {
            try output.writeJSON((record, try shownFields(of: record, keys, secrets)), as: Self.shape)
        }
    }

    func writeEnd(count: Int, cursor: String?, to output: Output) throws {
        try output.writeJSON((count, cursor), as: Self.end)
    }
}
