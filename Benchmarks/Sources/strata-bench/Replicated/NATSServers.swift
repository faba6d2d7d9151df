import Glibc
import StrataConnections
import StrataJetStream
import StrataModel
import StrataSystem
import TestSupport

/// Three NATS servers that sync each entry, as `tools/nats` starts them.
final class NATSServers: SequencerServers {
    let carriesRequests = true
    private static let count = 3
    private static let program = Programs.natsServer

    static var obstacle: String? {
        if program == nil {
            return "there is no nats-server 2.12 or later: run tools/nats install, or set STRATA_NATS_SERVER"
        }
        do { _ = try NATSLibrary.shared() } catch { return "\(error)" }
        return nil
    }

    private let folder: String
    private let ports: [Int]
    private var processes: [ChildProcess] = []

    init(in base: String) throws {
        guard let program = Self.program else { throw BenchError(message: "there is no nats-server") }
        folder = try TemporaryDirectory.make("strata-bench-nats", in: base)
        ports = try FreePorts.find(2 * Self.count)
        let routes = ports[Self.count...].map { "nats://127.0.0.1:\($0)" }.joined(separator: ", ")
        for index in 0..<Self.count {
            let path = "\(folder)/\(index).conf"
            try SequencerKind.write(
                """
                server_name: n\(index)
                listen: 127.0.0.1:\(ports[index])
                jetstream { store_dir: "\(folder)/store\(index)", sync_interval: always }
                cluster { name: bench, listen: 127.0.0.1:\(ports[Self.count + index]), routes: [\(routes)] }

                """, to: path)
            processes.append(try ChildProcess(program, ["-c", path], errors: "\(folder)/\(index).log"))
        }
    }

    deinit {
        for process in processes { process.kill() }
        removeTree(folder)
    }

    private func options(_ store: String) throws -> JetStreamOptions {
        var options = try JetStreamOptions(address(store))
        // New servers have to elect a leader first.
        options.openMilliseconds = 30_000
        return options
    }

    private func address(_ store: String) throws -> ServerAddress {
        let hosts = ports[..<Self.count].map { "127.0.0.1:\($0)" }.joined(separator: ",")
        return try ServerAddress(parsing: "nats://\(hosts)/\(store)")
    }

    func create(_ store: String) throws -> ServerAddress {
        try JetStreamSequencer.create(options(store))
        return try address(store)
    }

    func bareClient() throws -> any BareClient {
        let store = "bare\(UInt32.random(in: 0 ... .max))"
        _ = try create(store)
        return try Client(options(store))
    }

    func interruptLeader(of address: ServerAddress, with signal: Int32) throws -> Double {
        let connection = try NATSConnection(NATSLibrary.shared(), JetStreamOptions(address))
        defer { connection.close() }
        let answer = try connection.request("$JS.API.STREAM.INFO.\(address.name)", [], milliseconds: 5_000)
        guard let leader = Self.field("\"leader\":\"n", of: answer) else {
            throw BenchError(message: "the stream has no leader")
        }
        kill(processes[leader].identifier, signal)
        return secondsNow()
    }

    /// Returns the number that follows a text in a server's answer.
    private static func field(_ name: String, of answer: [UInt8]) -> Int? {
        guard let range = answer.firstRange(of: Array(name.utf8)) else { return nil }
        let digits = answer[range.upperBound...].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return Int(String(decoding: digits, as: UTF8.self))
    }

    /// A client that publishes with the last number it was told.
    private final class Client: BareClient {
        private let connection: NATSConnection
        private let subject: String
        private var last = 0

        init(_ options: JetStreamOptions) throws {
            connection = try NATSConnection(NATSLibrary.shared(), options)
            subject = options.subject
        }

        deinit { connection.close() }

        func append(_ entry: [UInt8]) throws {
            let answer = try connection.request(
                subject, entry, headers: [("Nats-Expected-Last-Sequence", "\(last)")], milliseconds: 10_000)
            guard let number = NATSServers.field("\"seq\":", of: answer), number == last + 1 else {
                throw BenchError(message: "an entry was refused: \(String(decoding: answer, as: UTF8.self))")
            }
            last = number
        }
    }
}
