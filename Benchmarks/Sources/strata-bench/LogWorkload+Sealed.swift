import Glibc
import StrataLog
import StrataModel
import StrataSystem

/// What a log costs once its segments are sealed.
extension LogWorkload {
    private static let zones: UInt64 = 1_000

    /// A log of many small commits of a thousand zones, interleaved; all closed segments are sealed.
    func sealedSegments(_ memory: MemoryLedger, _ progress: (String) -> Void) throws -> [Measurement] {
        let path = "\(folder)/sealed.strata"
        defer { removeTree(path) }
        let count = size.isQuick ? 400_000 : 10_000_000
        let filled = try fill(path, count, memory)
        progress("log: \(count) commits, sealed \(filled.sealedBytes >> 20) of \(filled.rawBytes >> 20) MiB of payload")
        var measurements = [
            Measurement(
                workload: Self.name, metric: "sealed size", unit: "of the payloads",
                strata: [Double(filled.sealedBytes) / Double(filled.rawBytes)], bar: .atMost(0.55)),
            Measurement(
                workload: Self.name, metric: "sealing", unit: "MB/s raw", strata: [filled.megabytesPerSecond],
                bar: .none),
        ]
        measurements.append(try replaying(path, memory))
        measurements += try openingSealed(path, memory)
        let log = try SegmentedLog.open(at: path, options: LogOptions(durability: .system, firstSegmentBytes: 64 << 20))
        measurements += try readingSealed(log, memory)
        measurements += try touching(log, memory)
        try log.close()
        return measurements
    }

    private struct Filled {
        var rawBytes = 0
        var sealedBytes = 0
        var megabytesPerSecond = 0.0
    }

    private func fill(_ path: String, _ count: Int, _ memory: MemoryLedger) throws -> Filled {
        let samples = SamplePayloads(seed: 7)
        let payloads = (0..<20_000).map {
            samples.payload(events: 1, bodyBytes: 268, zone: 1 + UInt64($0) % Self.zones)
        }
        let log = try SegmentedLog.open(at: path, options: LogOptions(durability: .system))
        let random = SeededRandom(seed: 8)
        var filled = Filled()
        for start in stride(from: 0, to: count, by: 1_000) {
            let batch = (start..<start + 1_000).map { index in
                NewCommit(id: random.nextIdentifier(), time: Int64(index), payload: payloads[index % payloads.count])
            }
            filled.rawBytes += batch.reduce(0) { $0 + $1.payload.count }
            _ = try log.append(batch, expecting: log.end)
        }
        try log.sync()
        let gauge = MemoryGauge()
        let start = secondsNow()
        while try log.sealNext() {}
        let seconds = secondsNow() - start
        memory.note(gauge)
        let reader = try LogReader.open(at: path)
        let sealed = reader.segments.dropLast()
        let files = RealFileSystem()
        for segment in sealed {
            let file = try files.open(segment.path, .read)
            filled.sealedBytes += try file.size()
            file.close()
        }
        let share = Double(sealed.last?.lastOffset ?? 0) / Double(count)
        filled.rawBytes = Int(Double(filled.rawBytes) * share)
        filled.megabytesPerSecond = Double(filled.rawBytes) / seconds / 1e6
        try log.close()
        return filled
    }

