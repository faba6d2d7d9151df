import Glibc
import StrataModel
import TestNeeds
import TestSupport
import Testing

/// The programs of an installed PostgreSQL.
enum PostgresPrograms {
    /// The folder with the newest version's programs; nil if the server is not installed.
    static let folder: String? = {
        let versions = (14...30).reversed().map { "/usr/lib/postgresql/\($0)/bin" } + ["/usr/local/pgsql/bin"]
        return versions.first { access($0 + "/initdb", X_OK) == 0 }
    }()

    /// The server refuses to run as root, so there it runs as the user that Debian's package makes.
    private static let account: (user: uid_t, group: gid_t)? = {
        guard let entry = getpwnam("postgres") else { return nil }
        return (entry.pointee.pw_uid, entry.pointee.pw_gid)
    }()

    private static let wrapper = "/usr/bin/setpriv"

    fileprivate static let areComplete =
        folder != nil && Programs.path("pgrep") != nil
        && (getuid() != 0 || (account != nil && access(wrapper, X_OK) == 0))

    /// Gives a directory to the user that runs the server.
    static func handOver(_ path: String) {
        guard getuid() == 0, let account else { return }
        _ = chown(path, account.user, account.group)
    }

    /// Starts a program of PostgreSQL, or another one that is named with its path, as the server's user.
    static func start(_ program: String, _ arguments: [String], errors: String) throws -> ChildProcess {
        let path = program.hasPrefix("/") ? program : "\(try #require(folder))/\(program)"
        guard getuid() == 0 else { return try ChildProcess(path, arguments, errors: errors) }
        let user = ["--reuid=postgres", "--regid=postgres", "--init-groups", path]
        return try ChildProcess(wrapper, user + arguments, errors: errors)
    }

    /// Runs a program to its end, which must be a success.
    @discardableResult
    static func run(_ program: String, _ arguments: [String], errors: String) throws -> [String] {
        let child = try start(program, arguments, errors: errors)
        let lines = child.lines()
        guard child.wait() == 0 else {
            throw PostgresServer.Failure(program: program, arguments: arguments, log: errors)
        }
        return lines
    }
}

extension Need {
    static let postgres = Need(
        PostgresPrograms.areComplete,
        orSkip: "there is no server of PostgreSQL that a user other than root may run: install postgresql and procps")
}

extension PostgresServer {
    /// A program that ended with an error. It is no failed expectation, since tests wait for programs to succeed.
    struct Failure: Error {
        let program: String
        let arguments: [String]
        let log: String
    }
}

/// A server of PostgreSQL on a free port of the loopback address.
final class PostgresServer {
    let name: String
    let port: Int
    private let directory: TestDirectory
    private var process: ChildProcess?

    var data: String { directory.path(name) }
    var log: String { directory.path("log") }

    /// Creates a server from a copy of a template's files.
    init(_ name: String, template: String, in directory: TestDirectory, settings: [String: String]) throws {
        self.name = name
        self.directory = directory
        port = try #require(try FreePorts.find(1).first)
        try PostgresPrograms.run("/bin/cp", ["-a", template, directory.path(name)], errors: directory.path("log"))
        try configure(settings)
    }

    /// Writes the settings that differ from those of an ordinary server, which the next start takes.
    func configure(_ settings: [String: String]) throws {
        var all = [
            "listen_addresses": "127.0.0.1", "unix_socket_directories": "", "port": "\(port)",
            "shared_buffers": "16MB", "wal_keep_size": "256MB",
            // Not file by file, which takes many seconds after a crash. The setting came with version 14.
            "recovery_init_sync_method": "syncfs",
        ]
        all.merge(settings) { $1 }
        let text = all.map { "\($0.key) = '\($0.value)'\n" }.sorted().joined()
        try write(text, to: "postgresql.auto.conf")
    }

    /// Makes the server a standby when it starts.
    func becomeStandby() throws { try write("", to: "standby.signal") }

    private func write(_ text: String, to name: String) throws {
        let path = "\(data)/\(name)"
        let file = try #require(fopen(path, "w"))
        fputs(text, file)
        fclose(file)
        PostgresPrograms.handOver(path)
    }

    /// Starts the server, and waits until it takes connections. One that was killed may need several tries: what is
    /// left of it must end first.
    func start() throws {
        try #require(
            eventually {
                if process == nil {
                    process = try? PostgresPrograms.start("postgres", ["-D", data], errors: log)
                }
                if (try? sql("select 1")) == ["1"] { return true }
                if let identifier = process?.identifier, !hasEnded, Glibc.kill(identifier, 0) == 0 { return false }
                process = nil
                usleep(20_000)
                return false
            }, "the server \(name) does not start; see \(log)")
    }

    /// True if the process has ended and was not waited for.
    private var hasEnded: Bool {
        guard let identifier = process?.identifier else { return true }
        var information = siginfo_t()
        let result = waitid(P_PID, id_t(identifier), &information, WEXITED | WNOHANG | WNOWAIT)
        return result == 0 && information.si_signo == SIGCHLD
    }

    /// Kills the server as a loss of power does.
    func kill() {
        process?.kill()
        process = nil
    }

    /// Stops all processes of the server, which keep their connections.
    func pause() throws {
        let identifier = try #require(process?.identifier)
        let children = try PostgresPrograms.run(#require(Programs.path("pgrep")), ["-P", "\(identifier)"], errors: log)
        for process in [identifier] + children.compactMap({ pid_t($0) }) { Glibc.kill(process, SIGSTOP) }
    }

    func promote() throws { try PostgresPrograms.run("pg_ctl", ["promote", "-w", "-D", data], errors: log) }

    /// Executes statements, and returns the rows as text.
    @discardableResult
    func sql(_ statements: String, database: String = "postgres", user: String = "strata") throws -> [String] {
        let child = try PostgresPrograms.start(
            "psql",
            ["-X", "-A", "-t", "-q", "-h", "127.0.0.1", "-p", "\(port)", "-U", user, "-d", database, "-c", statements],
            errors: log)
        let lines = child.lines()
        guard child.wait() == 0 else { throw Failure(program: "psql", arguments: [statements], log: log) }
        return lines
    }
}
