import StrataModel
import StrataRules
import StrataStore

extension StoreWorkload {
    /// What accepted requests pay for refused ones that the log keeps: a client whose every second request is refused,
    /// beside one whose requests are all accepted. Only the accepted ones are timed.
    func refusals(_ progress: (String) -> Void) throws -> [Measurement] {
        // Many short rounds: what a sync takes drifts.
        let (count, rounds) = size.isQuick ? (250, 4) : (500, 20)
        progress("store: \(count * rounds) refused requests beside as many accepted ones")
        let path = "\(folder)/refusals.strata"
        defer { removeTree(path) }
        var options = StoreOptions.service
        options.recordsRefusals = true
        let store = try Store.open(at: path, options: options)
        defer { try? store.close() }
        _ = try store.modify(TaskRecords.makingZone, as: TaskRecords.actor)
        let refused = records.saving(0..<1)
        _ = try store.modify(refused, as: TaskRecords.actor)
        var next = 1
        func microseconds(refusing: Bool) throws -> Double {
            var total = 0.0
            for _ in 0..<count {
                let request = records.saving(next..<next + 1)
                next += 1
                let start = secondsNow()
                let answer = try store.modify(request, as: TaskRecords.actor)
                total += secondsNow() - start
                _ = try answer.result.saves[0].get()
                guard refusing else { continue }
                guard case .failure = try store.modify(refused, as: TaskRecords.actor).result.saves[0] else {
                    throw BenchError(message: "a request was not refused")
                }
            }
            return total / Double(count) * 1e6
        }
        let figures = try alternating(
            rounds: rounds, [{ try microseconds(refusing: true) }, { try microseconds(refusing: false) }])
        return [
            Measurement(
                workload: Self.name, metric: "a save of a client whose every second request is refused", unit: "µs",
                strata: figures[0], peer: "none refused", peerValues: figures[1], bar: .ratioAtMost(1.05))
        ]
    }
}
