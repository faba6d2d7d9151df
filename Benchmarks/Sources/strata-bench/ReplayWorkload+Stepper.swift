import StrataModel
import StrataReplay
import StrataStore
import StrataSystem

/// What a debugger's session waits for: a step in each direction, the next commit at which something stops.
extension ReplayWorkload {
    private var stepCount: Int { size.isQuick ? 200 : 1_000 }

    func steps(_ store: Store) throws -> [Measurement] {
        let random = SeededRandom(seed: 9)
        let gauge = MemoryGauge()
        var stepper = try Stepper(of: store)
        let (id, actor) = note(ToolStore.askedNote)
        try stepper.add(Watch(id, field: "rank", in: DatabaseID(.private), as: actor))
        var (on, back): ([[Double]], [[Double]]) = ([], [])
        for _ in 0..<size.rounds {
            var (onRound, backRound): ([Double], [Double]) = ([], [])
            for _ in 0..<stepCount {
                _ = try stepper.jump(to: 2 + random.next() % (stepper.end - 2))
                backRound.append(try milliseconds { _ = try show(try stepper.step(.back), stepper) })
                onRound.append(try milliseconds { _ = try show(try stepper.step(.forward), stepper) })
            }
            on.append(onRound)
            back.append(backRound)
        }
        // Of what nobody ever did every commit is looked at.
        stepper = try Stepper(of: store)
        var never = Breakpoint()
        (never.user, never.device, never.type) = (ToolStore.users.first, "laptop", "Counter")
        (never.isRefusal, never.record) = (true, "nothing")
        try stepper.add(never)
        let scans = try (0..<size.rounds).map { _ in
            _ = try stepper.jump(to: stepper.floor)
            let time = try milliseconds { _ = try stepper.go(.forward) }
            return Double(stepper.end - stepper.floor) * 1_000 / time
        }
        func slowest(_ rounds: [[Double]]) -> [Double] { rounds.map { $0.max() ?? 0 } }
        return [
            measured("step on one commit, the slowest", "ms", .atMost(50), slowest(on)),
            measured("step back one commit, the slowest", "ms", .atMost(50), slowest(back)),
            measured("continue past every commit", "commits/s", .atLeast(600_000), scans),
            measured("step: memory", "MiB", .atMost(256), [gauge.extraMebibytes]),
        ]
    }

    /// What a session prints of a stop, read.
    private func show(_ stop: Stepper.Stop, _ stepper: Stepper) throws -> Int {
        let commit = try stepper.commit()
        return try commit.map { try Envelope(decoding: $0.payload).events.count } ?? stop.changes.count
    }
}
