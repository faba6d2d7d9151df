import Glibc
import StrataModel
import StrataSystem
import StrataTree

/// Trees beside LMDB: keys of 36 bytes in random order, values of 200 bytes.
struct TreeWorkload: Workload {
    static let name = "tree"
    private static let id = TreeID(rawValue: 1)
    private static let batch = 400

    let size: WorkloadSize
    let folder: String
    private let entryCount: Int
    private let keys: SampleKeys
    private let value = [UInt8](repeating: 0x56, count: 200)

    init(size: WorkloadSize, folder: String) {
        self.size = size
        self.folder = folder
        entryCount = size.isQuick ? 200_000 : 1_000_000
        keys = SampleKeys(seed: 7, count: 2 * entryCount)
    }

    func run(_ progress: (String) -> Void) throws -> [Measurement] {
        progress("tree: loading \(entryCount) entries into each")
        let store = try Self.emptyStore()
        let peer = try LMDBStore(path: "\(folder)/lmdb", mapBytes: 16 << 30)
        let loading = try load(store, peer)
        progress("tree: random gets")
        let gets = try gets(store, peer)
        progress("tree: ordered scans")
        let scans = try scans(store, peer)
        progress("tree: random puts")
        let puts = try puts(store, peer)
        progress("tree: snapshots and forks")
        return gets + puts + scans + loading + (try snapshots(store))
    }

    private static func emptyStore() throws -> TreeStore {
        try TreeStore.inMemory(RunOwner(store: .zero, form: 1), hashed: [id])
    }

    // MARK: Measurements

    private func load(_ store: TreeStore, _ peer: LMDBStore) throws -> [Measurement] {
        let sorted = keys.sorted(count: entryCount)
        var figures: [Double] = []
        for round in 0..<size.rounds {
            // The first round's tree is what the other measurements use.
            let target = round == 0 ? store : try Self.emptyStore()
            let start = secondsNow()
            let fork = try target.fork()
            try value.withUnsafeBytes { value in
                for place in sorted { try keys.with(place) { try fork.put(Self.id, $0, value) } }
            }
            try target.publish(fork)
            figures.append(Double(entryCount) / (secondsNow() - start) / 1e6)
        }
        try peer.write { transaction in
            try value.withUnsafeBytes { value in
                for place in sorted { try keys.with(place) { try peer.put(transaction, $0, value, isAppended: true) } }
            }
        }
        return [
            Measurement(
                workload: Self.name, metric: "sorted entries put, in memory", unit: "million/s",
                strata: figures, bar: .atLeast(1))
        ]
    }

    private func gets(_ store: TreeStore, _ peer: LMDBStore) throws -> [Measurement] {
        let count = size.isQuick ? 200_000 : 1_000_000
        var figures: (strata: [Double], peer: [Double]) = ([], [])
        let snapshot = store.snapshot()
        for round in 0..<size.rounds {
            let order = keys.order(seed: UInt64(round + 10), below: entryCount, count: count)
            var bytes = 0
            var start = secondsNow()
            for place in order {
                bytes += try keys.with(place) { try snapshot.get(Self.id, $0) { Int($0[7]) + $0.count } ?? 0 }
            }
            figures.strata.append((secondsNow() - start) / Double(count) * 1e6)
            var peerBytes = 0
            start = secondsNow()
            try peer.read { transaction in
                for place in order {
                    peerBytes += try keys.with(place) {
                        let value = try peer.get(transaction, $0)
                        return Int(value[7]) + value.count
                    }
                }
            }
            figures.peer.append((secondsNow() - start) / Double(count) * 1e6)
            guard bytes == peerBytes, bytes > 0 else { throw BenchError(message: "gets differ") }
        }
        return [
            Measurement(
                workload: Self.name, metric: "random get", unit: "µs", strata: figures.strata, peer: "LMDB",
                peerValues: figures.peer, bar: .ratioAtMost(1))
        ]
    }

    private func scans(_ store: TreeStore, _ peer: LMDBStore) throws -> [Measurement] {
        var figures: (strata: [Double], peer: [Double]) = ([], [])
        let snapshot = store.snapshot()
        for _ in 0..<size.rounds {
            var sums = (strata: 0, peer: 0)
            var start = secondsNow()
            try snapshot.scan(Self.id) { key, value in
                sums.strata += Int(key[9]) + Int(value[3])
                return true
            }
            figures.strata.append(Double(entryCount) / (secondsNow() - start) / 1e6)
            start = secondsNow()
            try peer.read { try peer.scan($0) { key, value in sums.peer += Int(key[9]) + Int(value[3]) } }
            figures.peer.append(Double(entryCount) / (secondsNow() - start) / 1e6)
            guard sums.strata == sums.peer else { throw BenchError(message: "scans differ") }
        }
        return [
            Measurement(
                workload: Self.name, metric: "ordered scan", unit: "million/s", strata: figures.strata, peer: "LMDB",
                peerValues: figures.peer, bar: .ratioAtLeast(1))
        ]
    }

