import Glibc
import StrataLog
import StrataModel
import StrataSystem

/// What a log costs that has very many segments.
extension LogWorkload {
    func manySegments() throws -> [Measurement] {
        let path = "\(folder)/segments.strata"
        defer { removeTree(path) }
        let wanted = size.isQuick ? 400 : 10_000
        let end = try fillSegments(path, wanted)
        let before = Self.descriptorCount
        let gauge = MemoryGauge()
        let start = secondsNow()
        let log = try SegmentedLog.open(at: path, options: Self.tinySegments)
        let opening = (secondsNow() - start) * 1_000
        let random = SeededRandom(seed: 13)
        var most = 0
        let reads = 5_000
        let readingStart = secondsNow()
        for _ in 0..<reads {
            guard try log.commit(at: 1 + random.next(below: end)) != nil else {
                throw BenchError(message: "a commit is missing")
            }
            most = max(most, Self.descriptorCount - before)
        }
        let microseconds = (secondsNow() - readingStart) / Double(reads) * 1e6
        for zone in 1...100 as ClosedRange<UInt64> { _ = try log.touches(zone: zone, after: 0, limit: 100) }
        var cursor = try log.read(from: 1)
        while let commit = try cursor.next() {
            if commit.offset % 100 == 0 { most = max(most, Self.descriptorCount - before) }
        }
        let memory = gauge.extraMebibytes
        let count = try log.storedSegments().count
        try log.close()
        return [
            Measurement(
                workload: Self.name, metric: "\(count) segments: open", unit: "ms", strata: [opening], bar: .none),
            Measurement(
                workload: Self.name, metric: "\(count) segments: read one commit", unit: "µs", strata: [microseconds],
                bar: .none),
            Measurement(
                workload: Self.name, metric: "\(count) segments: descriptors, at most", unit: "files",
                strata: [Double(most)], bar: .atMost(32)),
            Measurement(
                workload: Self.name, metric: "\(count) segments: memory", unit: "MiB", strata: [memory],
                bar: .atMost(64)),
        ]
    }

    private static let tinySegments = LogOptions(
        durability: .system, segmentBytes: 64 << 10, firstSegmentBytes: 64 << 10)

    /// All but the newest are sealed; returns the last offset.
    private func fillSegments(_ path: String, _ wanted: Int) throws -> UInt64 {
        let samples = SamplePayloads(seed: 12)
        let payloads = (0..<500).map { samples.payload(events: 10, bodyBytes: 268, zone: 1 + UInt64($0) % 100) }
        let log = try SegmentedLog.open(at: path, options: Self.tinySegments)
        let random = SeededRandom(seed: 14)
        var index = 0
        while try log.storedSegments().count < wanted {
            for _ in 0..<20 {
                let payload = payloads[index % payloads.count]
                let commit = NewCommit(id: random.nextIdentifier(), time: Int64(index), payload: payload)
                _ = try log.append([commit], expecting: log.end)
                index += 1
            }
        }
        while try log.sealNext() {}
        let end = log.end.offset
        try log.close()
        return end
    }

    private static var descriptorCount: Int {
        (try? RealFileSystem().list("/proc/self/fd").count) ?? Int.max / 2
    }
}
