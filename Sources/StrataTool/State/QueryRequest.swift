import Foundation
import StrataModel
import StrataQuery
import StrataStore

/// What a command line asks a store.
struct QueryRequest {
    var query: Query
    var cursor: QueryCursor?
    var database: DatabaseID
    var actor: Actor
    /// 0 lets the store choose.
    var limit: Int
    /// Nil for all.
    var keys: [String]?

    var question: Question { cursor.map { .continued($0) } ?? .new(query) }

    init(_ arguments: Arguments) throws {
        let place = try DatabaseOptions(arguments)
        // Names are checked once the store is open.
        (database, actor) = (place.database, place.actor)
        limit = Int(arguments[QueryCommand.limit] ?? 0)
        keys = arguments[QueryCommand.keys]
        var query = Query(arguments.operands[1])
        if arguments.operands.count > 2 { query.predicate = try Self.predicate(arguments.operands[2]) }
        query.order = (arguments[QueryCommand.near].map { [$0] } ?? []) + arguments.all(QueryCommand.sort)
        query.zone = place.zone
        self.query = query
        cursor = arguments[QueryCommand.cursor]
    }

    /// Compares the names with those of a store, and settles whose database is asked.
    mutating func resolve(_ arguments: Arguments, in store: Store, by command: String) throws {
        let fields = query.predicate.namedKeys + query.order.map(\.name)
        let place = try NamedPlace(store).resolve(arguments, type: query.recordType, fields: fields, by: command)
        (database, actor) = (place.database, place.actor)
        if let cursor { try Self.require(cursor, isOf: query, in: database) }
    }

    /// - Parameter name: of the argument, for the mistakes in it.
    static func predicate(_ text: String, of name: String = "PREDICATE") throws(UsageError) -> PredicateTree {
        do {
            let tree = try PredicateParser.parse(text)
            try PredicateCheck(.extended).check(tree)
            return tree
        } catch {
            throw UsageError(mistake(error, in: name))
        }
    }

    /// A mistake in the predicate, with its place and what should stand there.
    private static func mistake(_ error: StrataError, in name: String) -> String {
        var text = name
        if let position = error.context.position { text += ", character \(position)" }
        text += ": expected \(error.context.expected ?? "something else")"
        if let found = error.context.found { text += ", found \(found)" }
        return text
    }

    /// A cursor has its query in it; another one beside it would be overlooked.
    private static func require(_ cursor: QueryCursor, isOf query: Query, in database: DatabaseID) throws {
        // Reading a predicate's text again gives what the cursor's bytes give.
        var written = query
        written.predicate = try PredicateParser.parse(PredicateWriter.text(of: query.predicate))
        guard cursor.query == written, cursor.database.scope == database.scope else {
            throw UsageError("the cursor is of another query: give it with the words that it was printed for")
        }
    }
}

extension QueryCursor {
    var text: String { Base64.text(encoded()) }

    /// - Throws: ``StrataError`` for a text that is no cursor's.
    init(text: String) throws {
        guard let bytes = Data(base64Encoded: text) else {
            throw StrataError(.malformed, "A query's cursor is no base64.")
        }
        try self.init(decoding: [UInt8](bytes))
    }
}
