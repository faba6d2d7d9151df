import StrataLog
import StrataModel
import StrataStore

extension StoreWorkload {
    func requests(_ pair: StorePair, _ progress: (String) -> Void) throws -> [Measurement] {
        progress("store: saves in requests of \(Self.requestCount), one client")
        let figures = try alternate([
            {
                try timed(finish: pair.finish) {
                    let numbers = pair.numbers.take(Self.requestCount)
                    let request = pair.records.saving(numbers)
                    return try saved(pair.store.modify(request, as: TaskRecords.actor))
                }
            },
            {
                try timed {
                    let numbers = pair.numbers.take(Self.requestCount)
                    try pair.peer.together { for number in numbers { try pair.peer.add(number) } }
                    return numbers.count
                }
            },
        ])
        return [
            measurement(
                "durable saves in requests of \(Self.requestCount), 1 client", "saves/s", figures[0], "SQLite",
                figures[1], .ratioAtLeast(10))
        ]
    }

    private func saved(_ answer: Answer) throws -> Int {
        for save in answer.result.saves { _ = try save.get() }
        return answer.result.saves.count
    }

    // MARK: Many clients

    func clients(_ pair: StorePair, _ progress: (String) -> Void, isBrief: Bool = false) throws -> [Measurement] {
        progress("store: single saves, \(Self.clientCount) clients")
        let clients = Clients(count: Self.clientCount, seconds: seconds)
        let (store, records, numbers, peer) = (pair.store, pair.records, pair.numbers, pair.peer)
        func grouped(_ body: (GroupedWriter) throws -> Double) throws -> Double {
            let writer = try GroupedWriter(peer)
            defer { writer.close() }
            return try body(writer)
        }
        let one = {
            try timed {
                try peer.together { try peer.add(numbers.take(1).lowerBound) }
                return 1
            }
        }
        let tasks = try alternate([
            {
                try clients.tasks(finish: pair.finish) {
                    let answer = try await store.modify(records.saving(numbers.take(1)), as: TaskRecords.actor)
                    _ = try answer.result.saves[0].get()
                }
            },
            {
                try grouped { writer in
                    try clients.tasks { try await writer.add(numbers.take(1).lowerBound) }
                }
            }, one,
        ])
        let metric = "durable single saves, \(Self.clientCount)"
        var measurements = [
            measurement("\(metric) tasks", "saves/s", tasks[0], "SQLite one by one", tasks[2], .ratioAtLeast(20)),
            measurement("\(metric) tasks", "saves/s", tasks[0], "SQLite grouped", tasks[1], .ratioAtLeast(2)),
        ]
        if isBrief { return measurements }
        let threads = try alternate([
            {
                try clients.threads(finish: pair.finish) {
                    let answer = try store.modify(records.saving(numbers.take(1)), as: TaskRecords.actor)
                    _ = try answer.result.saves[0].get()
                }
            },
            {
                try grouped { writer in
                    try clients.threads { try writer.add(numbers.take(1).lowerBound) }
                }
            }, one,
        ])
        measurements += [
            measurement("\(metric) threads", "saves/s", threads[0], "SQLite one by one", threads[2], .ratioAtLeast(20)),
            measurement("\(metric) threads", "saves/s", threads[0], "SQLite grouped", threads[1], .ratioAtLeast(2)),
        ]
        return measurements
    }

    // MARK: One client

    func singles(_ pair: StorePair, _ progress: (String) -> Void, isBrief: Bool = false) throws -> [Measurement] {
        progress("store: single saves, one client")
        let frames = StoredFrames.of(try singlePayloads())
        let (store, records, numbers) = (pair.store, pair.records, pair.numbers)
        let bare = BareLoop(path: "\(folder)/bare", fileBytes: 256 << 20)
        var next = 0
        let figures = try alternate([
            {
                try timed(finish: pair.finish) {
                    let request = records.saving(numbers.take(1))
                    return try saved(store.modify(request, as: TaskRecords.actor))
                }
            },
            {
                try Clients(count: 1, seconds: seconds).tasks(finish: pair.finish) {
                    let answer = try await store.modify(records.saving(numbers.take(1)), as: TaskRecords.actor)
                    _ = try answer.result.saves[0].get()
                }
            },
            {
                try bare.run(seconds: seconds) { write in
                    try frames[next % frames.count].withUnsafeBytes { try write($0) }
                    next += 1
                }
            },
        ])
        return [
            measurement(
                "durable single saves, 1 synchronous client", "saves/s", figures[0], "bare loop", figures[2],
                .ratioAtLeast(0.85)),
            measurement(
                "durable single saves, 1 asynchronous client", "saves/s", figures[1], "bare loop", figures[2],
                .ratioAtLeast(0.7)),
        ]
    }

    /// What the log gets of single saves.
    private func singlePayloads() throws -> [ArraySlice<UInt8>] {
        let path = "\(folder)/payloads.strata"
        defer { removeTree(path) }
        let store = try Store.open(at: path)
        _ = try store.modify(TaskRecords.makingZone, as: TaskRecords.actor)
        var first = store.offset + 1
        for number in 0..<500 {
            _ = try store.modify(records.saving(number..<number + 1), as: TaskRecords.actor)
            // The one that brings the names is not like the others.
            if number == 0 { first = store.offset + 1 }
        }
        try store.close()
        let log = try SegmentedLog.open(at: path)
        defer { try? log.close() }
        var cursor = try log.read(from: first)
        var payloads: [ArraySlice<UInt8>] = []
        while let commit = try cursor.next() { payloads.append(commit.payload[...]) }
        return payloads
    }
}
