import StrataLog
import StrataModel
import StrataSystem

extension LogWorkload {
    func unsynced(_ memory: MemoryLedger) throws -> [Measurement] {
        let totalBytes = size.isQuick ? 128 << 20 : 1 << 30
        let count = totalBytes / large[0].count
        let mebibytes = Double(large.reduce(0) { $0 + $1.count }) / Double(large.count) * Double(count) / 1_048_576
        let samples = try large.map(Self.commit)
        let figures = try rounds(
            memory,
            strata: { log in
                let start = secondsNow()
                for index in 0..<count { try append([samples[index % samples.count]], to: log) }
                return mebibytes / (secondsNow() - start)
            },
            peer: {
                var target = [UInt8](repeating: 0, count: StoredFrames.bound(large.map(\.count).max() ?? 0))
                let start = secondsNow()
                for index in 0..<count {
                    let written = target.withUnsafeMutableBytes { target in
                        large[index % large.count].withUnsafeBytes { LZ4.compress($0, into: target) }
                    }
                    guard written != nil else { throw BenchError(message: "the sample does not compress") }
                }
                return mebibytes / (secondsNow() - start)
            }, options: LogOptions(durability: .system))
        return [
            Measurement(
                workload: Self.name, metric: "appends without sync, 1 thread", unit: "MiB/s raw",
                strata: figures.strata, peer: "LZ4 alone", peerValues: figures.peer, bar: .ratioAtLeast(0.6))
        ]
    }

    /// Fills one segment, copies the store as a kill would leave it, and opens the copy.
    func opening(_ memory: MemoryLedger) throws -> [Measurement] {
        let path = "\(folder)/full.strata"
        let copy = "\(folder)/killed.strata"
        defer { removeTree(path) }
        // Larger than what is written, so that all of it is in the active segment.
        let options = LogOptions(durability: .system, segmentBytes: 80 << 20, firstSegmentBytes: 80 << 20)
        let log = try SegmentedLog.open(at: path, options: options)
        let segment = "\(path)/log/00000000000000000001.seg"
        let file = try RealFileSystem().open(segment, .read)
        defer { file.close() }
        let target = size.isQuick ? 16 << 20 : 64 << 20
        var batch: [NewCommit] = []
        let random = SeededRandom(seed: 3)
        while try file.size() < target {
            batch = small.prefix(500).map { NewCommit(id: random.nextIdentifier(), time: 1, payload: $0) }
            _ = try log.append(batch, expecting: log.end)
        }
        var openings: [Double] = []
        for _ in 0..<size.rounds {
            try copyStore(path, copy, segment: file)
            let gauge = MemoryGauge()
            let start = secondsNow()
            let opened = try SegmentedLog.open(at: copy)
            openings.append((secondsNow() - start) * 1_000)
            memory.note(gauge)
            guard opened.end == log.end else { throw BenchError(message: "commits are missing after opening") }
            try opened.close()
            removeTree(copy)
        }
        let reads = try reading(log)
        try log.close()
        return [
            Measurement(
                workload: Self.name, metric: "open after a kill, \(target >> 20) MiB active", unit: "ms",
                strata: openings, bar: .atMost(200)),
            Measurement(
                workload: Self.name, metric: "read a 300 B commit by offset", unit: "µs", strata: reads, bar: .atMost(3)
            ),
        ]
    }

    private func reading(_ log: SegmentedLog) throws -> [Double] {
        let random = SeededRandom(seed: 5)
        let end = log.end.offset
        let count = size.isQuick ? 20_000 : 200_000
        return try (0..<size.rounds).map { _ in
            var bytes = 0
            let start = secondsNow()
            for _ in 0..<count {
                guard let commit = try log.commit(at: 1 + random.next(below: end)) else {
                    throw BenchError(message: "a commit is missing")
                }
                bytes += commit.payload.count
            }
            let microseconds = (secondsNow() - start) / Double(count) * 1e6
            guard bytes > count * 200 else { throw BenchError(message: "payloads are missing") }
            return microseconds
        }
    }

    private func copyStore(_ source: String, _ target: String, segment: any File) throws {
        let files = RealFileSystem()
        try files.makeDirectory(target)
        try files.makeDirectory("\(target)/log")
        let identity = try files.open("\(target)/STORE", .create)
        try identity.write(try files.readAll("\(source)/STORE", atMost: 4_096), at: 0)
        identity.close()
        let copy = try files.open("\(target)/log/00000000000000000001.seg", .create)
        defer { copy.close() }
        let size = try segment.size()
        for position in stride(from: 0, to: size, by: 1 << 20) {
            try copy.write(try segment.read(count: min(1 << 20, size - position), at: position), at: position)
        }
        try copy.sync()
    }
}
