import StrataConnections
import StrataModel
import StrataReplication
import StrataSystem
import Testing

@testable import StrataJetStream

@Suite("Addresses, settings and answers of JetStream")
struct JetStreamSettingsTests {
    private static func options(_ text: String) throws -> JetStreamOptions {
        try JetStreamOptions(ServerAddress(parsing: text))
    }

    private let options: JetStreamOptions

    init() throws { options = try Self.options("nats://n1,n2:4223/notes") }

    @Test func readsAnAddress() throws {
        #expect(options.urls == ["tls://n1:4222", "tls://n2:4223"])
        #expect(options.subject == "strata.notes" && options.replicas == 3 && options.credentials == nil)
        #expect(options.address == "tls://n1,n2:4223/notes")
        let other = try Self.options("nats://anna:secret@n1/a?authority=/ca.pem&replicas=5")
        #expect(other.credentials == .password(user: "anna", password: "secret"))
        #expect(other.authority == "/ca.pem" && other.replicas == 5)
        #expect(other.address == "tls://anna@n1/a")
        #expect(try Self.options("nats://n1/a?credentials=/a.creds").credentials == .file("/a.creds"))
    }

    @Test(
        "TLS is used unless all servers are on this machine, or plain text is asked for",
        arguments: [
            ("nats://n1/a", true), ("nats://127.0.0.1,n1/a", true), ("nats://127.0.0.1,[::1],localhost/a", false),
            ("tls://localhost/a", true), ("nats://localhost/a?authority=/ca.pem", true),
            ("nats://n1/a?plaintext=1", false), ("nats://n1/a?plaintext=0", true),
        ])
    func security(_ address: String, _ isSecure: Bool) throws {
        let options = try Self.options(address)
        #expect(options.isSecure == isSecure)
        #expect(options.urls.allSatisfy { $0.hasPrefix(isSecure ? "tls://" : "nats://") })
    }

    @Test(
        "Each wrong part of an address is named",
        arguments: [
            ("http://n1/a", "nats:// or tls://"),
            ("nats://n1/a?replica=3", "authority, credentials, plaintext, replicas"),
            ("nats://n1/a.b", "letters, digits"), ("nats://n1/a%20b", "letters, digits"),
            ("nats://n1/%C3%A9", "letters"),
            ("nats://n1/a?replicas=2", "1, 3 or 5"), ("nats://n1/a?replicas=7", "1, 3 or 5"),
            ("nats://n1/a?replicas=0", "1, 3 or 5"), ("nats://n1/a?plaintext=yes", "plaintext=1"),
            ("tls://n1/a?plaintext=1", "where plaintext=1"),
            ("nats://n1/a?plaintext=1&authority=/b", "where plaintext=1"),
            ("nats://anna:secret@n1/a?credentials=/b", "either a user or a credentials file"),
        ])
    func wrongAddresses(_ address: String, _ expected: String) throws {
        let error = try #require(throws: StrataError.self) { try Self.options(address) }
        #expect(error.code == .invalidArgument)
        #expect(error.description.contains(expected) && !error.description.contains("secret"))
    }

    @Test("A name of 64 characters is the longest")
    func nameLengths() throws {
        #expect(try Self.options("nats://n1/" + String(repeating: "a", count: 64)).stream.count == 64)
        #expect(code { _ = try Self.options("nats://n1/" + String(repeating: "a", count: 65)) } == .invalidArgument)
    }

    @Test func placesOfLogs() throws {
        let place = LogPlace.jetStream(
            servers: ["tls://n1:4222", "tls://n2"], stream: "notes", credentials: .password(user: "a", password: "b"))
        #expect(place.address == "tls://a@n1:4222,n2/notes")
        #expect(place != .jetStream(servers: ["tls://n1:4222"], stream: "notes"))
        #expect(try place == .jetStream(ServerAddress(parsing: "tls://a:c@n1:4222,n2/notes")))
        for servers in [[], ["n1"], ["nats://n1", "tls://n2"], ["nats://a:b@n1"], ["nats://n1/b"], ["http://n1"]] {
            let wrong = LogPlace.jetStream(servers: servers, stream: "notes")
            #expect(wrong.address == "nats:///notes")
            #expect(code { _ = try wrong.sequencer(Platform()) } == .invalidArgument)
        }
    }

    // MARK: Settings

    private static let right = """
        {"name":"notes","subjects":["strata.notes"],"retention":"limits","max_consumers":-1,"max_msgs":-1,
        "max_bytes":-1,"max_age":0,"max_msgs_per_subject":-1,"max_msg_size":-1,"discard":"new","storage":"file",
        "num_replicas":3,"duplicate_window":120000000000,"compression":"none","allow_direct":false,"sealed":false,
        "deny_delete":true,"deny_purge":false,"allow_rollup_hdrs":false,"consumer_limits":{},"allow_msg_ttl":false,
        "metadata":{"_nats.level":"5","_nats.ver":"2.15.1"}}
        """

