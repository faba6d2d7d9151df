import StrataModel
import StrataQuery
import StrataSystem
import Testing

@testable import StrataStore

/// MATCHES: an answer, or an error, after a number of steps that has a bound.
@Suite(.timeLimit(.minutes(2))) struct ExpressionQueryTests {
    private let client: Client
    /// Each takes exponentially many steps on "aaa…b".
    static let hard = ["(a|aa)+c|a+b", "(a+)+c|a+b"]

    init() throws {
        client = try Client(.embedded)
        let saves = (1...60).map { count in
            Client.Save(
                "n\(count)", ["s": .string(String(repeating: "a", count: count) + "b"), "rank": .int64(Int64(count))])
        }
        #expect(client.codes(saves).allSatisfy { $0 == nil })
    }

    @Test(arguments: hard) func `what would take too many steps is an error, never no match`(_ pattern: String) throws {
        #expect(try client.find("s MATCHES 'a+b'").matches.count == 60, "canary")
        #expect(try client.find("rank < 12 AND s MATCHES '\(pattern)'").matches.count == 11)
        for format in ["s MATCHES '\(pattern)'", "NOT s MATCHES '\(pattern)'", "s MATCHES[c] '\(pattern)'"] {
            let refusal = try #require(try client.refusalOfFinding(format))
            #expect(refusal.code == .limitExceeded && refusal.message.contains("“\(pattern)”"))
        }
    }

    @Test func `what the engine has no memory for is an error too`() throws {
        #expect(client.codes([.init("long", ["t": .string(String(repeating: "ab ", count: 1_000_000))])]) == [nil])
        #expect(try client.refusalOfFinding("t MATCHES '(?:ab )*'")?.code == .limitExceeded)
        #expect(try client.find("t MATCHES '[ab ]*'").names == ["long"])
    }

    @Test(arguments: ["(", "a{2,1}", "[a", String(repeating: "a", count: 5_000)])
    func `a pattern that cannot be read is refused before any record is looked at`(_ pattern: String) throws {
        for format in ["s MATCHES '\(pattern)'", "FALSEPREDICATE AND s MATCHES '\(pattern)'"] {
            let refusal = try #require(try client.refusalOfFinding(format))
            #expect(refusal.code == .invalidArguments && refusal.message.contains("regular expression"))
        }
        let subscription = NamedSubscription.notes("s", where: "s MATCHES '\(pattern)'")
        #expect(client.refusal(saving: subscription)?.code == .invalidArguments)
    }

    @Test func `a pattern that a record has may be none: it matches nothing`() throws {
        #expect(client.codes([.init("p", ["s": .string("("), "p": .string("(")])]) == [nil])
        #expect(client.codes([.init("q", ["s": .string("("), "p": .string("[(]")])]) == [nil])
        #expect(try client.find("s MATCHES p").names == ["q"])
    }

    @Test func `a query that is cancelled ends within a text`() throws {
        let query = Query("Note", where: try PredicateParser.parse("rank = 60 AND s MATCHES '\(Self.hard[0])'"))
        for calls in [1, 3, 20] {
            let asked = Lock(0)
            let isCancelled: @Sendable () -> Bool = {
                asked.withLock { count in
                    count += 1
                    return count > calls
                }
            }
            #expect(throws: QueryError.cancelled) {
                try client.store.query(.new(query), in: client.database, as: client.actor, isCancelled: isCancelled)
            }
        }
    }

    @Test func `a subscription whose expression takes too many steps does not fire, and holds up no other`()
        async throws
    {
        let ids = ["hard", "easy"]
        for (id, pattern) in zip(ids, [Self.hard[0], "a+b"]) {
            #expect(client.refusal(saving: .notes(id, where: "s MATCHES '\(pattern)'")) == nil)
        }
        let box = try client.store.listen(as: client.actor)
        let tablet = client.with { $0.device = "tablet" }
        #expect(tablet.codes([.init("m", ["s": .string(String(repeating: "a", count: 50) + "b")])]) == [nil])
        try await client.store.settleNotifications()
        #expect(box.waitingCount == 1)
        #expect(await box.next()?.subscriptionID == "easy")
    }
}
