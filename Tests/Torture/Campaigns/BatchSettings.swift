/// How a child works that tries many inputs; passed as words `name=value`.
struct BatchSettings: Sendable {
    var folder = ""
    /// For what need not be kept.
    var memory = ""
    var seed: UInt64 = 1
    /// The number of the first input.
    var first = 0
    var count = 0
    /// The batch ends with the input that is under way then.
    var seconds = 15.0
    /// Whether the batch has a fault that must be noticed, and which.
    var canary = ""
    var isCanary: Bool { !canary.isEmpty }

    init(_ round: Round, count: Int) {
        (folder, memory, seed, self.count) = (round.folder, round.memory, round.seed, count)
    }

    init(_ words: some Sequence<String>) {
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2 else { continue }
            switch parts[0] {
            case "folder": folder = parts[1]
            case "memory": memory = parts[1]
            case "seed": seed = UInt64(parts[1]) ?? 1
            case "first": first = Int(parts[1]) ?? 0
            case "count": count = Int(parts[1]) ?? 0
            case "seconds": seconds = Double(parts[1]) ?? 15
            case "canary": canary = parts[1]
            default: break
            }
        }
    }

    /// Calls `body` with the number of each input, until all are done or the time is over.
    func forEachInput(_ body: (Int) async throws -> Void) async throws {
        let end = ContinuousClock.now + .seconds(seconds)
        var input = first
        while input < first + count, .now < end {
            Telling.say("at \(input)")
            try await body(input)
            input += 1
        }
    }

    var words: [String] {
        [
            "folder=\(folder)", "memory=\(memory)", "seed=\(seed)", "first=\(first)", "count=\(count)",
            "seconds=\(seconds)", "canary=\(canary)",
        ]
    }
}
