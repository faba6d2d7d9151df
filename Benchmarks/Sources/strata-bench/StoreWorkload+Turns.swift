import StrataModel
import StrataStore
import StrataSystem

extension StoreWorkload {
    /// What a user's single saves take beside those of another user, who has 64 clients with large requests.
    func turns(_ progress: (String) -> Void) throws -> [Measurement] {
        progress("store: single saves beside 64 clients of another user with 200 records in each request")
        let (clients, batch) = (64, 200)
        let path = "\(folder)/turns.strata"
        defer { removeTree(path) }
        let store = try Store.open(at: path)
        defer { try? store.close() }
        let others = TaskRecords.actor(ofUser: 1)
        for actor in [TaskRecords.actor, others] { _ = try store.modify(TaskRecords.makingZone, as: actor) }
        let next = Lock(0)
        @Sendable func save(_ count: Int, as actor: Actor) throws -> Int {
            let first = next.withLock { next in
                defer { next += count }
                return next
            }
            let answer = try store.modify(records.saving(first..<first + count), as: actor)
            for save in answer.result.saves { _ = try save.get() }
            return count
        }
        func single() throws -> Load { try Load.alone(seconds: seconds) { try save(1, as: TaskRecords.actor) } }
        @Sendable func crowd() throws -> Load {
            try Load.run(clients: clients, seconds: seconds) { try save(batch, as: others) }
        }
        var (alone, large, beside, crowds): ([Load], [Load], [Load], [Load]) = ([], [], [], [])
        for _ in 0..<rounds {
            alone.append(try single())
            large.append(try Load.alone(seconds: seconds) { try save(batch, as: others) })
            let crowded = Lock<Result<Load, any Error>?>(nil)
            let thread = try WorkerThread(name: "crowd") {
                let result = Result { try crowd() }
                crowded.withLock { $0 = result }
            }
            beside.append(try single())
            thread.join()
            if let load = try crowded.withLock({ $0 })?.get() { crowds.append(load) }
        }
        func milliseconds(_ loads: [Load], of part: Double) -> [Double] { loads.map { $0.milliseconds(of: part) } }
        let limits = milliseconds(large, of: 0.5).map { 2 * $0 + 5 }
        return [
            measurement(
                "a single save beside 64 clients of another user, median", "ms", milliseconds(beside, of: 0.5),
                "alone", milliseconds(alone, of: 0.5), .ratioAtMost(5)),
            measurement(
                "a single save beside 64 clients of another user, p99", "ms", milliseconds(beside, of: 0.99),
                "two large requests alone and 5 ms", limits, .ratioAtMost(1)),
            measurement(
                "records of the 64 clients", "records/s", crowds.map(\.rate), "one client",
                large.map(\.rate), .none),
        ]
    }
}
