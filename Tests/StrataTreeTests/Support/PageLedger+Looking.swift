import StrataModel

@testable import StrataTree

extension PageLedger {
    /// All pages that the newest snapshot does not reach: the free, lent and waiting ones.
    var unreachable: (free: [PageRun], waiting: [PageRun]) {
        var runs: [PageRun] = []
        waiting.forEachRun { runs.append($0) }
        released.forEachRun { runs.append($0) }
        return (free.all + loans.values.flatMap { $0 }, runs)
    }
}

extension FreePages {
    var all: [PageRun] {
        singles.map { PageRun(first: $0, count: 1) }
            + runs.flatMap { length, starts in starts.map { PageRun(first: $0, count: length) } }
    }
}

extension PageSet {
    var isEmpty: Bool { count == 0 }

    init(_ runs: some Sequence<PageRun>) {
        self.init()
        for run in runs { insert(run.range) }
    }

    var runs: [PageRun] {
        var runs: [PageRun] = []
        forEachRun { runs.append($0) }
        return runs
    }
}

extension CheckpointRecord {
    func encoded() -> [UInt8] {
        var bytes = ByteWriter()
        encode(into: &bytes) { _ in }
        return bytes.bytes
    }
}
