import StrataModel
import StrataSystem
import Testing

@testable import StrataStore

/// Subscriptions to the shared database: B365.
@Suite("Pushes of the shared database", .timeLimit(.minutes(1)))
struct SharedPushTests {
    private let world: SharedWorld

    init() throws {
        world = try SharedWorld()
        try world.write {
            for name in ["r", "x"] { try world.save(name) }
            try world.save("c", parent: "r")
        }
        try world.write { try world.share(root: "r") }
    }

    @Test("B365 members are notified of visible changes, of the list and of their own joining and leaving")
    func members() async throws {
        try world.subscribe("ben")
        try world.write { try world.set(.readOnly, of: "ben", in: 1) }
        #expect(try await world.missed("ben") == ["s"])
        try world.write { try world.save("c", parent: "r", n: 2) }
        #expect(try await world.missed("ben") == ["s"])
        try world.write { try world.set(.readOnly, of: "cleo", in: 1) }
        #expect(try await world.missed("ben") == ["s"])
        try world.write { try world.save("x", parent: "c") }
        #expect(try await world.missed("ben") == ["s"])
        try world.write { try world.leave("ben", 1) }
        #expect(try await world.missed("ben") == ["s"])
        try world.write { try world.save("c", parent: "r", n: 3) }
        #expect(try await world.missed("ben") == [])
    }

    @Test("Nobody is notified of what is invisible, of another share, or of what the device itself did")
    func others() async throws {
        for user in ["ben", "cleo", "dora"] { try world.subscribe(user) }
        try world.write { try world.set(.readWrite, of: "ben", in: 1) }
        try world.write { try world.set(.none, of: "dora", in: 1) }
        #expect(try await world.missed("ben") == ["s"])
        #expect(try await world.missed("cleo") == [])
        #expect(try await world.missed("dora") == [])
        try world.write { try world.save("x", n: 1) }
        try world.write(by: "ben") { try world.save("c", parent: "r", n: 4) }
        for user in ["ben", "cleo", "dora"] { #expect(try await world.missed(user) == [], "\(user)") }
    }

    @Test("B365 a record type narrows a subscription, also to shares")
    func types() async throws {
        try world.write { try world.set(.readWrite, of: "ben", in: 1) }
        try world.subscribe("ben", "shares", type: ShareState.recordType)
        try world.subscribe("ben", "notes", type: "Note")
        try world.subscribe("ben", "all")
        try world.write { try world.save("c", parent: "r", n: 4) }
        #expect(try await world.missed("ben") == ["all", "notes"])
        try world.write { try world.set(.readOnly, of: "cleo", in: 1) }
        #expect(try await world.missed("ben") == ["all", "shares"])
    }

    @Test("Members of a share of the whole zone are notified of all changes of it")
    func wholeZone() async throws {
        try world.subscribe("ben")
        try world.write { try world.end(1) }
        try world.write { try world.share(root: nil) }
        try world.write { try world.set(.readWrite, of: "ben", in: 2) }
        #expect(try await world.missed("ben") == ["s"])
        try world.write { try world.delete("x") }
        #expect(try await world.missed("ben") == ["s"])
        try world.write { try world.end(2) }
        #expect(try await world.missed("ben") == ["s"])
        try world.write { try world.save("y") }
        #expect(try await world.missed("ben") == [])
    }
}
