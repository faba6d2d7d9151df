import Foundation
import StrataModel
import StrataQuery
import StrataStore
import StrataSystem

/// `strata query`: the records of a type that match a predicate.
enum QueryCommand: Command {
    static let name = "query"
    static let summary = "print the records that match a predicate"
    static let details =
        "The predicate has NSPredicate's format, such as \"rank > 2 AND title BEGINSWITH 'a'\"; without one all "
        + "records of the type match. A constant has the type of its key: a text that is compared with a date is a "
        + "time in UTC, such as '2026-11-21' or '2026-11-21T05:18:03Z'; with a reference, parent or recordID it is the "
        + "name of a record, with creatorUserRecordID the name of a user. now() - 86400 is a day ago, "
        + "CAST('00ff', 'NSData') is data, CAST({48.1, 11.5}, 'CLLocation') a location. It can run while another "
        + "program writes to the store, and uses the indexes that the store has. Exits with 1 if the type or the zone "
        + "does not exist."
    static let operands = [
        Operand.store, Operand(name: "TYPE", help: "the record type, such as Note"),
        Operand(name: "PREDICATE", help: "such as \"rank > 3 AND title BEGINSWITH 'A'\"", isRequired: false),
    ]

    static let sort = Option<SortKey>(
        name: "--sort", valueName: "KEY[:desc]",
        help: "sort by a key; repeat for more keys, which order records with equal values",
        isRepeatable: true
    ) { text throws(UsageError) in try sortKey(text) }
    static let near = Option<SortKey>(
        name: "--near", valueName: "KEY=LAT,LON",
        help: "sort by the distance from this location, in degrees, nearest first"
    ) { text throws(UsageError) in try nearness(text) }
    static let limit = Option.limit("--limit", 1...10_000, help: "records per page; the default is 1000")
    static let cursor = Option<[UInt8]>(
        name: "--cursor", valueName: "TEXT", help: "continue after a page, whose last line has this text"
    ) { text throws(UsageError) in
        guard let bytes = Data(base64Encoded: text).map({ [UInt8]($0) }), StoreSecret.hasForm(bytes) else {
            throw UsageError("--cursor takes the text from the last line of a page of this release")
        }
        return bytes
    }
    static let keys = Option<[String]>(
        name: "--keys", valueName: "A,B,C", help: "print only these keys, in this order"
    ) { text throws(UsageError) in text.split(separator: ",").map(String.init) }
    static let all = Option.flag("--all", help: "print all pages")
    static let explain = Option.flag("--explain", help: "print how a page is found, with counts, instead of records")

    static let reveal = Option.flag("--reveal", help: "print encrypted values, with the keys of the store")

    static let options: [any OptionDescription] = [
        sort, near, DatabaseOptions.user, DatabaseOptions.anyDatabase, DatabaseOptions.anyOwner, DatabaseOptions.zone,
        Option.at, limit, cursor, keys, all, reveal, explain, Option.json,
    ]
    static let examples = [
        "strata query Notes.strata Note \"text CONTAINS 'task 2'\" --user anna --sort text:desc --limit 3",
        "strata query Notes.strata Note --user anna --all --json | jq .name",
    ]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        if arguments[all], arguments[explain] { throw UsageError("--all and --explain cannot be combined") }
        let written = try QueryRequest(arguments)
        var options = StoreOptions.embedded
        // A misspelled type must not look like a type without records.
        options.unknownTypesAreErrors = true
        return try StateAccess.read(arguments, options: options, by: name, output) { access in
            var request = written
            try request.resolve(arguments, in: access.store, by: name)
            if arguments[explain] {
                try page(request.question, request, access.store).plan.write(
                    to: output, asJSON: arguments[Option.json])
                return .success
            }
            let secrets = arguments[reveal] ? Secrets() : nil
            try write(request, of: access.store, arguments, secrets, to: output)
            return try secrets?.reportClosed(by: name, output) ?? .success
        }
    }

    private static func page(_ question: Question, _ request: QueryRequest, _ store: Store) throws -> QueryPage {
        try store.query(
            question, in: request.database, desiredKeys: request.keys, limit: request.limit, as: request.actor)
    }

    static func write(
        _ request: QueryRequest, of store: Store, _ arguments: Arguments, _ secrets: Secrets?, to output: Output
    ) throws {
        let format: any RecordFormat =
            arguments[Option.json]
            ? RecordJSON(keys: request.keys, secrets: secrets) : RecordLines(keys: request.keys, secrets: secrets)
        var question = request.question
        var count = 0
        while true {
            let page = try page(question, request, store)
            try format.write(page.matches, to: output)
            count += page.matches.count
            guard arguments[all], let cursor = page.cursor else {
                let cursor = page.cursor.flatMap { cursor in
                    SealedText.text("cursor", by: name, isFirst: true) { try store.bytes(of: cursor) }
                }
                return try format.writeEnd(count: count, cursor: cursor, to: output)
            }
            question = .continued(cursor)
        }
    }

    // MARK: Sort keys

    private static func sortKey(_ text: String) throws(UsageError) -> SortKey {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= 2, !parts[0].isEmpty, parts.count == 1 || ["asc", "desc"].contains(parts[1]) else {
            throw UsageError("--sort takes KEY, KEY:asc or KEY:desc, not '\(text)'")
        }
        return .key(parts[0], isAscending: parts.last != "desc" || parts.count == 1)
    }

    private static func nearness(_ text: String) throws(UsageError) -> SortKey {
        let parts = text.split(separator: "=", omittingEmptySubsequences: false)
        let numbers = parts.last?.split(separator: ",").compactMap { Double($0) } ?? []
        guard parts.count == 2, !parts[0].isEmpty, numbers.count == 2, (-90...90).contains(numbers[0]),
            (-180...180).contains(numbers[1])
        else { throw UsageError("--near takes KEY=LATITUDE,LONGITUDE in degrees, not '\(text)'") }
        return .distance(key: String(parts[0]), latitude: numbers[0], longitude: numbers[1])
    }
}

/// Prints the plan by which a page was found.
extension QueryPlan: Shaped {
    private static let scanNote =
        "no index is built for a store opened for reading; the indexes that the store has are used"

    func write(to output: Output, asJSON: Bool) throws {
        if asJSON { return try output.writeJSON(self) }
        for line in text.split(separator: "\n") {
            try output.writeLine(Printable.escaped(String(line)))
        }
        try output.writeLine("note: \(Self.scanNote)")
    }

    static let shape = Shape<Self>("A plan", "The output of `strata query --explain --json`.") {
        Key("steps", "for people") { $0.steps }
        Key("estimatedRows", "about how many rows it would read") {
            Int64(exactly: $0.estimatedRows.rounded()) ?? .max
        }
        Key("rowsRead", "rows of indexes that were read") { $0.actual?.rowsRead ?? 0 }
        Key("recordsRead", "records that were read") { $0.actual?.recordsRead ?? 0 }
        Key("matches", "how many matches the page has") { $0.actual?.matches ?? 0 }
        Key("missingIndexes", "indexes that would have helped", each: missing) { $0.missingIndexes }
        Key("notes", "for people") { $0.notes + [scanNote] }
    }

    private static let missing = Shape<MissingIndex>("A missing index") {
        Key("key", "the field's name") { $0.key }
        Key("indexes", "such as `QUERYABLE`") { $0.indexes.schemaNames }
    }
}
