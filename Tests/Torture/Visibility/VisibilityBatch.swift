import TestSupport

/// Tries histories of owners and members of shares, some of them at the same time: nobody may see more or less than the
/// plain model lets them, and no answer may say anything but what the log has.
struct VisibilityBatch {
    private let settings: BatchSettings

    init(_ words: some Sequence<String>) { settings = BatchSettings(words) }

    func run() async throws {
        var isNoticed = false
        try await settings.forEachInput { input in
            // One is enough of a canary.
            if settings.isCanary, isNoticed { return }
            let seed = settings.seed &+ UInt64(input) &* 0x51_7C_C1
            var history = try SharedHistory(seed: seed, fault: .init(rawValue: settings.canary))
            do { try history.run() } catch {
                isNoticed = true
                Telling.wrong("input \(input), operation \(history.operations): \("\(error)".prefix(4_000))")
            }
            Telling.count("shared operations", history.operations)
            Telling.count("races", history.races)
        }
        Telling.say("done")
    }
}
