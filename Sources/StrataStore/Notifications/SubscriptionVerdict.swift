/// The result of matching a subscription with an event: it fires, or why it does not. Determined where pushes are
/// built.
package enum SubscriptionVerdict: String, Sendable, CaseIterable {
    case fires
    case otherDatabase
    case otherZone
    case otherType
    /// Only query subscriptions fire for changes in default zones.
    case defaultZone
    /// The zone itself changed, for which only subscriptions to databases, without a record type, fire.
    case zoneItself
    /// No record was saved or deleted: one got a new tag, or the zone changed. Query subscriptions do not fire for
    /// that.
    case noRecord
    case savedLater
    /// It fired for an earlier event of the commit, which is enough.
    case toldAlready
    /// Its options do not include the kind of change: a creation, an update or a deletion.
    case notAsked
    case predicateFails
    /// The predicate no longer fits the schema, or takes too long to evaluate.
    case predicateDoesNotFit
    /// Its user may not read the record.
    case notReadable
    /// The state to evaluate was removed or erased.
    case stateIsGone
    /// It fires once, and has fired.
    case usedUp
    /// It fires once, and the change came from the user's only device.
    case nobodyElse
}
