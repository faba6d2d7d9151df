import Glibc
import StrataLog
import StrataModel
import StrataSystem
import StrataTree
import StrataViews

extension ViewsWorkload {
    /// What compaction does with the records: a base is written, and folded again to see that it is right.
    func bases(_ progress: (String) -> Void) throws -> [Measurement] {
        let records = rebuiltRecords ?? (size.isQuick ? 200_000 : 2_000_000)
        progress("views: a base of \(records) records")
        let path = "\(folder)/base"
        removeTree(path)
        defer { removeTree(path) }
        let files = RealFileSystem()
        try files.makeDirectory(path)
        let trees = try temporaryTrees(in: path, files)
        try fill(trees, records)
        let state = trees.snapshot()
        let writing = AnonymousGauge()
        let file = try files.open(path + "/payloads", .create)
        var ends: [Int] = []
        var seconds = (writing: 0.0, folding: 0.0)
        var start = secondsNow()
        var scan = try BaseScan(state, chain: 1)
        while let payload = try scan.next() {
            let end = ends.last ?? 0
            try payload.withUnsafeBytes { try file.write($0, at: end) }
            ends.append(end + payload.count)
            if ends.count % 256 == 0 { writing.look() }
        }
        seconds.writing = secondsNow() - start
        let folding = AnonymousGauge()
        start = secondsNow()
        let folded = try temporaryTrees(in: path, files)
        let fold = Fold(try folded.fork())
        var next = 0
        try fold.load(base: scan.horizon, into: folded) {
            guard next < ends.count else { return nil }
            let begin = next == 0 ? 0 : ends[next - 1]
            defer { next += 1 }
            if next % 256 == 0 { folding.look() }
            return try file.read(count: ends[next] - begin, at: begin)[...]
        }
        try fold.publish(to: folded)
        seconds.folding = secondsNow() - start
        folding.look()
        guard try folded.snapshot().digests() == state.digests() else {
            throw BenchError(message: "the base is of another state")
        }
        let mebibytes = Double(ends.last ?? 0) / Double(1 << 20)
        func row(_ metric: String, _ unit: String, _ value: Double, _ bar: Measurement.Bar) -> Measurement {
            Measurement(workload: Self.name, metric: metric, unit: unit, strata: [value], bar: bar)
        }
        return [
            row(
                "a base of \(records) records written", "thousand/s", Double(records) / seconds.writing / 1e3,
                .atLeast(400)),
            row("the same, with its names and zones", "MiB/s", mebibytes / seconds.writing, .none),
            row("memory that it needed", "MiB", writing.extra, .atMost(32)),
            row("the base folded", "thousand/s", Double(records) / seconds.folding / 1e3, .atLeast(300)),
            row("the same", "MiB/s", mebibytes / seconds.folding, .none),
            row("memory that it needed, with the trees", "MiB", folding.extra, .atMost(512)),
        ]
    }

    private func temporaryTrees(in path: String, _ files: any FileSystem) throws -> TreeStore {
        try TreeStore.temporary(Views.owner(.zero), hashed: Views.hashed, in: path, files: files)
    }

    private func fill(_ trees: TreeStore, _ records: Int) throws {
        let keys = SampleKeys(seed: 7, count: records)
        let order = keys.sorted(count: records)
        var sample = SavedRecords(seed: 9)
        let fold = Fold(try trees.fork())
        try Self.names().encoded().withUnsafeBytes { try fold.apply($0, offset: 1, time: 1) }
        for start in stride(from: 0, to: records, by: Self.batch) {
            var envelope = Envelope(header: EnvelopeHeader(user: 1, device: 1, operationKind: .modifyRecords))
            for place in order[start..<min(start + Self.batch, records)] {
                let name = keys.with(place) { String(decoding: $0, as: UTF8.self) }
                envelope.events.append(try sample.next(named: name))
            }
            let offset = UInt64(start / Self.batch + 2)
            try envelope.encoded().withUnsafeBytes { try fold.apply($0, offset: offset, time: Int64(offset)) }
        }
        try fold.publish(to: trees)
    }
}
