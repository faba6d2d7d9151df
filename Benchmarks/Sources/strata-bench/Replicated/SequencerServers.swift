import Glibc
import StrataConnections
import StrataJetStream
import StrataModel
import StrataPostgres
import StrataReplication
import StrataStore

/// Three servers of this machine that order the entries of stores. They end with the object.
protocol SequencerServers: AnyObject {
    /// True if processes can send each other requests through the servers.
    var carriesRequests: Bool { get }

    /// Makes a sequencer for a store, and returns its address.
    func create(_ store: String) throws -> ServerAddress

    /// Connects a client that writes to a new sequencer as directly as the servers allow.
    func bareClient() throws -> any BareClient

    /// Sends a signal to the server that takes a store's writes. Returns the time from which another one can take them,
    /// as far as somebody other than the servers decides that.
    func interruptLeader(of address: ServerAddress, with signal: Int32) throws -> Double
}

/// A client of the servers without an engine: one entry on its way, at the number after the last.
protocol BareClient: AnyObject {
    func append(_ entry: [UInt8]) throws
}

/// The kinds of servers that the workload runs on.
enum SequencerKind: String, CaseIterable {
    case jetStream = "JetStream"
    case postgres = "PostgreSQL"

    /// The reason why these servers cannot run here; nil if they can.
    var obstacle: String? {
        switch self {
        case .jetStream: NATSServers.obstacle
        case .postgres: PostgresServers.obstacle
        }
    }

    /// Starts the servers with their files in a new directory in `folder`.
    func start(in folder: String) throws -> any SequencerServers {
        switch self {
        case .jetStream: try NATSServers(in: folder)
        case .postgres: try PostgresServers(in: folder)
        }
    }

    static func place(_ address: ServerAddress) throws -> LogPlace {
        address.scheme == "nats" ? try .jetStream(address) : try .postgres(address)
    }

    static func write(_ text: String, to path: String) throws {
        guard let file = fopen(path, "w") else { throw BenchError(message: "\(path) cannot be written") }
        fputs(text, file)
        fclose(file)
    }
}
