import Foundation
import StrataConnections
import StrataJetStream
import StrataModel
import StrataSystem
import TestSupport

/// NATS servers that sync each entry. They reach each other, and processes reach them, only over ``Link``s.
///
/// The address that a server would tell the others to reach it at leads nowhere, so that none goes around its link.
final class NATSCluster: Sendable {
    static let usualCount = 3
    static let stream = "nemesis"
    /// The number of entries that a server may lack while they are on their way to it.
    private static let usualLag = 20
    private static let usualSilenceNanoseconds = 1_500_000_000

    let count: Int
    /// The link of each pair of servers, by their numbers.
    let routes: [(one: Int, other: Int, link: Link)]
    private let folder: String
    private let binary: String
    /// True if the servers keep the store's assets too.
    private let keepsAssets: Bool
    private let ports: [Int]
    private let clusterPorts: [Int]
    private let proxies: Lock<[Proxy]>
    private let processes: Lock<Processes>

    private struct Processes: ~Copyable {
        var children: [ChildProcess?] = []
        /// The program of each server.
        var binaries: [String]
    }

    /// Starts 3 or 5 servers, with `earlierBinary` if there is one; ``upgrade(_:)`` changes a server to `binary`.
    init(
        _ count: Int, binary: String, earlierBinary: String? = nil, in folder: String, keepsAssets: Bool
    ) throws {
        (self.count, self.binary, self.folder, self.keepsAssets) = (count, binary, folder, keepsAssets)
        let free = try FreePorts.find(2 * count)
        (ports, clusterPorts) = (Array(free[..<count]), Array(free[count...]))
        var (proxies, routes) = ([Proxy](), [(one: Int, other: Int, link: Link)]())
        var routePorts = [[Int]](repeating: [], count: count)
        for one in 0..<count {
            for other in one + 1..<count {
                let link = Link("n\(one)-n\(other)")
                routes.append((one, other, link))
                let forward = try Proxy(to: clusterPorts[other], over: link, .forward)
                let backward = try Proxy(to: clusterPorts[one], over: link, .backward)
                routePorts[one].append(forward.port)
                routePorts[other].append(backward.port)
                proxies += [forward, backward]
            }
        }
        self.routes = routes
        self.proxies = Lock(proxies)
        processes = Lock(
            Processes(
                children: Array(repeating: nil, count: count),
                binaries: Array(repeating: earlierBinary ?? binary, count: count)))
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for index in 0..<count {
            try configuration(of: index, routePorts[index]).write(
                toFile: "\(folder)/n\(index).conf", atomically: false, encoding: .utf8)
        }
        for index in 0..<count { try start(index) }
    }

    private func configuration(of index: Int, _ routePorts: [Int]) -> String {
        let routes = routePorts.map { "nats://127.0.0.1:\($0)" }.joined(separator: ", ")
        return """
            server_name: n\(index)
            listen: 127.0.0.1:\(ports[index])
            log_file: "\(folder)/n\(index).log"
            jetstream { store_dir: "\(folder)/store\(index)", sync_interval: always }
            cluster {
              name: nemesis, listen: 127.0.0.1:\(clusterPorts[index]), advertise: "127.0.0.1:1", no_advertise: true
              routes: [\(routes)]
            }

            """
    }

    // MARK: Processes

    func start(_ index: Int) throws {
        let program = processes.withLock { $0.binaries[index] }
        let child = try ChildProcess(program, ["-c", "\(folder)/n\(index).conf"], errors: "\(folder)/n\(index).errors")
        processes.withLock { $0.children[index] = child }
    }

    /// Lets a server be of the newer version from its next start on.
    func upgrade(_ index: Int) { processes.withLock { $0.binaries[index] = binary } }

    func kill(_ index: Int) {
        processes.withLock { processes in
            _ = processes.children[index]?.kill()
            processes.children[index] = nil
        }
    }

    func signal(_ index: Int, _ number: Int32) {
        processes.withLock { processes in
            if let child = processes.children[index] { Glibc.kill(child.identifier, number) }
        }
    }

    /// Removes everything that a server keeps. It must not run.
    func wipe(_ index: Int) throws { try FileManager.default.removeItem(atPath: "\(folder)/store\(index)") }

    func stop() {
        for index in 0..<count { kill(index) }
        proxies.withLock { proxies in for proxy in proxies { proxy.stop() } }
        for route in routes { route.link.set(.open) }
    }

    // MARK: The stream

    /// Returns a link to each server, and the address of the stream over them.
    func access(for name: String) throws -> (links: [Link], address: String) {
        let links = (0..<count).map { Link("\(name)-n\($0)") }
        let made = try links.enumerated().map { try Proxy(to: ports[$0], over: $1) }
        proxies.withLock { $0 += made }
        let hosts = made.map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
        return (links, address(hosts) + (keepsAssets ? "&assets=cluster" : ""))
    }

    private func address(_ hosts: String) -> String { "nats://\(hosts)/\(Self.stream)?replicas=\(count)" }

    func createStream() throws {
        let hosts = ports.map { "127.0.0.1:\($0)" }.joined(separator: ",")
        var options = try JetStreamOptions(ServerAddress(parsing: address(hosts)))
        options.openMilliseconds = 60_000
        try JetStreamSequencer.create(options)
        if keepsAssets { try JetStreamSequencer.create(options.forObjects) }
    }

    /// Returns the answer of any server to a question of JetStream.
    private func ask(_ question: String, _ stream: String = NATSCluster.stream) -> [String: Any]? {
        for port in ports {
            if let answer = NATSQuestion.ask("$JS.API.\(question).\(stream)", port: port) { return answer }
        }
        return nil
    }

    func stepDown() -> Bool {
        if keepsAssets { _ = ask("STREAM.LEADER.STEPDOWN", Self.stream + "-assets") }
        return ask("STREAM.LEADER.STEPDOWN")?["success"] as? Bool ?? false
    }

    /// The servers that lead the streams, and whether the others have all that these have, except for what is on its
    /// way; nil if a stream has no leader.
    var standing: (leaders: Set<Int>, isComplete: Bool)? {
        let own = standing(of: Self.stream)
        guard keepsAssets else { return own }
        guard let own, let assets = standing(of: Self.stream + "-assets") else { return nil }
        return (own.leaders.union(assets.leaders), own.isComplete && assets.isComplete)
    }

    private func standing(of stream: String) -> (leaders: Set<Int>, isComplete: Bool)? {
        guard let cluster = ask("STREAM.INFO", stream)?["cluster"] as? [String: Any],
            let leader = (cluster["leader"] as? String).flatMap({ Int($0.dropFirst()) }),
            let replicas = cluster["replicas"] as? [[String: Any]]
        else { return nil }
        let complete = replicas.filter { replica in
            replica["offline"] as? Bool != true && (replica["lag"] as? Int ?? 0) <= Self.usualLag
                && (replica["active"] as? Int ?? .max) < Self.usualSilenceNanoseconds
        }
        return ([leader], replicas.count == count - 1 && complete.count == replicas.count)
    }
}
