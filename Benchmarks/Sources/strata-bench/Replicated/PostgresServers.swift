import Glibc
import StrataConnections
import StrataModel
import StrataPostgres
import StrataSystem
import TestSupport

/// A primary and two standbys of PostgreSQL; a commit waits for one of the two.
final class PostgresServers: SequencerServers {
    let carriesRequests = false
    private static let names = ["p", "s1", "s2"]
    private static let wrapper = "/usr/bin/setpriv"

    private static let programs: String? = (14...30).reversed().map { "/usr/lib/postgresql/\($0)/bin" }.first {
        access($0 + "/initdb", X_OK) == 0
    }

    static var obstacle: String? {
        if programs == nil { return "PostgreSQL's server is not installed" }
        if getuid() == 0, getpwnam("postgres") == nil || access(wrapper, X_OK) != 0 {
            return "no user other than root may run PostgreSQL's server"
        }
        do { _ = try PQLibrary.load() } catch { return "\(error)" }
        return nil
    }

    private let folder: String
    private let ports: [Int]
    private var processes: [ChildProcess] = []
    /// The processes of a server that was paused, which would not end by themselves.
    private var paused: [pid_t] = []

    init(in base: String) throws {
        folder = try TemporaryDirectory.make("strata-bench-postgres", in: base)
        ports = try FreePorts.find(Self.names.count)
        try handOver(folder)
        try run("initdb", ["-D", data(0), "-U", "strata", "-A", "trust", "--locale=C", "-E", "UTF8"])
        for index in 1..<Self.names.count { try run("/bin/cp", ["-a", data(0), data(index)]) }
        for index in Self.names.indices {
            try configure(index, following: index == 0 ? nil : 0)
            processes.append(try start("postgres", ["-D", data(index)]))
        }
        guard eventually({ (try? sql(0, "select count(*) from pg_stat_replication")) == ["2"] }) else {
            throw BenchError(message: "PostgreSQL does not start: see \(folder)/log")
        }
        try sql(0, "create database notes")
    }

    deinit {
        for process in paused { kill(process, SIGKILL) }
        for process in processes { process.kill() }
        // The servers' own processes end a moment after the first one.
        _ = eventually {
            removeTree(folder)
            return access(folder, F_OK) != 0
        }
    }

    private func data(_ index: Int) -> String { "\(folder)/\(Self.names[index])" }

    private func configure(_ index: Int, following primary: Int?) throws {
        var text = """
            listen_addresses = '127.0.0.1'
            unix_socket_directories = ''
            port = \(ports[index])
            synchronous_standby_names = 'ANY 1 (\(Self.names.joined(separator: ", ")))'
            wal_retrieve_retry_interval = '50ms'

            """
        if let primary {
            text += "primary_conninfo = 'host=127.0.0.1 port=\(ports[primary]) user=strata "
            text += "application_name=\(Self.names[index])'\n"
            try write("", to: "\(data(index))/standby.signal")
        }
        try write(text, to: "\(data(index))/postgresql.auto.conf")
    }

    private func write(_ text: String, to path: String) throws {
        try SequencerKind.write(text, to: path)
        try handOver(path)
    }

    // MARK: Programs

    /// Gives a file to the user that runs the servers, which refuse to run as root.
    private func handOver(_ path: String) throws {
        guard getuid() == 0, let user = getpwnam("postgres") else { return }
        guard chown(path, user.pointee.pw_uid, user.pointee.pw_gid) == 0 else {
            throw BenchError(message: "\(path) cannot be given to another user")
        }
    }

    private func start(_ program: String, _ arguments: [String]) throws -> ChildProcess {
        let path = program.hasPrefix("/") ? program : "\(Self.programs ?? "")/\(program)"
        let log = "\(folder)/log"
        guard getuid() == 0 else { return try ChildProcess(path, arguments, errors: log) }
        let user = ["--reuid=postgres", "--regid=postgres", "--init-groups", path]
        return try ChildProcess(Self.wrapper, user + arguments, errors: log)
    }

    @discardableResult
    private func run(_ program: String, _ arguments: [String]) throws -> [String] {
        let child = try start(program, arguments)
        let lines = child.lines()
        guard child.wait() == 0 else { throw BenchError(message: "\(program) failed: see \(folder)/log") }
        return lines
    }

    @discardableResult
    private func sql(_ index: Int, _ statement: String) throws -> [String] {
        let options = ["-X", "-A", "-t", "-q", "-h", "127.0.0.1", "-p", "\(ports[index])", "-U", "strata"]
        return try run("psql", options + ["-d", "postgres", "-c", statement])
    }

    // MARK: Stores

    private func address(_ store: String) throws -> ServerAddress {
        let hosts = ports.map { "127.0.0.1:\($0)" }.joined(separator: ",")
        return try ServerAddress(parsing: "postgres://strata@\(hosts)/notes?store=\(store)")
    }

    func create(_ store: String) throws -> ServerAddress {
        let address = try address(store)
        try PostgresSequencer.create(address)
        return address
    }

    func bareClient() throws -> any BareClient {
        let store = "bare\(UInt32.random(in: 0 ... .max))"
        return try Client(create(store), table: "strata.\"\(store)\"")
    }

    /// Makes the standby that has most the primary, which the other one follows.
    func interruptLeader(of address: ServerAddress, with signal: Int32) throws -> Double {
        let primary = processes[0].identifier
        let children = try run("/usr/bin/pgrep", ["-P", "\(primary)"]).compactMap { pid_t($0) }
        kill(primary, signal)
        if signal == SIGSTOP {
            for child in children { kill(child, signal) }
            paused = children
        }
        func received(_ index: Int) throws -> Int {
            try Int(sql(index, "select pg_last_wal_receive_lsn() - '0/0'::pg_lsn").joined()) ?? 0
        }
        let next = try received(1) >= received(2) ? 1 : 2
        try run("pg_ctl", ["promote", "-w", "-D", data(next)])
        try configure(3 - next, following: next)
        try sql(3 - next, "select pg_reload_conf()")
        guard eventually({ (try? sql(next, "select count(*) from pg_stat_replication")) == ["1"] }) else {
            throw BenchError(message: "the standby does not follow: see \(folder)/log")
        }
        return secondsNow()
    }

    /// A client that inserts rows in transactions of their own.
    private final class Client: BareClient {
        private let connection: PQConnection
        private var last: Int64 = 0

        init(_ address: ServerAddress, table: String) throws {
            let options = try PostgresOptions(address)
            connection = try PQConnection(
                options.parameters(of: address.servers[0]), PQLibrary.load(), signals: [], until: .now + .seconds(10))
            let statement = "insert into \(table) (number, id, entry) values ($1::bigint, $2::uuid, $3::bytea)"
            guard connection.sendPreparing("append", statement) else { throw BenchError(message: "nothing was sent") }
            try finish()
        }

        private func finish() throws {
            guard case .answer(let answer) = connection.receive(until: .now + .seconds(10)), answer.failure == nil
            else { throw BenchError(message: "a statement failed") }
        }

        func append(_ entry: [UInt8]) throws {
            last += 1
            let number = withUnsafeBytes(of: last.bigEndian) { Array($0) }
            guard connection.send(prepared: "append", [number, number + number, entry]) else {
                throw BenchError(message: "an entry was not sent")
            }
            try finish()
        }
    }
}
