/// A request to save subscriptions, and to delete subscriptions by their IDs.
package struct ModifySubscriptionsRequest: Sendable, Hashable {
    package var saves: [Subscription]
    package var deletes: [String]

    package init(saves: [Subscription] = [], deletes: [String] = []) {
        self.saves = saves
        self.deletes = deletes
    }

    func encode(into writer: inout ByteWriter) throws {
        try writer.appendList(saves) { save, writer in try writer.appendMeasured { try save.encode(into: &$0) } }
        try writer.appendList(deletes) { try $1.append(name: $0) }
    }

    init(from reader: inout ByteReader) throws {
        saves = try reader.readList("the number of saves") { reader in
            let length = try reader.readVarint("the length of a subscription")
            var save = try reader.readReader(count: length, "a subscription")
            let (subscription, original) = try Subscription.read(from: &save)
            guard original == nil else { throw save.malformed("a subscription", expected: "without a version") }
            return subscription
        }
        deletes = try reader.readList("the number of deletes") { try $0.readName("a subscription's id") }
        var fields = KeyedFields(restOf: &reader)
        try fields.skipAll()
    }
}