    private func settings(_ json: String) throws -> StreamSettings {
        try JetStreamAPI.decode(Array(json.utf8))
    }

    @Test func whatIsCreatedIsAccepted() throws {
        #expect(try settings(Self.right).mismatches(options, messageBytes: 1_000) == [])
        let created = try settings(String(decoding: JetStreamAPI.encode(StreamSettings(options)), as: UTF8.self))
        #expect(created.mismatches(options, messageBytes: 1_000) == [])
        try JetStreamSequencer.check(settings(Self.right), options, messageBytes: 1_000)
    }

    @Test(
        "Each setting that does not keep the promise is named",
        arguments: [
            (#""subjects":["strata.notes"]"#, #""subjects":["strata.notes","b"]"#, "subjects"),
            (#""storage":"file""#, #""storage":"memory""#, "storage"),
            (#""retention":"limits""#, #""retention":"workqueue""#, "retention"),
            (#""discard":"new""#, #""discard":"old""#, "discard"),
            (#""num_replicas":3"#, #""num_replicas":1"#, "num_replicas"),
            (#""num_replicas":3"#, #""num_replicas":4"#, "num_replicas"),
            (#""max_age":0"#, #""max_age":1"#, "max_age"), (#""max_msgs":-1"#, #""max_msgs":1"#, "max_msgs"),
            (#""max_bytes":-1"#, #""max_bytes":1"#, "max_bytes"),
            (#""max_msgs_per_subject":-1"#, #""max_msgs_per_subject":1"#, "max_msgs_per_subject"),
            (#""max_msg_size":-1"#, #""max_msg_size":999"#, "max_msg_size"),
            (#""name":"notes""#, #""name":"notes","first_seq":2"#, "first_seq"),
            (#""deny_delete":true"#, #""deny_delete":false"#, "deny_delete"),
            (#""deny_delete":true"#, #""a":true"#, "deny_delete"),
            (#""allow_direct":false"#, #""allow_direct":true"#, "allow_direct"),
            (#""allow_rollup_hdrs":false"#, #""allow_rollup_hdrs":true"#, "allow_rollup_hdrs"),
            (#""allow_msg_ttl":false"#, #""allow_msg_ttl":true"#, "allow_msg_ttl"),
            (#""sealed":false"#, #""sealed":true"#, "sealed"),
            (#""name":"notes""#, #""name":"notes","no_ack":true"#, "no_ack"),
            (#""name":"notes""#, #""name":"notes","allow_msg_schedules":true"#, "allow_msg_schedules"),
            (#""name":"notes""#, #""name":"notes","allow_msg_counter":true"#, "allow_msg_counter"),
            (#""name":"notes""#, #""name":"notes","persist_mode":"async""#, "persist_mode"),
            (#""name":"notes""#, #""name":"notes","republish":{"src":">","dest":"b.>"}"#, "republish"),
            (#""name":"notes""#, #""name":"notes","mirror":{"name":"b"}"#, "mirror"),
            (#""name":"notes""#, #""name":"notes","sources":[{"name":"b"}]"#, "sources"),
            (#""name":"notes""#, #""name":"notes","subject_transform":{"src":"a"}"#, "subject_transform"),
        ])
    func wrongSettings(_ part: String, _ wrong: String, _ setting: String) throws {
        let settings = try settings(Self.right.replacing(part, with: wrong))
        #expect(settings.mismatches(options, messageBytes: 1_000).map(\.setting) == [setting])
        let error = try #require(throws: StrataError.self) {
            try JetStreamSequencer.check(settings, options, messageBytes: 1_000)
        }
        #expect(error.code == .unsuitable && error.description.contains("\(setting): "))
    }

    @Test(
        "Settings at their limits are accepted",
        arguments: [
            (#""max_msg_size":-1"#, #""max_msg_size":1000"#), (#""num_replicas":3"#, #""num_replicas":5"#),
            (#""name":"notes""#, #""name":"notes","first_seq":1,"persist_mode":"default","sources":[]"#),
        ])
    func settingsAtLimits(_ part: String, _ other: String) throws {
        #expect(try settings(Self.right.replacing(part, with: other)).mismatches(options, messageBytes: 1_000) == [])
    }

    @Test(
        "Servers before 2.12 are refused",
        arguments: [
            ("2.11.9", "2.11"), ("2.9.10", "2.9"), ("1.99.0", "1.99"), ("abc", "before 2.11"), (nil, "before 2.11"),
        ])
    func oldServers(_ version: String?, _ found: String) throws {
        let part = #","_nats.ver":"2.15.1""#
        let json = Self.right.replacing(part, with: version.map { #","_nats.ver":"\#($0)""# } ?? "")
        let error = try #require(throws: StrataError.self) {
            try JetStreamSequencer.check(settings(json), options, messageBytes: 1_000)
        }
        #expect(error.code == .unsuitable && error.description.contains(found))
    }

    @Test func versions() {
        #expect(NATSServerVersion("2.12.0").map { $0 >= .minimum } == true)
        #expect(NATSServerVersion("2.14.0-beta.1") == NATSServerVersion(major: 2, minor: 14))
        #expect(NATSServerVersion("3.0.0").map { $0 >= .minimum } == true)
        #expect(NATSServerVersion("2.11.10").map { $0 >= .minimum } == false)
        for text in ["", "2", "2.12", "a.b.c", "-2.12.1"] { #expect(NATSServerVersion(text) == nil) }
    }

    // MARK: The state of a stream

    private func info(_ cluster: String, replicas: Int = 3) throws -> StreamInfo {
        let config = Self.right.replacing(#""num_replicas":3"#, with: #""num_replicas":\#(replicas)"#)
        let json = #"{"config":\#(config),"state":{"first_seq":3,"last_seq":9}\#(cluster)}"#
        return try JetStreamAPI.decode(Array(json.utf8))
    }

    @Test(
        "A leader must have heard from a majority within three seconds",
        arguments: [
            (#","cluster":{"leader":"a","replicas":[{"active":2999999999},{"active":9000000000}]}"#, 3, true),
            (#","cluster":{"leader":"a","replicas":[{"active":3000000000},{"active":9000000000}]}"#, 3, false),
            (#","cluster":{"leader":"a","replicas":[{"active":1,"offline":true},{"offline":false}]}"#, 3, false),
            (#","cluster":{"leader":"","replicas":[{"active":1},{"active":1}]}"#, 3, false),
            (#","cluster":{"leader":"a","replicas":[{"active":1},{},{},{}]}"#, 5, false),
            (#","cluster":{"leader":"a","replicas":[{"active":1},{"active":1},{},{}]}"#, 5, true),
            (#","cluster":{"leader":"a"}"#, 3, false), ("", 3, false), ("", 1, true),
        ])
    func leaders(_ cluster: String, _ replicas: Int, _ isFromLeader: Bool) throws {
        let info = try info(cluster, replicas: replicas)
        #expect(info.isFromLeader == isFromLeader)
        #expect(info.state.first == 3 && info.state.last == 9)
    }

    // MARK: Answers

    @Test func acknowledgements() {
        func answer(_ json: String) -> SequencerAnswer { JetStreamSequencer.answer(Array(json.utf8), options) }
        func failure(_ code: Int, _ number: Int) -> SequencerAnswer {
            answer(#"{"error":{"code":\#(code),"err_code":\#(number),"description":"a"},"stream":"notes","seq":0}"#)
        }
        #expect(answer(#"{"stream":"notes","seq":5}"#).number == 5)
        #expect(answer(#"{"stream":"notes", "seq":5}"#).number == 5)
        #expect(answer(#"{"stream":"notes", "domain":"hub", "seq":6}"#).number == 6)
        #expect(answer(#"{"stream":"notes","seq":7,"duplicate":true}"#).number == 7)
        #expect(answer(#"{"stream":"notes","seq":0,"duplicate":true}"#).isUnknown)
        for json in ["", "{}", "null", "+OK", #"{"seq":-1}"#, #"{"seq":1e30}"#] { #expect(answer(json).isUnknown) }
        for number in [10_071, 10_164] { #expect(failure(400, number).isTaken) }
        #expect(failure(400, 10_054).refusal?.code == .tooLarge)
        #expect(failure(503, 10_002).refusal?.code == .noSpace)
        // Other servers may have stored it.
        #expect(failure(503, 10_077).isUnknown && failure(503, 10_023).isUnknown)
        #expect(failure(400, 10_060).refusal?.code == .unsuitable)
        for (code, number) in [(503, 10_008), (409, 10_158), (400, 1)] { #expect(failure(code, number).isUnknown) }
    }

    @Test func deliveredPlaces() {
        #expect(DeliveredPlace("$JS.ACK.notes.c.1.12.7.1700000000.0") == DeliveredPlace(number: 12, delivered: 7))
        #expect(
            DeliveredPlace("$JS.ACK.hub.A1.notes.c.1.12.7.17.0.Rnd") == DeliveredPlace(number: 12, delivered: 7))
        for text in [
            "", "$JS.ACK.notes.c.1.12.7.1700000000", "$JS.ACK.notes.c.1.a.7.1.0", "$JS.ACK.notes.c.1.0.7.1.0",
            "$JS.FC.notes.c.1.12.7.1.0",
        ] { #expect(DeliveredPlace(text) == nil) }
    }
}