    /// Half of the keys are new.
    private func puts(_ store: TreeStore, _ peer: LMDBStore) throws -> [Measurement] {
        let batches = size.isQuick ? 100 : 400
        var figures: (strata: [Double], peer: [Double]) = ([], [])
        for round in 0..<size.rounds {
            let order = keys.order(seed: UInt64(round + 50), below: 2 * entryCount, count: batches * Self.batch)
            var start = secondsNow()
            try value.withUnsafeBytes { value in
                for batch in 0..<batches {
                    let held = store.snapshot()
                    let fork = try store.fork()
                    for place in order[batch * Self.batch..<(batch + 1) * Self.batch] {
                        try keys.with(place) { try fork.put(Self.id, $0, value) }
                    }
                    try store.publish(fork)
                    withExtendedLifetime(held) {}
                }
            }
            figures.strata.append((secondsNow() - start) / Double(order.count) * 1e6)
            start = secondsNow()
            try value.withUnsafeBytes { value in
                for batch in 0..<batches {
                    try peer.read { _ in
                        try peer.write { transaction in
                            for place in order[batch * Self.batch..<(batch + 1) * Self.batch] {
                                try keys.with(place) { try peer.put(transaction, $0, value) }
                            }
                        }
                    }
                }
            }
            figures.peer.append((secondsNow() - start) / Double(order.count) * 1e6)
        }
        if getenv("STRATA_BENCH_ROUNDS") != nil { printError("puts: \(figures)") }
        return [
            Measurement(
                workload: Self.name, metric: "random put, batches of 400, a snapshot held", unit: "µs",
                strata: figures.strata, peer: "LMDB", peerValues: figures.peer, bar: .ratioAtMost(0.5))
        ]
    }

    private func snapshots(_ store: TreeStore) throws -> [Measurement] {
        let count = 200_000
        func microseconds(_ body: () throws -> Void) rethrows -> [Double] {
            try (0..<size.rounds).map { _ in
                let start = secondsNow()
                for _ in 0..<count { try body() }
                return (secondsNow() - start) / Double(count) * 1e6
            }
        }
        let snapshots = microseconds { withExtendedLifetime(store.snapshot()) {} }
        let forks = try microseconds { withExtendedLifetime(try store.fork()) {} }
        return [
            Measurement(
                workload: Self.name, metric: "snapshot and release", unit: "µs", strata: snapshots, bar: .atMost(1)),
            Measurement(
                workload: Self.name, metric: "fork and drop of a clean fork", unit: "µs", strata: forks, bar: .atMost(1)
            ),
        ]
    }
}

/// Random keys of 36 characters, as record names are.
struct SampleKeys {
    private static let keyBytes = 36
    private let bytes: [UInt8]

    init(seed: UInt64, count: Int) {
        let random = SeededRandom(seed: seed)
        let digits = Array("0123456789ABCDEF".utf8)
        bytes = [UInt8](unsafeUninitializedCapacity: count * Self.keyBytes) { buffer, initialized in
            for index in 0..<count * Self.keyBytes {
                let isHyphen = [8, 13, 18, 23].contains(index % Self.keyBytes)
                buffer[index] = isHyphen ? 0x2D : digits[Int(random.next() & 15)]
            }
            initialized = buffer.count
        }
    }

    @inline(__always)
    func with<Result>(_ index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try bytes.withUnsafeBytes { all in
            try body(UnsafeRawBufferPointer(rebasing: all[index * Self.keyBytes..<(index + 1) * Self.keyBytes]))
        }
    }

    /// The first `count` keys in order.
    func sorted(count: Int) -> [Int] {
        bytes.withUnsafeBytes { all in
            (0..<count).sorted { a, b in
                memcmp(all.baseAddress! + a * Self.keyBytes, all.baseAddress! + b * Self.keyBytes, Self.keyBytes) < 0
            }
        }
    }

    func order(seed: UInt64, below limit: Int, count: Int) -> [Int] {
        let random = SeededRandom(seed: seed)
        return (0..<count).map { _ in Int(random.next(below: UInt64(limit))) }
    }
}
