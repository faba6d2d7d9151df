import StrataModel

@testable import StrataStore

extension Client {
    func subscriptions(
        save: [NamedSubscription] = [], delete: [String] = []
    ) -> Result<RequestResult, Refusal> {
        ask(.subscriptions(saving: save, deleting: delete, in: database)).map(\.result)
    }

    /// Saves one; returns the refusal of the item or of the whole request, nil if there is none.
    func refusal(saving subscription: NamedSubscription) -> Refusal? {
        switch subscriptions(save: [subscription]) {
        case .failure(let refusal): refusal
        case .success(let result): result.saves.first?.refusal
        }
    }

    func fetchedSubscriptions() throws -> [NamedSubscription] {
        try store.snapshot().subscriptions(in: database, as: actor)
    }
}

extension NamedSubscription {
    /// A query subscription that fires for every event.
    static func notes(
        _ id: String, where predicate: String = "TRUEPREDICATE", options: Subscription.Options = .events,
        in zone: String? = nil
    ) -> NamedSubscription {
        NamedSubscription(
            id, .query, zone: zone.map { ZoneID($0) }, recordType: "Note", predicate: predicate, options: options)
    }

    static func zone(_ id: String, _ zone: String, owner: String = "") -> NamedSubscription {
        NamedSubscription(id, .recordZone, zone: ZoneID(zone, owner: owner))
    }

    func with(_ change: (inout NamedSubscription) -> Void) -> NamedSubscription {
        var copy = self
        change(&copy)
        return copy
    }
}
