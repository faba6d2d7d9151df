import CloudKit
import TestSupport
import Testing

@Suite("Clients that sync", .timeLimit(.minutes(2)))
struct SyncClientTests {
    @Test(
        "Whatever happens to devices, store and zone, all come to have what the store has",
        arguments: 1...4 as ClosedRange<UInt64>)
    func convergence(seed: UInt64) async throws {
        var world = try await SyncWorld(seed: seed, .all)
        for round in 0..<6 {
            for _ in 0..<150 { try await world.step() }
            try await world.settle()
            #expect(try await world.diverging() == [], "seed \(seed), round \(round)")
        }
        #expect(try await !world.stored().isEmpty)
        try world.close()
    }

    @Test("Nothing that a device has written is lost to the others' edits", arguments: 11...13 as ClosedRange<UInt64>)
    func updates(seed: UInt64) async throws {
        var world = try await SyncWorld(seed: seed, .restarts)
        for round in 0..<4 {
            for _ in 0..<150 { try await world.step() }
            try await world.settle()
            #expect(try await world.diverging() == [], "seed \(seed), round \(round)")
            #expect(try await world.lost() == [], "seed \(seed), round \(round)")
        }
        #expect(world.written.count == SyncWorld.names.count)
        try world.close()
    }

    @Test("The canary: clients that ignore conflicts diverge and lose updates, and that is noticed")
    func canary() async throws {
        var world = try await SyncWorld(seed: 11, .restarts, ignoresConflicts: true)
        for _ in 0..<300 { try await world.step() }
        try await world.settle()
        #expect(try await !world.diverging().isEmpty)
        #expect(try await !world.lost().isEmpty)
        try world.close()
    }
}
