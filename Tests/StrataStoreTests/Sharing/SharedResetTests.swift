import StrataModel
import TestSupport
import Testing

@testable import StrataStore

/// Encrypted values that members sealed for the owner of a zone, once the owner's data is reset or erased.
@Suite("Shares whose owner resets encrypted data (B38, B154, B381)", .timeLimit(.minutes(1)))
struct SharedResetTests {
    private let world: SharedStore
    private let anna = Actor(user: "anna", device: "phone")
    private let ben = Actor(user: "ben", device: "phone")
    private let id = RecordID("note", zone: SharedDoor.zone)
    private var store: Store { world.store }

    /// Ben seals the pin of "note" in the zone that anna shares with him.
    init() throws {
        world = try SharedStore(.publicShare)
        let pin = try world.store.seal(.string("1234"), for: "pin", of: id, in: SharedDoor.shared, as: ben)
        try world.save([.init("note", parent: "list", fields: ["pin": pin])], as: "ben")
    }

    private func code(_ body: () throws -> some Any) -> StrataError.Code? {
        do {
            _ = try body()
            return nil
        } catch { return (error as? StrataError)?.code }
    }

    private func refusal(_ body: () throws -> some Any) -> Refusal.Code? {
        do {
            _ = try body()
            return nil
        } catch { return (error as? Refusal)?.code }
    }

    @Test("The zone ends for both, and what the member sealed opens in no state any more, present or past")
    func reset() throws {
        let held = [try world.record("note", as: "anna"), try world.record("note", as: "ben")]
        for record in held { #expect(try record.opened("pin") == .string("1234")) }
        let before = store.offset
        let token = try store.databaseChanges(in: SharedDoor.shared, as: ben).token
        try store.resetEncryptedData(of: "anna")
        for record in held { #expect(code { try record.opened("pin") } == .keyDestroyed) }
        let past = try store.asOf(before)
        defer { try? past.close() }
        let old = try past.snapshot().record(RecordID("note", zone: world.own), in: DatabaseID(.private), as: anna)
        #expect(code { try old.opened("pin") } == .keyDestroyed)
        #expect(refusal { try world.record("note", as: "anna") } == .zoneNotFound)
        #expect(refusal { try world.record("note", as: "ben") } != nil)
        #expect(refusal { try store.seal(.string("5"), for: "pin", of: id, in: SharedDoor.shared, as: ben) } != nil)
        let page = try store.databaseChanges(in: SharedDoor.shared, since: token, as: ben)
        #expect(page.deleted.map(\.zone.name) == ["Notes"] && page.changed.isEmpty)
        #expect(try #require(try store.snapshot().trees.share(1)).isEnded)
        let ordinal = try #require(try store.snapshot().trees.ordinal(of: .user("ben")))
        #expect(try store.snapshot().trees.memberships(of: ordinal).allSatisfy(\.isGone))
    }

    @Test("The member's reset leaves what he sealed for the owner, and the membership")
    func resetOfMember() throws {
        try store.resetEncryptedData(of: "ben")
        for user in ["anna", "ben"] { #expect(try world.record("note", as: user).opened("pin") == .string("1234")) }
    }

    @Test("After a reset the owner shares a new zone of the same name, with a new key")
    func again() throws {
        try store.resetEncryptedData(of: "anna")
        try store.modify(.zones(saving: [world.own]), as: anna)
        let share = SharedStore.Item("Share-1", sharing: ShareChange(root: "list", publicPermission: .readWrite))
        try world.save([.init("list", share: "Share-1"), share, .init("note", parent: "list")], as: "anna")
        let token = try #require(try store.snapshot().trees.share(2)).urlToken
        let join = Request(database: SharedDoor.shared, .joinShares(JoinSharesRequest(.accept, tokens: [token])))
        _ = try #require(try store.modify(join, as: ben).result.saves.first).get()
        let pin = try store.seal(.string("5678"), for: "pin", of: id, in: SharedDoor.shared, as: ben)
        try world.save([.init("note", parent: "list", fields: ["pin": pin])], as: "ben")
        #expect(try world.record("note", as: "anna").opened("pin") == .string("5678"))
    }

    @Test("An erased record is gone for the member too, with what the member sealed")
    func erased() throws {
        let sealed = try #require(try world.record("note", as: "ben")["pin"])
        guard case .sealed(let value) = sealed else {
            Issue.record("not encrypted: \(sealed)")
            return
        }
        try store.erase(
            [RecordID("note", zone: world.own)], in: DatabaseID(.private, owner: "anna"), reason: "asked for")
        #expect(refusal { try world.record("note", as: "ben") } == .unknownItem)
        #expect(try world.record("list", as: "ben").id.name == "list")
        var found = false
        var commits = try store.log.read(from: 1)
        while let commit = try commits.next() {
            found = found || commit.payload.firstRange(of: value.ciphertext) != nil
        }
        #expect(!found, "the log still has the ciphertext")
    }
}
