import Foundation
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

/// Members of shares that requests made: encrypted values, assets and pushes (B365, B381, B382).
@Suite("Members of shares in an open store", .timeLimit(.minutes(1)))
struct SharedLiveTests {
    private let world: SharedStore
    private let ben = Actor(user: "ben", device: "phone")
    private let cleo = Actor(user: "cleo", device: "phone")
    private var store: Store { world.store }
    private var shared: DatabaseID { SharedDoor.shared }
    private var zone: ZoneID { SharedDoor.zone }

    init() throws { world = try SharedStore(.publicShare) }

    private func note(_ fields: [String: FieldValue]) -> SharedStore.Item {
        .init("note", parent: "list", fields: fields)
    }

    @Test("B381 what one seals the other opens, and nobody else")
    func encryptedValues() throws {
        let pin = try store.seal(
            .string("1234"), for: "pin", of: RecordID("note", zone: world.own), in: DatabaseID(.private),
            as: Actor(user: "anna", device: "phone"))
        try world.save([note(["pin": pin])], as: "anna")
        #expect(try world.record("note", as: "ben").opened("pin") == .string("1234"))
        let id = RecordID("note", zone: zone)
        let mine = try store.seal(.string("5678"), for: "pin", of: id, in: shared, as: ben)
        try world.save([note(["pin": mine])], as: "ben")
        #expect(try world.record("note", as: "anna").opened("pin") == .string("5678"))
        #expect(try world.record("note", as: "ben").opened("pin") == .string("5678"))
        #expect(throws: Refusal.self) { try store.seal(.string("x"), for: "pin", of: id, in: shared, as: cleo) }
    }

    @Test("B382 an asset is accessible only through a record that is visible")
    func assets() throws {
        let directory = try TestDirectory()
        let path = directory.path("photo")
        try Data(repeating: 7, count: 100).write(to: URL(fileURLWithPath: path))
        let photo = try store.importAsset(at: path)
        try world.save([.init("other", fields: ["photo": .asset(photo.value)])], as: "anna")
        let hidden = RecordID("other", zone: zone)
        #expect(throws: StrataError.self) { try store.pinAsset(photo.value, of: hidden, in: shared, as: ben) }
        try world.save([note(["photo": .asset(photo.value)])], as: "anna")
        let seen = RecordID("note", zone: zone)
        #expect(try world.record("note", as: "ben").assets == [photo.value])
        #expect(throws: Never.self) { try store.pinAsset(photo.value, of: seen, in: shared, as: ben) }
        #expect(throws: StrataError.self) { try store.pinAsset(photo.value, of: seen, in: shared, as: cleo) }
    }

    @Test("B365 listening devices of members get visible changes at once, and the one who is removed gets that")
    func pushes() async throws {
        for actor in [ben, cleo] {
            let subscription = NamedSubscription("s", .database)
            try await store.modify(.subscriptions(saving: [subscription], in: shared), as: actor)
        }
        let boxes = try [ben, Actor(user: "ben", device: "tablet"), cleo].map { try store.listen(as: $0) }
        func counts() async throws -> [Int] {
            try await store.settleNotifications()
            var counts: [Int] = []
            for box in boxes {
                counts.append(box.waitingCount)
                while box.waitingCount > 0, let push = await box.next() { #expect(push.scope == .shared) }
            }
            return counts
        }
        _ = try await counts()
        try world.save([.init("other", fields: ["n": .int64(1)])], as: "anna")
        #expect(try await counts() == [0, 0, 0])
        try world.save([note(["n": .int64(1)])], as: "anna")
        #expect(try await counts() == [1, 1, 0])
        try world.save([note(["n": .int64(2)])], as: "ben")
        #expect(try await counts() == [0, 1, 0])
        // A record that comes into the hierarchy is a change for members.
        try world.save([.init("other", parent: "list")], as: "anna")
        #expect(try await counts() == [1, 1, 0])
        try world.save([], deleting: ["Share-1"], as: "anna")
        #expect(try await counts() == [1, 1, 0])
        try world.save([note(["n": .int64(3)])], as: "anna")
        #expect(try await counts() == [0, 0, 0])
    }

    @Test("B360 B363 leaving and joining again ends the zone and its tokens")
    func rejoining() throws {
        let token = try store.zoneChanges(of: zone, in: shared, as: ben).token
        let database = try store.databaseChanges(in: shared, as: ben).token
        try world.save([], deleting: ["Share-1"], as: "ben")
        let gone = try store.databaseChanges(in: shared, since: database, as: ben)
        #expect(gone.deleted.map(\.zone) == [zone] && gone.changed.isEmpty)
        #expect(try store.snapshot().zones(in: shared, as: ben).isEmpty)
        try world.join("ben")
        #expect(throws: Refusal.self) { try store.zoneChanges(of: zone, in: shared, since: token, as: ben) }
        let page = try store.zoneChanges(of: zone, in: shared, as: ben)
        #expect(page.changed.map(\.id.name).sorted() == ["Share-1", "list", "note"])
    }
}
