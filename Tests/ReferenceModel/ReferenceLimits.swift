/// How much a request may ask for (docs/rules.md §2, §5.9, §5.11); small numbers make tests reach both sides of each.
public struct ReferenceLimits: Sendable, Hashable {
    public var itemsPerRequest: Int
    public var requestBytes: Int
    public var recordBytes: Int
    public var owningReferences: Int

    public init(itemsPerRequest: Int, requestBytes: Int, recordBytes: Int, owningReferences: Int) {
        self.itemsPerRequest = itemsPerRequest
        self.requestBytes = requestBytes
        self.recordBytes = recordBytes
        self.owningReferences = owningReferences
    }

    /// What CloudKit allows.
    public static let service = ReferenceLimits(
        itemsPerRequest: 400, requestBytes: 2_000_000, recordBytes: 1_000_000, owningReferences: 750)
    /// Limits that generated requests reach.
    public static let small = ReferenceLimits(
        itemsPerRequest: 9, requestBytes: 500, recordBytes: 220, owningReferences: 2)
}
