import Glibc
import StrataLog
import StrataModel
import StrataSystem
import TestSupport

extension LogWorkload {
    /// Another process follows the log; from the return of each commit's sync to its delivery there.
    func following() throws -> [Measurement] {
        var medians: [Double] = []
        var tails: [Double] = []
        let count = size.isQuick ? 1_000 : 4_000
        for _ in 0..<size.rounds {
            let milliseconds = try deliveries(of: count)
            medians.append(milliseconds[milliseconds.count / 2])
            tails.append(milliseconds[milliseconds.count * 99 / 100])
        }
        return [
            Measurement(
                workload: Self.name, metric: "sync to delivery in another process, median", unit: "ms", strata: medians,
                bar: .none),
            Measurement(
                workload: Self.name, metric: "sync to delivery in another process, p99", unit: "ms", strata: tails,
                bar: .atMost(1)),
        ]
    }

    /// Milliseconds for each commit, ascending.
    private func deliveries(of count: Int) throws -> [Double] {
        let path = "\(folder)/followed.strata"
        let results = "\(folder)/deliveries"
        defer {
            removeTree(path)
            unlink(results)
        }
        let files = SyncTimes()
        let log = try SegmentedLog.open(at: path, platform: Platform(files: files))
        let child = try FollowerProcess.start(store: path, count: count, results: results)
        let random = SeededRandom(seed: 8)
        var synced: [Double] = []
        for index in 0..<count {
            // At random paces, so that the follower sleeps in front of most of them.
            usleep(useconds_t(random.next(below: 1_000)))
            let commit = NewCommit(id: random.nextIdentifier(), time: 1, payload: small[index % small.count])
            _ = try log.append([commit], expecting: log.end)
            synced.append(files.lastSync.withLock { $0 })
        }
        try FollowerProcess.wait(for: child)
        try log.close()
        let delivered = try FollowerProcess.read(results, count: count)
        return zip(synced, delivered).map { ($1 - $0) * 1_000 }.sorted()
    }
}

/// This program once more, following a log.
enum FollowerProcess {
    /// The first word of its command line.
    static let word = "--follow-log"

    /// Starts it, and returns once it follows.
    static func start(store: String, count: Int, results: String) throws -> pid_t {
        let arguments: [String] = ["/proc/self/exe", word, store, "\(count)", results]
        let words: [UnsafeMutablePointer<CChar>?] = arguments.map { text in strdup(text) }
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        guard posix_spawn(&child, "/proc/self/exe", nil, nil, words + [nil], environ) == 0 else {
            throw BenchError(message: "the follower cannot be started")
        }
        while access(results, F_OK) != 0 {
            guard waitpid(child, nil, WNOHANG) == 0 else { throw BenchError(message: "the follower ended early") }
            usleep(1_000)
        }
        return child
    }

    static func wait(for child: pid_t) throws {
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 && errno == EINTR {}
        guard status == 0 else { throw BenchError(message: "the follower failed") }
    }

    /// When each commit was delivered.
    static func read(_ results: String, count: Int) throws -> [Double] {
        let bytes = try RealFileSystem().readAll(results, atMost: count * 8)
        guard bytes.count == count * 8 else { throw BenchError(message: "deliveries are missing") }
        return bytes.withUnsafeBytes { bytes in
            (0..<count).map { bytes.loadUnaligned(fromByteOffset: $0 * 8, as: Double.self) }
        }
    }

    /// What it does: notes when each commit comes, and writes that down at the end.
    static func run(_ words: [String]) throws {
        guard words.count == 3, let count = Int(words[1]) else {
            throw UsageError(message: "\(word) is not for people")
        }
        let reader = try LogReader.open(at: words[0])
        let results = try RealFileSystem().open(words[2], .create)
        let times = Lock<Result<[Double], any Error>>(.success([]))
        let done = Gate()
        Task {
            do {
                var seen: [Double] = []
                seen.reserveCapacity(count)
                for try await commit in reader.follow(from: 1) {
                    seen.append(secondsNow())
                    if commit.offset == count { break }
                }
                let all = seen
                times.withLock { $0 = .success(all) }
            } catch { times.withLock { $0 = .failure(error) } }
            done.open()
        }
        done.wait()
        let seen = try times.withLock { $0 }.get()
        try seen.withUnsafeBytes { try results.write($0, at: 0) }
    }
}

/// The real files; notes when the last sync of a file returned.
struct SyncTimes: ForwardingFiles {
    var files: any FileSystem = RealFileSystem()
    let lastSync = Lock(0.0)

    func forwarding(to file: any File) -> any File { TimedFile(file, lastSync) }
    func forwarding(to files: any FileSystem) -> any FileSystem {
        var times = self
        times.files = files
        return times
    }
}

private final class TimedFile: ForwardingFile {
    let file: any File
    private let lastSync: Lock<Double>

    init(_ file: any File, _ lastSync: Lock<Double>) {
        self.file = file
        self.lastSync = lastSync
    }

    func syncData() throws {
        try file.syncData()
        // The space ahead of the log is synced by another thread.
        if path.hasSuffix(".seg") { lastSync.withLock { $0 = secondsNow() } }
    }
}