    /// The first segments through a cursor, beside nothing but decompressing their blocks.
    private func replaying(_ path: String, _ memory: MemoryLedger) throws -> Measurement {
        let reader = try LogReader.open(at: path)
        let segments = Array(reader.segments.dropLast().suffix(3))
        let (first, last) = (segments.first?.firstOffset ?? 1, segments.last?.lastOffset ?? 1)
        let files = RealFileSystem()
        let contents = try segments.map { try files.readAll($0.path, atMost: Int.max) }
        var (strata, peer): ([Double], [Double]) = ([], [])
        for _ in 0..<size.rounds {
            let gauge = MemoryGauge()
            var cursor = try reader.read(from: first)
            var bytes = 0
            var start = secondsNow()
            while let commit = try cursor.next(), commit.offset <= last { bytes += commit.payload.count }
            strata.append(Double(bytes) / (secondsNow() - start) / 1_048_576)
            memory.note(gauge)
            start = secondsNow()
            for content in contents { try Self.decompressBlocks(of: content) }
            peer.append(Double(bytes) / (secondsNow() - start) / 1_048_576)
        }
        return Measurement(
            workload: Self.name, metric: "sequential replay of sealed segments", unit: "MiB/s raw", strata: strata,
            peer: "LZ4_decompress_safe", peerValues: peer, bar: .ratioAtLeast(0.5))
    }

    /// Goes over the blocks of commits as docs/format.md §25 has them, and checks nothing.
    private static func decompressBlocks(of content: [UInt8]) throws {
        var target = [UInt8](repeating: 0, count: 1 << 20)
        try content.withUnsafeBytes { bytes in
            var position = 128
            while bytes[position + 4] == 1 {
                let raw = Int(bytes.loadUnaligned(fromByteOffset: position + 20, as: UInt32.self))
                let stored = Int(bytes.loadUnaligned(fromByteOffset: position + 24, as: UInt32.self))
                let body = UnsafeRawBufferPointer(rebasing: bytes[position + 48..<position + 48 + stored])
                let isWhole = target.withUnsafeMutableBytes {
                    bytes[position + 5] == 0
                        || LZ4.decompress(body, into: UnsafeMutableRawBufferPointer(rebasing: $0[..<raw]))
                }
                guard isWhole else { throw BenchError(message: "a block does not decompress") }
                position += 48 + (stored + 7) / 8 * 8
            }
        }
    }

    private func openingSealed(_ path: String, _ memory: MemoryLedger) throws -> [Measurement] {
        // The newest segment has next to nothing, so that what is measured is the sealed ones.
        let tiny = LogOptions(segmentBytes: 64 << 10, firstSegmentBytes: 64 << 10)
        let log = try SegmentedLog.open(at: path, options: tiny)
        let commit = NewCommit(id: Identifier(high: 1, low: 1), time: Int64.max / 4, payload: small[0])
        _ = try log.append([commit], expecting: log.end)
        while try log.sealNext() {}
        try log.close()
        let figures = try (0..<size.rounds).map { _ in
            let gauge = MemoryGauge()
            let start = secondsNow()
            let opened = try SegmentedLog.open(at: path)
            let milliseconds = (secondsNow() - start) * 1_000
            memory.note(gauge)
            try opened.close()
            return milliseconds
        }
        return [
            Measurement(
                workload: Self.name, metric: "open a clean log, all but its end sealed", unit: "ms", strata: figures,
                bar: .atMost(20))
        ]
    }

    private func readingSealed(_ log: SegmentedLog, _ memory: MemoryLedger) throws -> [Measurement] {
        let random = SeededRandom(seed: 9)
        let end = log.end.offset * 9 / 10
        let gauge = MemoryGauge()
        func microseconds(_ count: Int, _ offset: () -> UInt64) throws -> Double {
            let start = secondsNow()
            for _ in 0..<count {
                guard try log.commit(at: offset()) != nil else { throw BenchError(message: "a commit is missing") }
            }
            return (secondsNow() - start) / Double(count) * 1e6
        }
        let far = try (0..<size.rounds).map { _ in try microseconds(5_000) { 1 + random.next(below: end) } }
        let near = try (0..<size.rounds).map { _ in
            let middle = 1_000 + random.next(below: end - 2_000)
            _ = try log.commit(at: middle)
            return try microseconds(100_000) { middle + random.next(below: 20) }
        }
        memory.note(gauge)
        return [
            Measurement(
                workload: Self.name, metric: "read one of \(log.end.offset) sealed commits", unit: "µs", strata: far,
                bar: .atMost(60)),
            Measurement(
                workload: Self.name, metric: "the same, its block cached", unit: "µs", strata: near, bar: .atMost(3)),
        ]
    }

