import StrataModel
import StrataQuery
import StrataReplay
import StrataStore

/// The query that a command line describes.
struct QueryRequest {
    var query: Query
    var cursor: QueryCursor?
    var database: DatabaseID
    var actor: Actor
    /// 0 lets the store choose.
    var limit: Int
    /// Nil for all keys.
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
    }

    /// Checks the names against those of a store, and chooses the database.
    mutating func resolve(_ arguments: Arguments, in store: Store, by command: String) throws {
        let fields = query.predicate.namedKeys + query.order.map(\.name)
        // The debugger reads a state that may still have a zone that was deleted later.
        let place = try NamedPlace(store).resolve(
            arguments, type: query.recordType, fields: fields, needsZone: command == QueryCommand.name, by: command)
        (database, actor, query.zone) = (place.database, place.actor, place.zone)
        if database.scope == .shared, place.zone == nil {
            throw UsageError("a query of the shared database needs --zone NAME and --owner NAME")
        }
        let question = BisectionQuestion(
            query.recordType, where: query.predicate, in: database, zone: place.zone, as: actor)
        query.predicate = try NamedPlace(store).fit(question, of: Self.argument)
        cursor = try arguments[QueryCommand.cursor].map { try store.cursor(from: $0) }
        if let cursor { try Self.require(cursor, isOf: query, in: database) }
    }

    static let argument = "PREDICATE"

    /// - Parameter name: the name of the argument, for error messages.
    static func predicate(_ text: String, of name: String = argument) throws(UsageError) -> PredicateTree {
        do {
            let tree = try PredicateParser.parse(text)
            try PredicateCheck(.extended).check(tree)
            return tree
        } catch {
            throw UsageError(mistake(error, in: name))
        }
    }

    /// Describes a mistake in the predicate, with its position and the expected text.
    private static func mistake(_ error: StrataError, in name: String) -> String {
        var text = name
        if let position = error.context.position { text += ", character \(position)" }
        text += ": expected \(error.context.expected ?? "something else")"
        if let found = error.context.found { text += ", found \(found)" }
        return text
    }

    /// A cursor contains its query. A different query on the command line would be ignored.
    private static func require(_ cursor: QueryCursor, isOf query: Query, in database: DatabaseID) throws {
        // Parsing the predicate's text again normalizes it to the form in the cursor.
        var written = query
        written.predicate = try PredicateParser.parse(PredicateWriter.text(of: query.predicate))
        guard cursor.query == written, cursor.database.scope == database.scope else {
            throw UsageError("the cursor belongs to another query: use it with the same arguments")
        }
    }
}
