/// What became of the items of a request, each list in the request's order.
public struct RequestResult: Sendable, Hashable {
    /// The version that a save made. Of a zone that was saved without need, the one it has; 0 for the default zone of a
    /// database that nobody has written to.
    public var saves: [Result<Version, Refusal>]
    /// Nil for what was deleted, or was not there.
    public var deletes: [Refusal?]

    public init(saves: [Result<Version, Refusal>] = [], deletes: [Refusal?] = []) {
        self.saves = saves
        self.deletes = deletes
    }
}
