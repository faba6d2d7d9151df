import CloudKit
import TestSupport
import Testing

@testable import StrataTesting

/// Devices that converge, and canaries that the bench must find.
@Suite("Sync: bench", .timeLimit(.minutes(10)))
struct SyncBenchTests {
    private func bench<App: SyncBenchApp>(_ app: App.Type, _ seed: UInt64, devices: Int = 2) -> SyncBench<App> {
        var bench = SyncBench<App>(seed: seed)
        bench.deviceCount = devices
        bench.zoneID = BenchNotes.zone
        return bench
    }

    @Test("2 to 5 devices converge, whatever happens", arguments: seeds(24))
    func converge(seed: UInt64) async throws {
        try await bench(BenchNotes.self, seed, devices: 2 + Int(seed % 4)).run()
    }

    @Test("Purged zones and expired tokens, too, if the app compares its data with the store's", arguments: seeds(12))
    func compare(seed: UInt64) async throws {
        var bench = bench(ComparingNotes.self, seed, devices: 2 + Int(seed % 4))
        bench.kinds = SyncBenchStep.Kind.allCases
        try await bench.run()
    }

    @Test(
        "A process may end before any callback of a sync with conflicts",
        arguments: 0..<SyncBenchWorld<BenchNotes>.mostCallbacks)
    func crash(callbacks: UInt64) async throws {
        for seed in seeds(5) {
            var random = SeededGenerator(seed: seed)
            func step(_ kind: SyncBenchStep.Kind, _ device: Int) -> SyncBenchStep {
                SyncBenchStep(kind: kind, device: device, number: random.next())
            }
            var steps = (0..<8).map { step(.edit, $0 % 2) } + [step(.send, 0), step(.fetch, 1)]
            steps += (0..<8).map { step(.edit, $0 % 2) } + [step(.send, 1), step(.edit, 0)]
            steps.append(SyncBenchStep(kind: .kill, device: 0, number: callbacks))
            steps.append(step(.edit, 0))
            let bench = bench(BenchNotes.self, seed)
            guard let found = try await bench.failure(of: steps, every: .max) else { continue }
            let (shortest, reason) = try await bench.shortest(steps, found.reason)
            Issue.record("seed \(seed), \(callbacks) callbacks: \(reason) after \(shortest)")
        }
    }

    @Test("What a device sends after another has fetched, that one fetches before they are compared")
    func lastDevice() async throws {
        let steps = [SyncBenchStep(kind: .edit, device: 1, number: 17_834_244_405_122_941_510)]
        let found = try await bench(BenchNotes.self, 12).failure(of: steps, every: .max)
        #expect(found == nil, "\(found?.reason ?? "")")
    }

    /// Returns the first divergence among a few seeds.
    private func divergence<App: SyncBenchApp>(
        of app: App.Type, with more: [SyncBenchStep.Kind] = []
    ) async throws -> SyncBenchDivergence? {
        for seed in 1...10 {
            var bench = bench(app, UInt64(seed))
            bench.kinds += more
            do { try await bench.run() } catch let error as SyncBenchDivergence { return error }
        }
        return nil
    }

    @Test("An app that forgets a failed item is found, with a short trace that a seed repeats")
    func forgetful() async throws {
        let found = try #require(try await divergence(of: ForgetfulNotes.self))
        #expect(found.steps.count < 20 && "\(found)".contains("Seed \(found.seed)"))
        do {
            try await bench(ForgetfulNotes.self, found.seed).run()
            #expect(Bool(false), "the seed does not repeat it")
        } catch let again as SyncBenchDivergence {
            #expect(again.steps == found.steps && again.reason == found.reason)
        }
    }

    @Test("An app that keeps a state ahead of its data is found")
    func ahead() async throws {
        let found = try #require(try await divergence(of: AheadNotes.self))
        #expect(found.steps.count < 20)
    }

    @Test("An app that trusts its data after a purge that its engine did not hear of is found")
    func purged() async throws {
        let found = try #require(try await divergence(of: BenchNotes.self, with: [.purgeZone]))
        #expect(found.steps.count < 20 && found.steps.contains { $0.kind == .purgeZone })
    }
}
