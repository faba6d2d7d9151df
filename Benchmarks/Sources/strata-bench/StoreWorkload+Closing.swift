import StrataStore

extension StoreWorkload {
    /// Closing a store right after many commits, and opening it again, which folds what closing left to it.
    func closing(_ progress: (String) -> Void) throws -> [Measurement] {
        let count = size.isQuick ? 20_000 : 200_000
        progress("store: \(count) commits, then closed")
        let path = "\(folder)/closed.strata"
        var options = StoreOptions()
        options.durability = .system
        var (closing, opening): ([Double], [Double]) = ([], [])
        for _ in 0..<rounds {
            defer { removeTree(path) }
            let store = try Store.open(at: path, options: options)
            _ = try store.modify(TaskRecords.makingZone, as: TaskRecords.actor)
            for number in 0..<count {
                _ = try store.modify(records.saving(number..<number + 1), as: TaskRecords.actor).result.saves[0].get()
                guard number == 0 else { continue }
                for key in TaskRecords.indexedKeys {
                    try store.declareIndexes(type: TaskRecords.type, fields: [(key, .queryable)])
                }
            }
            var start = secondsNow()
            try store.close()
            closing.append(secondsNow() - start)
            start = secondsNow()
            let again = try Store.open(at: path, options: options)
            opening.append(secondsNow() - start)
            try again.close()
        }
        return [
            Measurement(
                workload: Self.name, metric: "close() after a burst of \(count) commits", unit: "s", strata: closing,
                bar: .atMost(0.5)),
            Measurement(workload: Self.name, metric: "the next opening", unit: "s", strata: opening, bar: .none),
        ]
    }
}
