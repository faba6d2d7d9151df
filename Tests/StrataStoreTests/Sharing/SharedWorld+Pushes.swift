import StrataModel
import Testing

@testable import StrataStore

extension SharedWorld {
    func subscribe(_ user: String, _ id: String = "s", type: String? = nil) throws {
        let subscription = NamedSubscription(id, .database, recordType: type)
        let request = Request.subscriptions(saving: [subscription], deleting: [], in: shared)
        let answer = try store.modify(request, as: actor(user))
        #expect(Result<RequestResult, Refusal>.success(answer.result).codes == [nil])
    }

    /// Returns the subscriptions for which a device gets pushes that it missed.
    func missed(_ user: String) async throws -> [String] {
        let store = try store
        let box = try store.listen(as: actor(user))
        try await store.settleNotifications()
        var found: [String] = []
        while box.waitingCount > 0, let push = await box.next() {
            #expect(push.user == user && push.scope == .shared && push.subject == .database)
            found.append(push.subscriptionID)
        }
        box.close()
        return found.sorted()
    }
}
