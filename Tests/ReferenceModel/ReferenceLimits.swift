/// How much a request may ask for (docs/rules.md §2, §5.9, §5.11); small numbers make tests reach both sides of each.
package struct ReferenceLimits: Sendable, Hashable {
    package var itemsPerRequest: Int
    package var requestBytes: Int
    package var recordBytes: Int
    package var owningReferences: Int

    package init(itemsPerRequest: Int, requestBytes: Int, recordBytes: Int, owningReferences: Int) {
        self.itemsPerRequest = itemsPerRequest
        self.requestBytes = requestBytes
        self.recordBytes = recordBytes
        self.owningReferences = owningReferences
    }

    /// What CloudKit allows.
    package static let service = ReferenceLimits(
        itemsPerRequest: 400, requestBytes: 2_000_000, recordBytes: 1_000_000, owningReferences: 750)
    /// Limits that generated requests reach.
    package static let small = ReferenceLimits(
        itemsPerRequest: 9, requestBytes: 500, recordBytes: 220, owningReferences: 2)
    /// The same, with room for the state of a share, whose bytes the model does not know.
    package static let ofShares = ReferenceLimits(
        itemsPerRequest: 9, requestBytes: 20_000, recordBytes: 8_000, owningReferences: 2)
}
