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

    private func subscribe(_ user: String, _ id: String = "s", type: String? = nil) throws {
        let subscription = NamedSubscription(id, .database, recordType: type)
        let request = Request.subscriptions(saving: [subscription], deleting: [], in: world.shared)
        let answer = try world.store.modify(request, as: world.actor(user))
        #expect(Result<RequestResult, Refusal>.success(answer.result).codes == [nil])
    }

    /// Returns the subscriptions for which a device gets pushes that it missed.
    private func missed(_ user: String) async throws -> [String] {
        let store = try world.store
        let box = try store.listen(as: world.actor(user))
        try await store.settleNotifications()
        var found: [String] = []
        while box.waitingCount > 0, let push = await box.next() {
            #expect(push.user == user && push.scope == .shared && push.subject == .database)
            found.append(push.subscriptionID)
        }
        box.close()
        return found.sorted()
    }

    @Test("B365 members are notified of visible changes, of the list and of their own joining and leaving")
    func members() async throws {
        try subscribe("ben")
        try world.write { try world.set(.readOnly, of: "ben", in: 1) }
        #expect(try await missed("ben") == ["s"])
        try world.write { try world.save("c", parent: "r", n: 2) }
        #expect(try await missed("ben") == ["s"])
        try world.write { try world.set(.readOnly, of: "cleo", in: 1) }
        #expect(try await missed("ben") == ["s"])
        try world.write { try world.save("x", parent: "c") }
        #expect(try await missed("ben") == ["s"])
        try world.write { try world.leave("ben", 1) }
        #expect(try await missed("ben") == ["s"])
        try world.write { try world.save("c", parent: "r", n: 3) }
        #expect(try await missed("ben") == [])
    }

    @Test("Nobody is notified of what is invisible, of another share, or of what the device itself did")
    func others() async throws {
        for user in ["ben", "cleo", "dora"] { try subscribe(user) }
        try world.write { try world.set(.readWrite, of: "ben", in: 1) }
        try world.write { try world.set(.none, of: "dora", in: 1) }
        #expect(try await missed("ben") == ["s"])
        #expect(try await missed("cleo") == [])
        #expect(try await missed("dora") == [])
        try world.write { try world.save("x", n: 1) }
        try world.write(by: "ben") { try world.save("c", parent: "r", n: 4) }
        for user in ["ben", "cleo", "dora"] { #expect(try await missed(user) == [], "\(user)") }
    }

    @Test("B365 a record type narrows a subscription, also to shares")
    func types() async throws {
        try world.write { try world.set(.readWrite, of: "ben", in: 1) }
        try subscribe("ben", "shares", type: ShareState.recordType)
        try subscribe("ben", "notes", type: "Note")
        try subscribe("ben", "all")
        try world.write { try world.save("c", parent: "r", n: 4) }
        #expect(try await missed("ben") == ["all", "notes"])
        try world.write { try world.set(.readOnly, of: "cleo", in: 1) }
        #expect(try await missed("ben") == ["all", "shares"])
    }

    @Test("Members of a share of the whole zone are notified of all changes of it")
    func wholeZone() async throws {
        try subscribe("ben")
        try world.write { try world.end(1) }
        try world.write { try world.share(root: nil) }
        try world.write { try world.set(.readWrite, of: "ben", in: 2) }
        #expect(try await missed("ben") == ["s"])
        try world.write { try world.delete("x") }
        #expect(try await missed("ben") == ["s"])
        try world.write { try world.end(2) }
        #expect(try await missed("ben") == ["s"])
        try world.write { try world.save("y") }
        #expect(try await missed("ben") == [])
    }
}
