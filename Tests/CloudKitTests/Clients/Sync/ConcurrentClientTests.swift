import CloudKit
import StrataSystem
import TestSupport
import Testing

@Suite("Clients that sync at the same time", .timeLimit(.minutes(2)))
struct ConcurrentClientTests {
    @Test("Devices that edit, push and pull side by side lose nothing and come to agree")
    func sideBySide() async throws {
        let world = try await SyncWorld(seed: 1, [])
        let written = Lock<[String: [String: Int]]>([:])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, client) in world.clients.enumerated() {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(number))
                    for round in 0..<200 {
                        let name = SyncWorld.names[random.next(below: 6)]
                        try await client.set(round, forKey: "key\(number)", of: name)
                        written.withLock { $0[name, default: [:]]["key\(number)"] = round }
                        try await client.set(round, forKey: "common", of: name)
                        if round % 3 == 0 { try await client.push(atomically: round % 2 == 0, inOperation: true) }
                        if round % 5 == 0 { try await client.pull() }
                    }
                }
            }
            try await group.waitForAll()
        }
        try await world.settle()
        #expect(try await world.diverging() == [])
        let stored = try await world.stored()
        let expected = written.withLock { $0 }
        #expect(expected.count == 6)
        for (name, values) in expected {
            #expect(stored[name]?.filter { $0.key != "common" } == values)
        }
        try world.close()
    }
}
