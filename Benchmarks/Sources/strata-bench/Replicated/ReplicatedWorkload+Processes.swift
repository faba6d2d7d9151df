import Glibc
import StrataConnections
import StrataModel
import StrataReplication
import StrataStore
import StrataSystem
import TestSupport

extension ReplicatedWorkload {
    /// The number of writing processes, and the least part of what one process does alone.
    private static let crowds = [(2, 0.8), (4, 0.6), (8, 0.45)]
    /// The same where requests go to the home writer.
    private static let homeCrowd = (8, 0.9)
    private static let clientsOfProcess = 4

    /// Several processes that write to one store, beside one.
    func processes(_ servers: any SequencerServers, _ progress: (String) -> Void) throws -> [Measurement] {
        progress("several processes")
        var kinds = Self.crowds.map { (count: $0.0, writes: LogPlace.Writes.anywhere, bar: $0.1) }
        if servers.carriesRequests { kinds.append((Self.homeCrowd.0, .home, Self.homeCrowd.1)) }
        var crowds: [[Crowd]] = kinds.map { _ in [] }
        let sides = kinds.enumerated().map { index, kind in
            {
                let crowd = try self.crowd(of: kind.count, kind.writes, servers)
                crowds[index].append(crowd)
                return crowd.load
            }
        }
        let loads = try alternate([{ try self.crowd(of: 1, .anywhere, servers).load }] + sides)
        return kinds.indices.flatMap { index in
            let (count, writes, bar) = kinds[index]
            let place = writes == .home ? ", requests to the home writer" : ""
            let title = "\(count) processes with \(Self.clientsOfProcess) clients\(place)"
            let (all, load) = (crowds[index], loads[index + 1])
            return measurements(title, "saves", load, beside: "one process", loads[0], bar: .ratioAtLeast(bar)) + [
                measurement("\(title): smallest share of the largest", "", all.map(\.fairness), bar: .atLeast(0.25)),
                measurement("\(title): longest wait", "ms", all.map(\.longestWait), bar: .atMost(2_000)),
                measurement("\(title): lost batches", "per entry", all.map(\.losses)),
            ]
        }
    }

    private func crowd(
        of count: Int, _ writes: LogPlace.Writes, _ servers: any SequencerServers
    ) throws -> Crowd {
        let name = "crowd\(UInt32.random(in: 0 ... .max))"
        let (store, address) = try create(servers, name)
        remove(store, name)
        let start = "\(folder)/\(name).start"
        let copies = (0..<count).map { "\(folder)/\(name)-\($0)" }
        defer { for path in copies + [start] { removeTree(path) } }
        let children = try copies.enumerated().map { index, copy in
            try ChildProcess(
                "/proc/self/exe",
                [
                    WriterProcess.word, "\(address)", copy, "\(Self.clientsOfProcess)", "\(seconds)",
                    "\((index + 1) * 10_000_000)", start, "\(writes)",
                ])
        }
        guard children.allSatisfy({ $0.waitForLine() }) else { throw BenchError(message: "a process ended early") }
        try SequencerKind.write("", to: start)
        return Crowd(
            results: try children.map { child in
                let lines = child.lines()
                guard child.wait() == 0, let result = lines.last.flatMap(WriterProcess.Result.init) else {
                    throw BenchError(message: "a writing process failed")
                }
                return result
            })
    }
}

/// What several processes that wrote at once came to.
private struct Crowd {
    var results: [WriterProcess.Result]

    var load: Load { .together(results.map(\.load)) }
    var longestWait: Double { load.milliseconds(of: 1) }
    var losses: Double { sum(\.lost) / max(1, sum(\.appended)) }

    var fairness: Double {
        let counts = results.map { Double($0.load.count) }
        return (counts.min() ?? 0) / max(1, counts.max() ?? 0)
    }

    private func sum(_ figure: (WriterProcess.Result) -> Double) -> Double { results.map(figure).reduce(0, +) }
}

/// This program once more, writing to a copy.
enum WriterProcess {
    /// The first word of its command line.
    static let word = "--write-copy"

    struct Result {
        var load = Load()
        var appended = 0.0
        var lost = 0.0

        init(_ load: Load, appended: UInt64, lost: UInt64) {
            (self.load, self.appended, self.lost) = (load, Double(appended), Double(lost))
        }

        /// Reads a line of numbers.
        init?(_ line: String) {
            let numbers = line.split(separator: " ").compactMap { Double($0) }
            guard numbers.count > 5 else { return nil }
            (load.seconds, load.processorSeconds, load.count) = (numbers[0], numbers[1], Int(numbers[2]))
            (appended, lost) = (numbers[3], numbers[4])
            guard let latencies = LatencyHistogram(words: numbers[5...].map { UInt64($0) }) else { return nil }
            load.latencies = latencies
        }

        var line: String {
            let numbers =
                [load.seconds, load.processorSeconds, Double(load.count), appended, lost]
                + load.latencies.words.map { Double($0) }
            return numbers.map { "\($0)" }.joined(separator: " ")
        }
    }

    /// Opens the copy, says so, waits for the file that begins it, and writes for some time.
    static func run(_ words: [String]) throws {
        guard words.count == 7, let clients = Int(words[2]), let seconds = Double(words[3]), let first = Int(words[4])
        else { throw UsageError(message: "\(word) is not for people") }
        let store = try ReplicatedWorkload.open(
            words[1], ServerAddress(parsing: words[0]), writes: words[6] == "home" ? .home : .anywhere)
        let (records, numbers) = (TaskRecords(), TaskNumbers(from: first))
        say("ready")
        guard eventually({ access(words[5], F_OK) == 0 }) else { throw BenchError(message: "nothing began") }
        let load = try Load.run(clients: clients, seconds: seconds) {
            try ReplicatedWorkload.save(numbers.take(1), records, store)
            return 1
        }
        let status = store.replication
        say(Result(load, appended: status?.appendedBatches ?? 0, lost: status?.lostBatches ?? 0).line)
        try store.close()
    }

    /// Writes a line to standard output, which may be a pipe, at once.
    static func say(_ line: String) {
        var bytes = Array("\(line)\n".utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count <= 0 { return }
            bytes = bytes.dropFirst(count)
        }
    }
}
