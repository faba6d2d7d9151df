import StrataModel
import StrataSystem
import Testing

@testable import StrataStore

/// What a URL tells whom: B343 to B346.
@Suite("Metadata of shares")
struct ShareMetadataTests {
    private let world: SharedWorld

    init() throws {
        world = try SharedWorld()
        try world.write {
            try world.save("r", n: 3)
            try world.share(root: "r")
        }
        try world.write { try world.set(.readOnly, of: "ben", in: 1) }
    }

    private func metadata(
        _ token: String = "token1", _ user: String, root: Bool = false, keys: [String]? = nil
    ) throws -> ShareMetadata {
        try world.store.snapshot().shareMetadata(
            ofToken: token, desiredKeys: keys, includesRoot: root, as: world.actor(user))
    }

    private func code(_ token: String = "token1", _ user: String) -> Refusal.Code? {
        do { _ = try metadata(token, user) } catch let refusal as Refusal { return refusal.code } catch {
            Issue.record(error)
        }
        return nil
    }

    @Test("B344 owner, members, invited and strangers each find their own standing")
    func standings() throws {
        try world.write {
            try world.invite(ShareParticipant(id: "c", user: "cleo", permission: .readWrite), to: 1)
        }
        let owner = try metadata("token1", "anna")
        #expect(owner.role == .owner && owner.hasAccepted && owner.permission == .readWrite)
        #expect(owner.zone == ZoneID(SharedWorld.zoneName) && owner.owner == "anna")
        let member = try metadata("token1", "ben")
        #expect(member.role == .privateUser && member.hasAccepted && member.permission == .readOnly)
        #expect(member.zone == world.zone && member.root == RecordID("r", zone: world.zone))
        let invited = try metadata("token1", "cleo")
        #expect(invited.role == .privateUser && !invited.hasAccepted && invited.permission == .readWrite)
        #expect(invited.state.participants.map(\.id) == ["anna", "ben", "c"])
        #expect(code("token1", "dora") == .unknownItem && code("token1", "") == .notAuthenticated)
        #expect(code("nothing", "anna") == .unknownItem && code("", "anna") == .unknownItem)
    }

    @Test("B344 anybody may join a public share, with its permission of now")
    func publicShare() throws {
        try world.write { try world.set(publicPermission: .readWrite, of: 1) }
        let stranger = try metadata("token1", "dora")
        #expect(stranger.role == .publicUser && !stranger.hasAccepted && stranger.permission == .readWrite)
        #expect(stranger.state.participants.map(\.id) == ["anna", "ben"])
    }

    @Test("B346 a stranger is asked to verify an address only while an invitation waits for one")
    func verification() throws {
        try world.write { try world.invite(ShareParticipant(id: "e", address: .email("e@example.com")), to: 1) }
        #expect(code("token1", "dora") == .participantMayNeedVerification)
        try world.write { try world.end(1) }
        #expect(code("token1", "dora") == .unknownItem && code("token1", "anna") == .unknownItem)
    }

    @Test("A one-time URL is an invitation for whoever has it")
    func oneTime() throws {
        try world.write {
            try world.invite(ShareParticipant(id: "o", permission: .readWrite, oneTimeToken: "once"), to: 1)
        }
        let invited = try metadata("once", "dora")
        #expect(invited.role == .privateUser && invited.permission == .readWrite && !invited.hasAccepted)
        #expect(code("token1", "dora") == .unknownItem)
    }

    @Test("B343 B345 the root comes if it is asked for, with the desired keys, before anything else is visible")
    func root() throws {
        try world.write { try world.invite(ShareParticipant(id: "c", user: "cleo"), to: 1) }
        #expect(try metadata("token1", "cleo").rootRecord == nil)
        #expect(try metadata("token1", "cleo", root: true).rootRecord?["n"] == .int64(3))
        #expect(try metadata("token1", "cleo", root: true, keys: []).rootRecord?.fields.isEmpty == true)
        #expect(try metadata("token1", "cleo").record["n"] == .int64(7))
        #expect(throws: Refusal.self) {
            try world.store.zoneChanges(of: world.zone, in: world.shared, as: world.actor("cleo"))
        }
    }
}
