/// The results of a request's items, each list in the request's order.
public struct RequestResult: Sendable, Hashable {
    /// The version that each save created. For a zone that needed no save, its existing version; 0 for the default zone
    /// of a database without writes.
    public var saves: [Result<Version, Refusal>]
    /// The refusal of each delete; nil if the item was deleted or did not exist.
    public var deletes: [Refusal?]

    public init(saves: [Result<Version, Refusal>] = [], deletes: [Refusal?] = []) {
        self.saves = saves
        self.deletes = deletes
    }
}
