import StrataConnections
import StrataModel
import Testing

@Suite struct ServerAddressTests {
    @Test func readsAllParts() throws {
        let address = try ServerAddress(
            parsing: "nats://anna:p%40ss:w@n1:4222,n2,[::1]:4224/notes?replicas=3&credentials=/etc/a%20b")
        #expect(address.scheme == "nats")
        #expect(address.user == "anna")
        #expect(address.password == "p@ss:w")
        #expect(address.servers.map(\.host) == ["n1", "n2", "[::1]"])
        #expect(address.servers.map(\.port) == [4222, nil, 4224])
        #expect(address.servers.map(\.isLoopback) == [false, false, true])
        #expect(address.name == "notes")
        #expect(address.options == ["replicas": "3", "credentials": "/etc/a b"])
        #expect(
            address.description
                == "nats://anna@n1:4222,n2,[::1]:4224/notes?credentials=/etc/a%20b&replicas=3")
        #expect(try ServerAddress(parsing: address.description).options == address.options)
    }

    @Test(arguments: [
        ("notes", "scheme://host/name"), ("nats://n1", "'/' and a name"), ("nats://n1/", "one name"),
        ("nats://n1/a/b", "one name"), ("nats://n1:0/a", "host:port"), ("nats://n1:65536/a", "host:port"),
        ("nats://n1,/a", "host:port"), ("nats://[::1/a", "host:port"), ("nats://::1/a", "host:port"),
        ("nats://n1/a?b", "key=value"), ("nats://n1/a?b=1&b=2", "each option once"), ("nats://n1/%4", "%XX"),
    ])
    func saysWhichPartIsWrong(_ text: String, _ expected: String) throws {
        let error = try #require(throws: StrataError.self) { try ServerAddress(parsing: text) }
        #expect(error.code == .invalidArgument)
        #expect(try #require(error.context.expected).contains(expected))
    }

    @Test(arguments: [
        "nats://anna:secret%@n1/a", "nats://anna:pa/secret@n1/a", "nats://anna:pa?secret@n1/a", "anna:secret@n1/a",
    ])
    func showsNoPassword(_ text: String) throws {
        let error = try #require(throws: StrataError.self) { try ServerAddress(parsing: text) }
        #expect(!"\(error)".contains("secret"))
    }

    @Test func keepsWhatHasToBeEncoded() throws {
        let text = "nats://a%3Ab%2F@n1/a%2Fb%25?authority=/etc/a%26b%09c"
        let address = try ServerAddress(parsing: text)
        #expect(address.user == "a:b/" && address.name == "a/b%" && address.options == ["authority": "/etc/a&b\tc"])
        #expect(address.description == text)
    }

    @Test(arguments: ["127.example.com", "127.0.0.1.example.com", "127.0.0", "127.0.0.256", "128.0.0.1", "127.0.0.x"])
    func otherHostsAreNotThisMachine(_ host: String) throws {
        #expect(try !ServerAddress(parsing: "nats://\(host)/a").servers[0].isLoopback)
        #expect(try ServerAddress(parsing: "nats://127.1.2.3,localhost/a").servers.allSatisfy(\.isLoopback))
    }
}
