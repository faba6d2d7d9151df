import Glibc
import StrataConnections
import StrataModel
import TestNeeds
import TestSupport
import Testing

@testable import StrataJetStream

@Suite("TLS", .needs(.natsServer), .needs(.openssl))
struct JetStreamTlsTests {
    private let directory: TestDirectory

    init() throws {
        directory = try TestDirectory()
        for name in ["authority", "stranger"] {
            try run("req -x509 -newkey rsa:2048 -nodes -keyout \(name).key -out \(name).pem -days 2 -subj /CN=\(name)")
        }
    }

    /// Runs openssl; the arguments name files of the directory.
    private func run(_ arguments: String) throws {
        let words = arguments.split(separator: " ").map { word in
            word.contains(".") && !word.contains("=") ? directory.path(String(word)) : String(word)
        }
        let child = try ChildProcess(#require(Programs.path("openssl")), words, errors: directory.path("errors"))
        _ = child.lines()
        #expect(child.wait() == 0)
    }

    /// Starts a server whose certificate is for some names.
    private func server(names: String) throws -> JetStreamServers {
        try run(
            "req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=a "
                + "-addext subjectAltName=\(names)")
        try run(
            "x509 -req -in server.csr -CA authority.pem -CAkey authority.key -CAcreateserial -copy_extensions copy "
                + "-out server.pem -days 2")
        let (certificate, key) = (directory.path("server.pem"), directory.path("server.key"))
        return try JetStreamServers(
            count: 1, settings: "tls { cert_file: \"\(certificate)\", key_file: \"\(key)\" }")
    }

    private func options(_ servers: JetStreamServers, authority: String?) throws -> JetStreamOptions {
        let address = try servers.options("notes").address.replacing("nats://", with: "tls://")
        let option = authority.map { "&authority=\(directory.path("\($0).pem"))" } ?? ""
        return try JetStreamOptions(ServerAddress(parsing: "\(address)?replicas=1\(option)"))
    }

    @Test("A certificate of an unknown authority is rejected")
    func authorities() throws {
        let servers = try server(names: "IP:127.0.0.1")
        let right = try options(servers, authority: "authority")
        #expect(eventually { (try? JetStreamSequencer.create(right)) != nil })
        #expect(try JetStreamSequencer(right).last() == 0)
        for authority in [nil, "stranger", "missing"] {
            #expect(code { _ = try JetStreamSequencer(options(servers, authority: authority)) } == .unsuitable)
        }
    }

    @Test("A certificate for another name is rejected")
    func names() throws {
        let servers = try server(names: "DNS:other.example")
        #expect(code { _ = try JetStreamSequencer(options(servers, authority: "authority")) } == .unsuitable)
    }
}
