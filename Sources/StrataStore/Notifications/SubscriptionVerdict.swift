/// Whether a subscription fires for an event, or what keeps it from that. It is found where pushes are made.
public enum SubscriptionVerdict: String, Sendable, CaseIterable {
    case fires
    case otherDatabase
    case otherZone
    case otherType
    /// Of what happens in default zones only queries are told.
    case defaultZone
    /// Not a record but the zone changed, of which only subscriptions to databases, to any type, are told.
    case zoneItself
    /// No record was saved or deleted: one got a new tag, or the zone changed. Queries are not told.
    case noRecord
    case savedLater
    /// It fired for an earlier event of the commit; once is enough.
    case toldAlready
    /// Its options do not have what happened: a creation, an update or a deletion.
    case notAsked
    case predicateFails
    /// The predicate does not fit any more what there is.
    case predicateDoesNotFit
    /// What would be asked of was let go or erased.
    case stateIsGone
    /// It was to fire once, and has.
    case usedUp
    /// It fires once, and the user's only device made the change itself.
    case nobodyElse
}
