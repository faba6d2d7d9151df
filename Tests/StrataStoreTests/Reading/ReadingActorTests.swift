import StrataModel
import StrataRules
import Testing

@testable import StrataStore

@Suite("Who reads")
struct ReadingActorTests {
    @Test("A user with the service's name is not the service, also after the service has read")
    func serviceIsNoUser() throws {
        let store = try Store.inMemory()
        var names = RequestNames()
        let zone = names.ordinal(of: ZoneID("Notes"))
        let request = Request(
            database: DatabaseID(.private), names: names, .modifyZones(ModifyZonesRequest(saves: [.init(zone)])))
        let snapshot = try store.modify(request, as: Actor(user: "anna")).snapshot
        let database = DatabaseID(.private, owner: "anna")
        #expect(try snapshot.zones(in: database, as: .service).contains { $0.id.name == "Notes" })
        let impostor = Actor(user: Actor.service.user, device: "phone")
        #expect(throws: Refusal.self) { try snapshot.zones(in: database, as: impostor) }
        try store.close()
    }
}
