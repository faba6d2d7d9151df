import CloudKit
import StrataTesting
import Testing

/// Devices that converge, and canaries that the bench must find.
@Suite("Sync: bench", .timeLimit(.minutes(10)))
struct SyncBenchTests {
    private func bench<App: SyncBenchApp>(_ app: App.Type, _ seed: UInt64, devices: Int = 2) -> SyncBench<App> {
        var bench = SyncBench<App>(seed: seed)
        bench.deviceCount = devices
        bench.zoneID = BenchNotes.zone
        return bench
    }

    @Test("2 to 5 devices converge, whatever happens", arguments: 1...24)
    func converge(seed: Int) async throws {
        try await bench(BenchNotes.self, UInt64(seed), devices: 2 + seed % 4).run()
    }

    /// Returns the first divergence among a few seeds.
    private func divergence<App: SyncBenchApp>(of app: App.Type) async throws -> SyncBenchDivergence? {
        for seed in 1...10 {
            do { try await bench(app, UInt64(seed)).run() } catch let error as SyncBenchDivergence { return error }
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
}