    private func touching(_ log: SegmentedLog, _ memory: MemoryLedger) throws -> [Measurement] {
        let random = SeededRandom(seed: 10)
        let gauge = MemoryGauge()
        let sealedEnd = log.end.offset * 7 / 10
        let sealed = try (0..<size.rounds).map { _ in
            let start = secondsNow()
            for _ in 0..<50 {
                let zone = 1 + random.next(below: Self.zones)
                let page = try log.touches(zone: zone, after: random.next(below: sealedEnd), limit: 100)
                guard page.touches.count == 100 else { throw BenchError(message: "touches are missing") }
            }
            return (secondsNow() - start) / 50 * 1e6
        }
        // As many again behind the sealed ones, in the segment that grows.
        let samples = SamplePayloads(seed: 11)
        let activeStart = log.end.offset
        for start in stride(from: 0, to: 120_000, by: 1_000) {
            let batch = (start..<start + 1_000).map { index in
                NewCommit(
                    id: random.nextIdentifier(), time: Int64.max / 4,
                    payload: samples.payload(events: 1, bodyBytes: 100, zone: 1 + UInt64(index) % Self.zones))
            }
            _ = try log.append(batch, expecting: log.end)
        }
        let active = try (0..<size.rounds).map { _ in
            let start = secondsNow()
            for _ in 0..<200 {
                let zone = 1 + random.next(below: Self.zones)
                let page = try log.touches(zone: zone, after: activeStart, limit: 100)
                guard page.touches.count == 100 else { throw BenchError(message: "touches are missing") }
            }
            return (secondsNow() - start) / 200 * 1e6
        }
        memory.note(gauge)
        return [
            Measurement(
                workload: Self.name, metric: "100 touches of one of 1,000 zones, sealed", unit: "µs", strata: sealed,
                bar: .atMost(1_000)),
            Measurement(
                workload: Self.name, metric: "100 touches of one of 1,000 zones, active", unit: "µs", strata: active,
                bar: .atMost(100)),
        ]
    }

    /// Groups of durable commits at full speed, while closed segments are sealed and while they are not.
    func sealingBesideCommits(_ memory: MemoryLedger) throws -> [Measurement] {
        let segmentBytes = size.isQuick ? 256 << 10 : 16 << 20
        var options = LogOptions(segmentBytes: segmentBytes, firstSegmentBytes: segmentBytes)
        // Each is sealed at once, though writers do not rest.
        options.maximumWaitingSegments = 0
        func side(_ isSealing: Bool) throws -> Double {
            let path = "\(folder)/sealing.strata"
            defer { removeTree(path) }
            let gauge = MemoryGauge()
            let log = try SegmentedLog.open(at: path, options: options)
            if isSealing { try log.startSealing { _ in nil } }
            let figure = try commitsPerSecond(log, small, together: 64)
            memory.note(gauge)
            if let failure = log.sealingFailure { throw failure }
            let closedCount = try log.storedSegments().count - 1
            // A short round on a busy machine may be over before the first one is sealed.
            let end = secondsNow() + (size.isQuick ? 10 : 0)
            while isSealing, log.waitingCount == closedCount {
                guard secondsNow() < end else { throw BenchError(message: "nothing was sealed beside the commits") }
                usleep(10_000)
            }
            try log.close()
            return figure
        }
        let figures = try alternating(rounds: size.rounds, [{ try side(true) }, { try side(false) }]) { Glibc.sync() }
        return [
            Measurement(
                workload: Self.name, metric: "durable 300 B commits, 64 in a group, while sealing", unit: "commits/s",
                strata: figures[0], peer: "not sealing", peerValues: figures[1],
                // The tiny segments of a quick run mostly wait for the disk.
                bar: size.isQuick ? .none : .ratioAtLeast(0.8))
        ]
    }
}
