import StrataConnections
import StrataModel
import StrataReplication
import Testing

@testable import StrataPostgres

@Suite("The address and the settings of PostgreSQL servers")
struct PostgresOptionsTests {
    private func options(_ text: String) throws -> PostgresOptions {
        try PostgresOptions(ServerAddress(parsing: text))
    }

    private func parameters(_ text: String) throws -> [String: String] {
        let options = try options(text)
        return Dictionary(uniqueKeysWithValues: options.parameters(of: options.address.servers[0]))
    }

    @Test("All parts of an address reach the client library")
    func parts() throws {
        let text =
            "postgresql://anna:p%40ss@[::1]:5433,p2/notes?store=A_b-9&standbys=2&authority=/ca&certificate=/c&key=/k"
        let options = try options(text)
        #expect(options.store == "A_b-9" && options.standbys == 2)
        #expect(options.security == .verified(authority: "/ca"))
        let parameters = try parameters(text)
        #expect(parameters["host"] == "::1" && parameters["port"] == "5433" && parameters["dbname"] == "notes")
        #expect(parameters["user"] == "anna" && parameters["password"] == "p@ss")
        #expect(parameters["sslmode"] == "verify-full" && parameters["sslrootcert"] == "/ca")
        #expect(parameters["sslcert"] == "/c" && parameters["sslkey"] == "/k")
        #expect(parameters["target_session_attrs"] == "read-write")
        #expect(options.parameters(of: options.address.servers[1]).contains { $0 == ("port", "5432") })
    }

    @Test("Defaults: one standby, a store called strata, and TLS wherever what is sent leaves the machine")
    func defaults() throws {
        let options = try options("postgres://localhost,127.0.0.1/notes")
        #expect(options.store == "strata" && options.standbys == 1)
        #expect(try parameters("postgres://localhost,127.0.0.1/notes")["sslmode"] == "prefer")
        #expect(try parameters("postgres://p1/notes?plaintext=1")["sslmode"] == "disable")
        #expect(try parameters("postgres://localhost/notes")["password"] == nil)
    }

    @Test(
        "Whatever is wrong is named",
        arguments: [
            ("nats://p1/n?plaintext=1", "postgres://"), ("postgres://p1/n", "authority=FILE"),
            ("postgres://localhost,p2/n", "authority=FILE"), ("postgres://p1/n?plaintext=2", "plaintext=1"),
            ("postgres://p1/n?plaintext=1&authority=/a", "authority or plaintext"),
            ("postgres://localhost/n?standby=1", "standbys, store"), ("postgres://localhost/n?standbys=-1", "0 to 100"),
            ("postgres://localhost/n?standbys=101", "0 to 100"), ("postgres://localhost/n?standbys=x", "0 to 100"),
            ("postgres://localhost/n?store=", "1 to 40"), ("postgres://localhost/n?store=a%22b", "letters"),
            ("postgres://localhost/n?store=a.b", "letters"), ("postgres://localhost/n?store=%C3%A4", "letters"),
            ("postgres://localhost/n?store=\(String(repeating: "a", count: 41))", "1 to 40"),
            ("postgres://localhost/n?certificate=/c", "certificate and key"),
            ("postgres://localhost/n?key=/k", "certificate and key"),
        ])
    func wrongAddresses(_ text: String, _ expected: String) throws {
        let error = try #require(throws: StrataError.self) { try options(text) }
        #expect(error.code == .invalidArgument)
        #expect(try #require(error.context.expected).contains(expected))
    }

    @Test("The limits are accepted")
    func limits() throws {
        let name = String(repeating: "a", count: 40)
        #expect(try options("postgres://localhost/n?store=\(name)&standbys=100").standbys == 100)
        #expect(try options("postgres://localhost/n?standbys=0").standbys == 0)
        // The longest name of a table, which PostgreSQL would cut at 63 bytes.
        #expect("\(name).state_pkey".utf8.count <= 63)
    }

    @Test("A place shows its store and no password, and two are equal if their addresses are")
    func places() throws {
        let place = try LogPlace.postgres("postgres://anna:secret@localhost/notes?store=a")
        #expect(place.description == "postgres://anna@localhost/notes?store=a")
        #expect(try place == .postgres("postgres://anna@localhost/notes?store=a"))
        #expect(try place != .postgres("postgres://anna@localhost/notes?store=b"))
        #expect(throws: StrataError.self) { try LogPlace.postgres("postgres://p1/notes") }
    }

    // MARK: Settings

    private static let good = PostgresSettings(
        version: 120_000, fsync: "on", fullPageWrites: "on", synchronousCommit: "on", standbyNames: "ANY 1 (a, b)")

    private func refusal(
        standbys: Int = 1, _ change: (inout PostgresSettings) -> Void
    ) throws -> StrataError.Context? {
        var settings = Self.good
        change(&settings)
        do { try settings.check(standbys: standbys) } catch let error as StrataError {
            #expect(error.code == .unsuitable)
            return error.context
        }
        return nil
    }

    @Test("A server whose settings do not keep the promise is refused, with the setting's name")
    func settings() throws {
        #expect(try refusal { _ in } == nil)
        #expect(try refusal { $0.synchronousCommit = "remote_apply" } == nil)
        #expect(try refusal(standbys: 0) { $0.standbyNames = "" } == nil)
        #expect(try refusal { $0.version = 119_999 }?.expected == "version 12 or later")
        #expect(try refusal(standbys: 0) { $0.fsync = "off" }?.found == "fsync = off")
        #expect(try refusal(standbys: 0) { $0.fullPageWrites = "off" }?.found == "full_page_writes = off")
        for value in ["off", "local", "remote_write"] {
            #expect(try refusal { $0.synchronousCommit = value }?.found == "synchronous_commit = \(value)")
        }
        #expect(try refusal { $0.standbyNames = "" }?.expected == "synchronous_standby_names = 'ANY 1 (…)'")
        #expect(try refusal(standbys: 2) { _ in }?.found == "synchronous_standby_names = 'ANY 1 (a, b)'")
        #expect(try refusal(standbys: 2) { $0.standbyNames = "ANY 2 (a, b)" } == nil)
    }

    @Test(
        "The number of standbys that a commit waits for is read from the setting",
        arguments: [
            ("", 0), (" ", 0), ("*", 1), ("a", 1), ("a, b", 1), ("ANY 1 (a, b)", 1), ("any 2(a,b,c)", 2),
            ("FIRST 3 (a, b, c)", 3), ("First 1 (*)", 1), ("2 (a, b)", 2), ("2(a,b)", 2), ("first, any", 1),
            ("ANY 12 (\"1 (a\", b)", 12),
        ])
    func standbyNames(_ names: String, _ count: Int) {
        #expect(PostgresSettings.confirmations(of: names) == count)
    }
}
