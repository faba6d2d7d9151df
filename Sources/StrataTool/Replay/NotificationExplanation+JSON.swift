import StrataModel
import StrataReplay
import StrataStore

extension NotificationExplanation: Shaped {
    static let shape = Shape<Self>("Who was notified", "The output of `strata explain --notifications --json`.") {
        Key("offset", "of the commit") { $0.offset }
        Key("time", "when") { $0.time }
        Key("userName", "the user who made it, empty for the service") { $0.actor.user }
        Key("deviceName", "the device that made it") { $0.actor.device }
        Key("changes", "the changes to notify of", each: change) { $0.changes }
        Key("subscriptions", "the subscriptions that were evaluated", each: evaluation) { $0.subscriptions }
        Key("devices", "of their users", each: device) { $0.devices }
        Key("notes", "in words") { $0.notes }
    }

    private static let change = Shape<SubscriptionEvaluation.Change>("A change to notify of") {
        Key("changeTag", "of the version") { $0.version }
        Key(of: DatabaseID.scopeShape) { $0.database }
        Key("zoneName", "its zone") { $0.zone.name }
        Key("record", "its name", if: "of a record") { $0.record }
        Key("typeName", "its type", if: "of a record") { $0.type }
        Key("change", "`created`, `updated`, `deleted`, `tag`, `zone`") {
            $0.reason.map { "\($0)" } ?? ($0.isOfZone ? "zone" : "tag")
        }
    }

    private static let device = Shape<Device>("A device to notify") {
        Key("userName", "its user") { $0.user }
        Key("deviceName", "its name") { $0.name }
        Key("origin", "true if it made the commit") { $0.isOrigin }
        Key("known", "true if it had been seen by then") { $0.isKnown }
        Key("toldThrough", "the offset up to which it was notified", if: "if it is noted") { $0.toldThrough }
        Key("notedBy", "the commit that notes that it was notified of this one", if: "if one does") { $0.notedBy }
    }

    private static let evaluation = Shape<SubscriptionEvaluation>("A subscription that was asked") {
        Key("subscription", "its ID") { $0.subscription.id }
        Key("userName", "the user who owns it") { $0.user }
        Key(of: DatabaseID.scopeShape) { $0.database }
        Key("kind", "`query`, `zone`, `database`") { $0.subscription.kind.name }
        Key("typeName", "the record type that it is for", if: "if it is for one") { $0.subscription.recordType }
        Key("zoneName", "the zone that it is for", if: "if it is for one") { $0.subscription.zone?.name }
        Key("predicate", "its predicate for records", if: "if it has one") { $0.subscription.predicate.nonempty }
        Key("options", "as for a subscription") { $0.subscription.options.names.joined(separator: " ") }
        Key("saved", "of the event that saved it", if: "if it had not ended by then") { $0.saved }
        Key("firedBy", "of the event for which it fired", if: "if it was to fire once, and has") { $0.firedBy }
        Key("fires", "true if it fired for the commit") { $0.fires }
        Key("findings", "a finding for each change", each: finding) { $0.findings }
    }

    private static let finding = Shape<SubscriptionEvaluation.Finding>("A finding about a subscription") {
        Key("change", "its place in `changes`") { $0.change }
        Key(
            "verdict",
            "`fires`, `otherDatabase`, `otherZone`, `otherType`, `defaultZone`, `zoneItself`, `noRecord`, "
                + "`savedLater`, `toldAlready`, `notAsked`, `predicateFails`, `predicateDoesNotFit`, `stateIsGone`, "
                + "`usedUp`, `nobodyElse`"
        ) { $0.verdict.rawValue }
        Key("heldBefore", "true if the record matched the predicate", if: "if it was evaluated") { $0.heldBefore }
        Key("holdsAfter", "true if the record matches it now", if: "if it was evaluated") { $0.holdsAfter }
    }
}
