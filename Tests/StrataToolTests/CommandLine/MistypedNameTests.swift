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
        Line("query $ Note --user annna", "'annna'"),
        Line("query $ Note --owner annna", "'annna'"),
        Line("query $ Noet --user anna", "Did not find record type: Noet"),
        Line("query $ Note |rnk > 2| --user anna", "No field of Note is named 'rnk'. Did you mean rank?"),
        Line("query $ Note |rank > 2| --user anna --sort titel", "No field of Note is named 'titel'"),
        Line("query $ Note --user anna --zone Notse", "Zone 'Notse' does not exist. Did you mean Notes?"),
        Line("query $ Note", "choose one with --user (anna, bert)"),
        Line("records $ --user annna", "'annna'"),
        Line("records $ --user anna --zone Notse", "Zone 'Notse' does not exist"),
        Line("records $ --user anna --type Noet", "Did not find record type: Noet"),
        Line("get $ one --user annna --zone Notes", "'annna'"),
        Line("get $ one --user anna --zone Notse", "Zone 'Notse' does not exist"),
        Line("feed $ --user annna", "'annna'"),
        Line("bisect $ Note --where |rank > 2| --user annna", "'annna'"),
        Line("bisect $ Noet --where |rank > 2| --user anna", "Did not find record type: Noet"),
        Line("bisect $ Note --where |rnk > 2| --user anna", "No field of Note is named 'rnk'"),
        Line("bisect $ Note --where |rank > 2| --user anna --zone Notse", "Zone 'Notse' does not exist"),
        Line("bisect $ Note --where |rank > 2|", "choose one with --user (anna, bert)"),
        Line("minimize $ Note --where |rank > 2| --user annna", "'annna'"),
        Line("minimize $ Noet --where |rank > 2| --user anna", "Did not find record type: Noet"),
        Line("minimize $ Note --where |rnk > 2| --user anna", "No field of Note is named 'rnk'"),
        Line("minimize $ Note --where |rank > 2|", "choose one with --user (anna, bert)"),
        Line("debug $ -e |until Note \"rnk > 2\" --user anna|", "No field of Note is named 'rnk'"),
        Line("debug $ -e |until Note \"rank > 2\" --user annna|", "'annna'"),
        Line("debug $ --user anna -e |break where Note \"rnk > 2\"|", "No field of Note is named 'rnk'"),
        Line("debug $ --user anna -e |query Note \"rnk > 2\"|", "No field of Note is named 'rnk'"),
        Line("zones $ --user annna", "'annna'"), Line("history $ one --user annna", "'annna'"),
        Line("blame $ one --user annna", "'annna'"), Line("diff $ 1 --user annna", "'annna'"),
        Line("log $ --user annna", "'annna'"),
        Line("subscriptions $ --user annna", "'annna'"), Line("device $ annna phone", "annna"),
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
            #expect(place.errors.contains("using the private one of carl"), "\(place)")
            let bisect = try ToolProcess.run(["bisect", path, "Place", "--where", "rank > 2"], in: directory.path)
            #expect(bisect.code == 0 && bisect.errors.contains("private one of carl"), "\(bisect)")
        }
    }
}
