import StrataModel
import StrataStore
import TestSupport
import Testing

@testable import StrataTool

@Suite("No command takes a mistyped name for an answer")
struct MistypedNameTests {
    /// anna has notes, bert has other ones, and only carl has places; the public database has a few films.
    private static func makeStore() throws -> (directory: TestDirectory, path: String) {
        let directory = try TestDirectory()
        let path = directory.path("Names.strata")
        let store = try Store.open(at: path)
        let zone = ZoneID("Notes")
        func save(_ type: String, _ database: DatabaseID, _ zone: ZoneID, as user: String) throws {
            var builder = RequestBuilder(database, policy: .allKeys)
            builder.save(RecordID("one", zone: zone), type: type, fields: ["title": .string("a"), "rank": .int64(3)])
            _ = try store.modify(builder.request, as: Actor(user: user))
        }
        for user in ["anna", "bert", "carl"] {
            _ = try store.modify(
                Request.zones(saving: [zone], in: DatabaseID(.private)), as: Actor(user: user))
        }
        for user in ["anna", "bert"] { try save("Note", DatabaseID(.private), zone, as: user) }
        try save("Place", DatabaseID(.private), zone, as: "carl")
        try save("Film", DatabaseID(.public), ZoneID("_defaultZone"), as: "anna")
        try store.close()
        return (directory, path)
    }

    struct Line: CustomTestStringConvertible, Sendable {
        var words: [String]
        /// What the message has to name.
        var wanted: String

        init(_ line: String, _ wanted: String) {
            // A predicate stands between bars.
            let parts = line.split(separator: "|", omittingEmptySubsequences: false)
            words = parts.enumerated().flatMap { index, part in
                index % 2 == 1 ? [String(part)] : part.split(separator: " ").map(String.init)
            }
            self.wanted = wanted
        }

        var testDescription: String { words.joined(separator: " ") }
    }

    static let lines = [
        Line("query $ Note --user annna", "no user is named 'annna'; did you mean anna?"),
        Line("query $ Note --owner annna", "no user is named 'annna'; did you mean anna?"),
        Line("query $ Noet --user anna", "no record type is named 'Noet'; did you mean Note?"),
        Line("query $ Note |rnk > 2| --user anna", "no field of Note is named 'rnk'; did you mean rank?"),
        Line("query $ Note |rank > 2| --user anna --sort titel", "no field of Note is named 'titel'"),
        Line("query $ Note |rank > 2| --user anna --keys titel", "no field of Note is named 'titel'"),
        Line("query $ Note --user anna --zone Notse", "no zone is named 'Notse'; did you mean Notes?"),
        Line("query $ Note", "name one of them with --user (anna, bert)"),
        Line("records $ --user annna", "no user is named 'annna'; did you mean anna?"),
        Line("records $ --user anna --zone Notse", "no zone is named 'Notse'"),
        Line("records $ --user anna --type Noet", "no record type is named 'Noet'"),
        Line("get $ one --user annna --zone Notes", "no user is named 'annna'"),
        Line("get $ one --user anna --zone Notse", "no zone is named 'Notse'"),
        Line("feed $ --user annna", "no user is named 'annna'; did you mean anna?"),
        Line("bisect $ Note --where |rank > 2| --user annna", "no user is named 'annna'"),
        Line("bisect $ Noet --where |rank > 2| --user anna", "no record type is named 'Noet'"),
        Line("bisect $ Note --where |rnk > 2| --user anna", "no field of Note is named 'rnk'"),
        Line("bisect $ Note --where |rank > 2| --user anna --zone Notse", "no zone is named 'Notse'"),
        Line("bisect $ Note --where |rank > 2|", "name one of them with --user (anna, bert)"),
        Line("minimise $ Note --where |rank > 2| --user annna", "no user is named 'annna'"),
        Line("minimise $ Noet --where |rank > 2| --user anna", "no record type is named 'Noet'"),
        Line("minimise $ Note --where |rnk > 2| --user anna", "no field of Note is named 'rnk'"),
        Line("minimise $ Note --where |rank > 2|", "name one of them with --user (anna, bert)"),
        Line("debug $ -e |until Note \"rnk > 2\" --user anna|", "no field of Note is named 'rnk'"),
        Line("debug $ -e |until Note \"rank > 2\" --user annna|", "no user is named 'annna'"),
        Line("debug $ --user anna -e |break where Note \"rnk > 2\"|", "no field of Note is named 'rnk'"),
        Line("debug $ --user anna -e |query Note \"rnk > 2\"|", "no field of Note is named 'rnk'"),
        Line("zones $ --user annna", "no user"), Line("history $ one --user annna", "no user"),
        Line("blame $ one --user annna", "no user"), Line("diff $ 1 --user annna", "no user"),
        Line("log $ --user annna", "no user is named 'annna'; did you mean anna?"),
        Line("subscriptions $ --user annna", "no user"), Line("device $ phone --user annna", "no user"),
    ]

    @Test("The message says what is unknown, and what was probably meant; it ends with 1", arguments: lines)
    func mistyped(line: Line) throws {
        let (directory, path) = try Self.makeStore()
        try withExtendedLifetime(directory) {
            let words = line.words.map { $0 == "$" ? path : $0 }
            let run = try ToolProcess.run(words, in: directory.path)
            let text = run.output + run.errors
            #expect(run.code == 1, "\(text)")
            #expect(text.contains(line.wanted), "\(text)")
        }
    }

    @Test("Where nothing names a database, it is the public one, or the only one that has what is asked for")
    func chosen() throws {
        let (directory, path) = try Self.makeStore()
        try withExtendedLifetime(directory) {
            let film = try ToolProcess.run(["query", path, "Film"], in: directory.path)
            #expect(film.code == 0 && film.output.contains("1 record") && film.errors.isEmpty, "\(film)")
            let place = try ToolProcess.run(["query", path, "Place", "rank > 2"], in: directory.path)
            #expect(place.code == 0 && place.output.contains("1 record"), "\(place)")
            #expect(place.errors.contains("this is the private one of carl"), "\(place)")
            let bisect = try ToolProcess.run(["bisect", path, "Place", "--where", "rank > 2"], in: directory.path)
            #expect(bisect.code == 0 && bisect.errors.contains("private one of carl"), "\(bisect)")
        }
    }
}
