import Glibc
import StrataConnections
import StrataModel
import StrataStore
import StrataSystem
import TestSupport

extension ReplicatedWorkload {
    /// Single saves at random paces, and when another process shows them.
    func visibility(_ servers: any SequencerServers, _ progress: (String) -> Void) throws -> [Measurement] {
        progress("commits at another process")
        let (store, address) = try create(servers, "visibility")
        defer { remove(store, "visibility") }
        let numbers = TaskNumbers(from: 0)
        let rounds = try (0..<size.rounds).map { _ in
            try delays(of: size.isQuick ? 300 : 1_000, store, address, numbers)
        }
        func figures(_ name: String, of part: Double, _ delays: (Delays) -> [Double], _ bar: Measurement.Bar = .none)
            -> Measurement
        {
            measurement(
                name, "ms",
                rounds.map { round in
                    var latencies = LatencyHistogram()
                    for delay in delays(round) { latencies.add(seconds: delay / 1_000) }
                    return latencies.microseconds(of: part) / 1_000
                }, bar: bar)
        }
        return [
            figures("request to state of another process, median", of: 0.5, \.sinceRequest),
            figures("request to state of another process, p99", of: 0.99, \.sinceRequest, .atMost(10)),
            figures("answer to state of another process, p99", of: 0.99, \.sinceAnswer),
        ]
    }

    private struct Delays {
        var sinceRequest: [Double] = []
        var sinceAnswer: [Double] = []
    }

    private func delays(of count: Int, _ store: Store, _ address: ServerAddress, _ numbers: TaskNumbers) throws
        -> Delays
    {
        let copy = "\(folder)/observer"
        defer { removeTree(copy) }
        let first = store.offset + 1
        let child = try ChildProcess(
            "/proc/self/exe", [ObserverProcess.word, "\(address)", copy, "\(first)", "\(count)"])
        guard child.waitForLine() else { throw BenchError(message: "the observer ended early") }
        let random = SeededRandom(seed: 8)
        var times: [(request: Double, answer: Double)] = []
        for _ in 0..<count {
            usleep(useconds_t(random.next(below: 4_000)))
            let request = secondsNow()
            try Self.save(numbers.take(1), records, store)
            times.append((request, secondsNow()))
        }
        let seen = child.lines().last?.split(separator: " ").compactMap { Double($0) } ?? []
        guard child.wait() == 0, seen.count == count else { throw BenchError(message: "the observer missed commits") }
        return Delays(
            sinceRequest: zip(times, seen).map { ($1 - $0.request) * 1_000 },
            sinceAnswer: zip(times, seen).map { ($1 - $0.answer) * 1_000 })
    }
}

/// This program once more, noting when a copy shows commits.
enum ObserverProcess {
    /// The first word of its command line.
    static let word = "--observe-copy"

    static func run(_ words: [String]) throws {
        guard words.count == 4, let first = UInt64(words[2]), let count = UInt64(words[3]) else {
            throw UsageError(message: "\(word) is not for people")
        }
        let store = try ReplicatedWorkload.open(words[1], ServerAddress(parsing: words[0]))
        WriterProcess.say("ready")
        let times: Lock<[Double]> = Lock([])
        try awaiting {
            var next = first
            while next < first + count, try await store.waitForChange(past: next - 1) {
                let (now, end) = (secondsNow(), store.offset)
                times.withLock { $0 += Array(repeating: now, count: Int(end + 1 - next)) }
                next = end + 1
            }
        }
        WriterProcess.say(times.withLock { $0 }.map { "\($0)" }.joined(separator: " "))
        try store.close()
    }
}
