import Glibc
import StrataConnections
import StrataModel
import StrataSystem
import TestNeeds
import TestSupport
import Testing

@testable import StrataJetStream

/// NATS servers of this machine, on free ports and in a folder of their own; they end with the object.
///
/// ```swift
/// let servers = try JetStreamServers(count: 3)
/// let options = try servers.options("notes")
/// ```
final class JetStreamServers {
    let directory: TestDirectory
    private var processes: [ChildProcess?]
    private let ports: [Int]
    private let settings: String

    /// - Parameters:
    ///   - hasJetStream: false for servers without it.
    ///   - settings: further lines of each server's configuration.
    init(count: Int, hasJetStream: Bool = true, settings: String = "") throws {
        directory = try TestDirectory()
        self.settings = settings
        processes = Array(repeating: nil, count: count)
        ports = try FreePorts.find(2 * count)
        for index in 0..<count {
            try configuration(of: index, hasJetStream).write(to: directory.path("\(index).conf"))
            try start(index)
        }
    }

    deinit {
        // A paused one could not end.
        for index in processes.indices { kill(index) }
    }

    private func configuration(of index: Int, _ hasJetStream: Bool) -> String {
        var text = "server_name: n\(index)\nlisten: 127.0.0.1:\(ports[index])\n\(settings)\n"
        if hasJetStream {
            text += "jetstream { store_dir: \"\(directory.path("store\(index)"))\", sync_interval: always }\n"
        }
        let count = processes.count
        if count > 1 {
            let routes = (0..<count).map { "nats://127.0.0.1:\(ports[count + $0])" }.joined(separator: ", ")
            text += "cluster { name: test, listen: 127.0.0.1:\(ports[count + index]), routes: [\(routes)] }\n"
        }
        return text
    }

    // MARK: Processes

    func start(_ index: Int) throws {
        let binary = try #require(Programs.natsServer)
        processes[index] = try ChildProcess(
            binary, ["-c", directory.path("\(index).conf")], errors: directory.path("\(index).log"))
    }

    func kill(_ index: Int) {
        processes[index]?.kill()
        processes[index] = nil
    }

    /// Takes everything away that a server keeps. It must not run.
    func wipe(_ index: Int) throws {
        let store = directory.path("store\(index)")
        try RealFileSystem().rename(store, to: store + "-lost")
    }

    func pause(_ index: Int) { signal(index, SIGSTOP) }
    func resume(_ index: Int) { signal(index, SIGCONT) }

    private func signal(_ index: Int, _ number: Int32) {
        if let process = processes[index] { Glibc.kill(process.identifier, number) }
    }

    // MARK: Addresses

    /// Returns the options of a stream that as many servers keep as there are.
    func options(_ stream: String, account: String = "", more: String = "") throws -> JetStreamOptions {
        let hosts = ports[..<processes.count].map { "127.0.0.1:\($0)" }.joined(separator: ",")
        let address = "nats://\(account)\(hosts)/\(stream)?replicas=\(processes.count)\(more)"
        return try JetStreamOptions(ServerAddress(parsing: address))
    }

    /// Creates a stream and returns its options.
    func stream(_ name: String) throws -> JetStreamOptions {
        var options = try options(name)
        // A new cluster has to elect a leader first.
        options.openMilliseconds = 30_000
        #expect(try JetStreamSequencer.create(options))
        return options
    }

    /// Sends a request to JetStream, as an administrator may.
    @discardableResult
    func ask<Answer: Decodable>(
        _ question: String, _ json: String, _ options: JetStreamOptions,
        as type: Answer.Type = JetStreamAPI.Nothing.self
    ) throws -> Answer {
        let connection = try NATSConnection(NATSLibrary.shared(), options)
        defer { connection.close() }
        return try JetStreamAPI.decode(
            connection.request("$JS.API.\(question)", Array(json.utf8), milliseconds: 5_000))
    }

    /// Returns the number of the server that leads a stream; nil while none does.
    func leader(_ options: JetStreamOptions) -> Int? {
        let info = try? ask("STREAM.INFO.\(options.stream)", "{}", options, as: StreamInfo.self)
        return info?.cluster?.leader.flatMap { Int($0.dropFirst()) }
    }
}

extension JetStreamServers {
    private struct Standing: Decodable {
        struct Cluster: Decodable {
            struct Replica: Decodable {
                var current: Bool?
                var offline: Bool?
            }

            var replicas: [Replica]?
        }

        var cluster: Cluster?
    }

    /// Returns true if every server has all messages of a stream.
    func isComplete(_ options: JetStreamOptions) -> Bool {
        let standing = try? ask("STREAM.INFO.\(options.stream)", "{}", options, as: Standing.self)
        let replicas = standing?.cluster?.replicas ?? []
        return replicas.count == processes.count - 1 && replicas.allSatisfy { $0.current == true && $0.offline != true }
    }
}

extension String {
    fileprivate func write(to path: String) throws {
        let file = try RealFileSystem().open(path, .create)
        defer { file.close() }
        try file.write(Array(utf8), at: 0)
    }
}
