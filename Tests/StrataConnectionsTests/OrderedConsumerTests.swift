import StrataModel
import TestNeeds
import TestSupport
import Testing

@testable import StrataJetStream

@Suite("A consumer in order", .needs(.natsServer))
struct OrderedConsumerTests {
    private let servers: JetStreamServers
    private let options: JetStreamOptions
    private let connection: NATSConnection

    init() throws {
        let servers = try JetStreamServers(count: 1)
        let options = try servers.options("notes")
        (self.servers, self.options) = (servers, options)
        // Without `deny_delete`, so that the tests can remove entries.
        let json = #"{"name":"notes","subjects":["strata.notes"],"storage":"file"}"#
        let isCreated = eventually { (try? servers.ask("STREAM.CREATE.notes", json, options)) != nil }
        #expect(isCreated)
        connection = try NATSConnection(NATSLibrary.shared(), options)
        for entry in 1...3 as ClosedRange<UInt8> {
            _ = try connection.request(options.subject, [entry], milliseconds: 5_000)
        }
    }

    @Test("An entry that is missing between others is noticed")
    func hole() throws {
        try servers.ask("STREAM.MSG.DELETE.notes", #"{"seq":2}"#, options)
        let consumer = try OrderedConsumer(connection, options, from: 2)
        let error = try #require(throws: OrderedConsumer.Interruption.self) {
            _ = try consumer.entries(milliseconds: 10_000)
        }
        guard case .hole(3) = error else {
            Issue.record("\(error)")
            return
        }
    }

    @Test("A server that falls silent is noticed, and one that is idle is not")
    func silence() throws {
        let consumer = try OrderedConsumer(connection, options, from: 1)
        var entries: [[UInt8]] = []
        while entries.count < 3 { entries += try consumer.entries(milliseconds: 10_000) }
        #expect(entries == [[1], [2], [3]])
        // Longer than the silence that is allowed.
        #expect(try consumer.entries(milliseconds: 2_500) == [])
        servers.pause(0)
        let error = #expect(throws: OrderedConsumer.Interruption.self) {
            while true { _ = try consumer.entries(milliseconds: 10_000) }
        }
        servers.resume(0)
        guard case .silence = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("A consumer that the server removed is noticed")
    func removal() throws {
        let consumer = try OrderedConsumer(connection, options, from: 4)
        try servers.ask("STREAM.DELETE.notes", "{}", options)
        #expect(throws: OrderedConsumer.Interruption.self) {
            while true { _ = try consumer.entries(milliseconds: 10_000) }
        }
    }
}
