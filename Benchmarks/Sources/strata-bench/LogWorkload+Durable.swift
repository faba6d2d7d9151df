import StrataLog
import StrataModel
import StrataSystem
import Synchronization
import TestSupport

extension LogWorkload {
    private static let bareFileBytes = 256 << 20

    func largeOneWriter(_ memory: MemoryLedger) throws -> [Measurement] {
        let frames = StoredFrames.of(large)
        var target = [UInt8](repeating: 0, count: LZ4.bound(large.map(\.count).max() ?? 0))
        let figures = try rounds(
            memory, strata: { try commitsPerSecond($0, large) },
            peer: {
                var next = 0
                return try bareLoop().run(seconds: size.roundSeconds) { write in
                    let place = next % large.count
                    next += 1
                    let count = target.withUnsafeMutableBytes { target in
                        large[place].withUnsafeBytes { LZ4.compress($0, into: target) }
                    }
                    guard count != nil else { throw BenchError(message: "the sample does not compress") }
                    try frames[place].withUnsafeBytes { try write($0) }
                }
            })
        return [
            Measurement(
                workload: Self.name, metric: "durable 100 KB commits, 1 writer", unit: "commits/s",
                strata: figures.strata, peer: "bare loop + LZ4", peerValues: figures.peer, bar: .ratioAtLeast(0.85))
        ]
    }

    func largeEightWriters(_ memory: MemoryLedger) throws -> [Measurement] {
        let figures = try rounds(
            memory, strata: { try threadedCommitsPerSecond($0, large, threads: 8) },
            peer: { try bareCommitsPerSecond(StoredFrames.of(large)) })
        return [
            Measurement(
                workload: Self.name, metric: "durable 100 KB commits, 8 writers", unit: "commits/s",
                strata: figures.strata, peer: "bare loop", peerValues: figures.peer, bar: .ratioAtLeast(0.85))
        ]
    }

    func smallOneWriter(_ memory: MemoryLedger) throws -> [Measurement] {
        let figures = try rounds(
            memory, strata: { try commitsPerSecond($0, small) },
            peer: { try bareCommitsPerSecond(StoredFrames.of(small)) })
        return [
            Measurement(
                workload: Self.name, metric: "durable 300 B commits, 1 writer", unit: "commits/s",
                strata: figures.strata, peer: "bare loop", peerValues: figures.peer, bar: .ratioAtLeast(0.85))
        ]
    }

    func smallManyWriters(_ memory: MemoryLedger) throws -> [Measurement] {
        func oneWriter() throws -> Double {
            let path = "\(folder)/one.strata"
            defer { removeTree(path) }
            let log = try SegmentedLog.open(at: path)
            defer { try? log.close() }
            return try commitsPerSecond(log, small)
        }
        let tasks = try rounds(
            memory, strata: { try taskedCommitsPerSecond($0, small, tasks: 64) }, peer: oneWriter)
        let threads = try rounds(
            memory, strata: { try threadedCommitsPerSecond($0, small, threads: 64) }, peer: oneWriter)
        return [
            Measurement(
                workload: Self.name, metric: "durable 300 B commits, 64 tasks", unit: "commits/s", strata: tasks.strata,
                peer: "1 writer", peerValues: tasks.peer, bar: .ratioAtLeast(15)),
            Measurement(
                workload: Self.name, metric: "durable 300 B commits, 64 threads", unit: "commits/s",
                strata: threads.strata, peer: "1 writer", peerValues: threads.peer, bar: .ratioAtLeast(10)),
        ]
    }

    // MARK: Sides

    private func bareLoop() -> BareLoop { BareLoop(path: "\(folder)/bare", fileBytes: Self.bareFileBytes) }

    private func bareCommitsPerSecond(_ frames: [[UInt8]]) throws -> Double {
        var next = 0
        return try bareLoop().run(seconds: size.roundSeconds) { write in
            try frames[next % frames.count].withUnsafeBytes { try write($0) }
            next += 1
        }
    }

    private func commitsPerSecond(_ log: SegmentedLog, _ payloads: [ArraySlice<UInt8>]) throws -> Double {
        let queue = try CommitQueue(log)
        defer { queue.close() }
        var count = 0
        let start = secondsNow()
        while secondsNow() - start < size.roundSeconds {
            _ = try queue.commit(payloads[count % payloads.count])
            count += 1
        }
        return Double(count) / (secondsNow() - start)
    }

    func threadedCommitsPerSecond(
        _ log: SegmentedLog, _ payloads: [ArraySlice<UInt8>], threads: Int
    ) throws -> Double {
        let queue = try CommitQueue(log)
        defer { queue.close() }
        let tally = Tally()
        let start = secondsNow()
        let seconds = size.roundSeconds
        let workers = try (0..<threads).map { index in
            try WorkerThread(name: "writer") {
                var count = 0
                while secondsNow() - start < seconds {
                    do { _ = try queue.commit(payloads[(index * 31 + count) % payloads.count]) } catch {
                        tally.failure.withLock { $0 = "\(error)" }
                        return
                    }
                    count += 1
                }
                tally.total.add(count, ordering: .relaxed)
            }
        }
        for worker in workers { worker.join() }
        if let message = tally.failure.withLock({ $0 }) { throw BenchError(message: message) }
        return Double(tally.total.load(ordering: .relaxed)) / (secondsNow() - start)
    }

    private func taskedCommitsPerSecond(
        _ log: SegmentedLog, _ payloads: [ArraySlice<UInt8>], tasks: Int
    ) throws -> Double {
        let queue = try CommitQueue(log)
        defer { queue.close() }
        let start = secondsNow()
        let seconds = size.roundSeconds
        let tally = Tally()
        let done = Gate()
        Task {
            await withTaskGroup(of: Void.self) { group in
                for index in 0..<tasks {
                    group.addTask {
                        var count = 0
                        while secondsNow() - start < seconds {
                            do { _ = try await queue.commit(payloads[(index * 31 + count) % payloads.count]) } catch {
                                tally.failure.withLock { $0 = "\(error)" }
                                return
                            }
                            count += 1
                        }
                        tally.total.add(count, ordering: .relaxed)
                    }
                }
            }
            done.open()
        }
        done.wait()
        if let message = tally.failure.withLock({ $0 }) { throw BenchError(message: message) }
        return Double(tally.total.load(ordering: .relaxed)) / (secondsNow() - start)
    }
}

/// What several writers did together.
private final class Tally: Sendable {
    let total = Atomic(0)
    let failure = Mutex<String?>(nil)
}
