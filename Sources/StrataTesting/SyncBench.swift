import CloudKit

/// Runs an app on several devices over one store, on a manual clock, with all kinds of bad luck: lost answers, failing
/// requests, expired tokens, purged zones, lost accounts, and processes that end between any two callbacks.
///
/// ```swift
/// try await SyncBench<MyApp>(seed: 7).run()
/// ```
///
/// A run is repeated exactly by its seed, if the app's edits depend only on the generator that they are given. After a
/// number of steps the bad luck pauses, all devices sync, and must then show the same, as must a new device.
public struct SyncBench<App: SyncBenchApp>: Sendable {
    /// The seed of all decisions.
    public var seed: UInt64
    /// The number of devices.
    public var deviceCount = 2
    /// The number of steps.
    public var stepCount = 200
    /// The number of steps after which all devices are compared.
    public var stepsBetweenChecks = 50
    /// The kinds of steps that a run consists of. Without a token no app hears of deletions (B434), so `expireTokens`
    /// and `purgeZone` are only for apps that compare their data with the store's by themselves.
    public var kinds = SyncBenchStep.Kind.allCases.filter { $0 != .expireTokens && $0 != .purgeZone }
    /// The zone that exists from the beginning, and is purged; nil if the app creates its zones.
    public var zoneID: CKRecordZone.ID?

    private static var longestSearch: Int { 300 }

    /// Creates a bench for two devices and 200 steps.
    public init(seed: UInt64) { self.seed = seed }

    /// Runs all steps.
    ///
    /// - Throws: ``SyncBenchDivergence`` with the shortest steps found that lead to devices which differ.
    public func run() async throws {
        let steps = makeSteps()
        guard let first = try await failure(of: steps, every: max(stepsBetweenChecks, 1)) else { return }
        let (found, reason) = try await shortest(Array(steps[..<first.count]), first.reason)
        throw SyncBenchDivergence(seed: seed, deviceCount: deviceCount, steps: found, reason: reason)
    }

    private func makeSteps() -> [SyncBenchStep] {
        var random = SyncBenchRandom(seed: seed)
        let kinds = kinds.filter { $0 != .purgeZone || zoneID != nil }
        return (0..<stepCount).map { _ in
            SyncBenchStep(
                kind: kinds.randomElement(using: &random) ?? .edit,
                device: Int.random(in: 0..<max(deviceCount, 1), using: &random), number: random.next())
        }
    }

    /// Runs steps with a check after every few. Returns the number of steps until the first check that failed, and its
    /// reason; nil if none did.
    func failure(of steps: [SyncBenchStep], every: Int) async throws -> (count: Int, reason: String)? {
        let world = try SyncBenchWorld<App>(self)
        // A store keeps its threads and memory until it is closed.
        defer { world.end() }
        try await world.begin()
        for (place, step) in steps.enumerated() {
            try await world.take(step)
            guard (place + 1).isMultiple(of: every) || place + 1 == steps.count else { continue }
            if let reason = try await world.difference() { return (place + 1, reason) }
        }
        return nil
    }

    /// Leaves out steps as long as the devices still differ without them.
    func shortest(_ steps: [SyncBenchStep], _ reason: String) async throws -> ([SyncBenchStep], String) {
        var (best, bestReason) = (steps, reason)
        var size = max(best.count / 2, 1)
        var runs = 0
        while true {
            var start = 0
            var isShorter = false
            while start < best.count, runs < Self.longestSearch {
                var rest = best
                rest.removeSubrange(start..<min(start + size, best.count))
                runs += 1
                if let found = try await failure(of: rest, every: .max) {
                    (best, bestReason, isShorter) = (rest, found.reason, true)
                } else {
                    start += size
                }
            }
            if runs >= Self.longestSearch || size == 1 && !isShorter { return (best, bestReason) }
            size = max(size / 2, 1)
        }
    }
}

/// One step of a ``SyncBench``.
public struct SyncBenchStep: Sendable, Hashable, CustomStringConvertible {
    /// The kinds of steps.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The app makes a change.
        case edit
        /// The device sends its changes.
        case send
        /// The device fetches changes.
        case fetch
        /// The device syncs, and its process ends before one of the next callbacks.
        case kill
        /// The process ends and starts again.
        case relaunch
        /// The device sends, and the answers to its next requests are lost.
        case loseAnswer
        /// The device syncs, and one of its requests fails.
        case failRequest
        /// The device syncs, and single items of its requests fail.
        case failItem
        /// All change tokens expire.
        case expireTokens
        /// The user deletes the zone in Settings.
        case purgeZone
        /// The account cannot be used while the device tries to sync.
        case loseAccount
        /// Time passes.
        case wait
    }

    /// The kind of the step.
    public let kind: Kind
    /// The device, counted from 0.
    public let device: Int
    /// The number that decides everything else.
    public let number: UInt64

    public var description: String { "device \(device): \(kind.rawValue) (\(number))" }
}

/// Devices that do not show the same although everything is sent and fetched.
public struct SyncBenchDivergence: Error, CustomStringConvertible {
    /// The seed of the run.
    public let seed: UInt64
    /// The number of devices.
    public let deviceCount: Int
    /// The shortest steps found that lead to the difference.
    public let steps: [SyncBenchStep]
    /// The first difference.
    public let reason: String

    public var description: String {
        let trace = steps.map { "  \($0)" }.joined(separator: "\n")
        return "Seed \(seed), \(deviceCount) devices: \(reason)\nafter \(steps.count) steps:\n\(trace)"
    }
}
