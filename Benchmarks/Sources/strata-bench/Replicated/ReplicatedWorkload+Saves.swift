import StrataConnections
import StrataModel
import StrataReplication
import StrataStore
import StrataSystem

extension ReplicatedWorkload {
    private static let requestCount = 400
    private static let requestClients = 4
    private static let clientCount = 64
    /// The entries that the bare client sends in turn.
    private static let sampleBytes = 64 << 20

    /// Large requests, beside a client that sends the entries that they became.
    func entries(_ servers: any SequencerServers, _ progress: (String) -> Void) throws -> [Measurement] {
        progress("requests of \(Self.requestCount) saves")
        let (store, address) = try create(servers, "entries")
        defer { remove(store, "entries") }
        let (records, numbers) = (records, TaskNumbers(from: 0))
        let local = try Store.open(at: "\(folder)/local.strata", options: .embedded)
        defer { remove(local, "local") }
        try Self.prepare(local, records)
        let saving = { (store: Store) -> @Sendable () throws -> Int in
            {
                try Self.save(numbers.take(Self.requestCount), records, store)
                return 1
            }
        }
        let request = saving(store)
        let first = store.replication?.entry ?? 0
        _ = try Load.run(clients: Self.requestClients, seconds: seconds, request)
        let sender = try Sender(entries(of: address, after: first), servers.bareClient())
        let loads = try alternate([
            { try Load.run(clients: Self.requestClients, seconds: seconds, request) },
            { try Load.alone(seconds: seconds, sender.sendNext) },
            { try Load.run(clients: Self.requestClients, seconds: seconds, saving(local)) },
        ])
        let title = "requests of \(Self.requestCount) saves, \(Self.requestClients) clients"
        return measurements(title, "requests", loads[0], beside: "bare client", loads[1], bar: .ratioAtLeast(0.8)) + [
            measurement(title, "requests/s", loads[0].map(\.rate), beside: "local store", loads[2].map(\.rate))
        ]
    }

    /// Single saves of many clients, beside a client that sends an entry for each.
    func grouping(_ servers: any SequencerServers, _ progress: (String) -> Void) throws -> [Measurement] {
        progress("single saves")
        let (store, address) = try create(servers, "grouping")
        defer { remove(store, "grouping") }
        let (records, numbers) = (records, TaskNumbers(from: 0))
        let save: @Sendable () throws -> Int = {
            try Self.save(numbers.take(1), records, store)
            return 1
        }
        let first = store.replication?.entry ?? 0
        _ = try Load.run(clients: 1, seconds: seconds, save)
        let sender = try Sender(entries(of: address, after: first), servers.bareClient())
        let loads = try alternate([
            { try Load.run(clients: Self.clientCount, seconds: seconds, save) },
            { try Load.run(clients: 1, seconds: seconds, save) },
            { try Load.alone(seconds: seconds, sender.sendNext) },
        ])
        return measurements(
            "single saves, \(Self.clientCount) clients", "saves", loads[0], beside: "bare client", loads[2],
            bar: .ratioAtLeast(10))
            + measurements("single saves, 1 client", "saves", loads[1], beside: "bare client", loads[2])
    }

    /// Returns entries that a store sent.
    private func entries(of address: ServerAddress, after first: UInt64) throws -> [[UInt8]] {
        guard let sequencer = try SequencerKind.place(address).sequencer(Platform()) else { return [] }
        defer { sequencer.close() }
        let last = try sequencer.last()
        var entries: [[UInt8]] = []
        var byteCount = 0
        while byteCount < Self.sampleBytes, first + UInt64(entries.count) < last {
            entries += try sequencer.entries(after: first + UInt64(entries.count), waitingMilliseconds: 1_000)
            byteCount = entries.reduce(0) { $0 + $1.count }
        }
        return entries
    }
}

/// Sends entries of commits in turn.
private final class Sender {
    private let entries: [(bytes: [UInt8], count: Int)]
    private let client: any BareClient
    private var next = 0

    init(_ entries: [[UInt8]], _ client: any BareClient) throws {
        self.entries = try entries.map { bytes in
            guard case .commits(let commits) = try SequencedEntry(decoding: bytes).content else {
                throw BenchError(message: "an entry has no commits")
            }
            return (bytes, commits.count)
        }
        guard !entries.isEmpty else { throw BenchError(message: "the store sent no entries") }
        self.client = client
    }

    /// Sends an entry, and returns the number of its commits.
    func sendNext() throws -> Int {
        let entry = entries[next % entries.count]
        next += 1
        try client.append(entry.bytes)
        return entry.count
    }
}
