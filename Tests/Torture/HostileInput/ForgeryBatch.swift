import TestSupport

/// Tries tokens, cursors and URLs of shares that no store gave out: none may be accepted.
struct ForgeryBatch {
    /// The forgeries of each kind that one input tries.
    private static let tries = 1_000

    private let settings: BatchSettings
    private let forger: Forger

    init(_ words: some Sequence<String>) throws {
        settings = BatchSettings(words)
        forger = Forger(try ForgeryWorld())
    }

    func run() async throws {
        var accepted: [String: Int] = [:]
        try await settings.forEachInput { input in
            var generator = SeededGenerator(seed: settings.seed &+ UInt64(input) &* 0x51_7C_C1)
            for (name, attempt) in [
                ("tokens", Forger.token), ("cursors", Forger.cursor), ("URLs", Forger.url),
            ] as [(String, (Forger) -> (inout SeededGenerator, Bool) -> Bool)] {
                let count = (0..<Self.tries).count { _ in attempt(forger)(&generator, !settings.isCanary) }
                Telling.count("forged \(name)", Self.tries)
                accepted[name, default: 0] += count
                // The canary is noticed by all three, each by thousands.
                if count > 0, !settings.isCanary {
                    Telling.wrong("input \(input): \(count) of \(Self.tries) forged \(name) were accepted")
                }
            }
        }
        if settings.isCanary, ["tokens", "cursors", "URLs"].allSatisfy({ accepted[$0, default: 0] > 1_000 }) {
            Telling.wrong("the canary's forgeries were accepted: \(accepted)")
        }
        Telling.say("done")
    }
}
