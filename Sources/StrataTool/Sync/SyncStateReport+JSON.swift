import StrataModel
import StrataStore

extension SyncStateReport: Shaped {
    static let shape = Shape<Self>("The state of a sync engine") {
        Key("offset", "of the store's state") { $0.offset }
        Key("userName", "the user whose device it is") { $0.actor.user }
        Key("deviceName", "its name") { $0.actor.device }
        Key(of: DatabaseID.scopeShape) { $0.database }
        Key("used", "true if an engine of the device would start from it") { $0.reasonUnused == nil }
        Key("reason", "why not", if: "if not") { $0.reasonUnused }
        Key("storeID", "id of the store that it is for", if: "if it has one") { $0.state.store }
        Key("userRecordName", "the last known user", if: "if there was one") { $0.state.user }
        Key("subscriptionID", "the subscription in use", if: "after the first sync") { $0.state.subscriptionID }
        Key("lastFetch", "when the last fetch ended", if: "if there was one") { $0.lastFetch }
        Key("lastPush", "when the last push came", if: "if there was one") { $0.lastPush }
        Key("untracked", "true if there are changes to send that are not listed") { $0.state.hasUntrackedChanges }
        Key("token", "of the database", as: TokenReport.shape, if: "if there is one") { $0.databaseToken }
        Key("next", "the zones that the next fetch would name", as: fetch, if: "if it is used") { $0.next }
        Key("zones", "the zones that it or the next fetch names", each: zone) { $0.zones }
        Key("pending", "the changes of records to send, in their order", each: change) { $0.state.recordChanges }
    }

    private static let fetch = Shape<Fetch>("What a fetch would bring") {
        Key("changed", "how many have changed") { $0.changed }
        Key("deleted", "how many were deleted") { $0.deleted }
        Key("pages", "in how many pages") { $0.pages }
        Key("restart", "why it would begin without a token", if: "if so") { $0.restart }
        Key("code", "number of the error", if: "if it would fail") { $0.refusal?.code.rawValue }
        Key("message", "the message of the error", if: "if it would fail") { $0.refusal?.message }
    }

    private static let zone = Shape<Zone>("A zone of a sync engine") {
        Key("zoneName", "its name") { $0.zone.name }
        Key("ownerName", "record name of its owner", if: "if that is another user") { $0.zone.owner.nonempty }
        Key("there", "true if it exists") { $0.isThere }
        Key("change", "`save` or `delete`: a change of the zone to send", if: "if there is one") { zone in
            zone.change.map { $0 == .delete ? "delete" : "save" }
        }
        Key("saves", "how many saves of records are to be sent") { $0.saveCount }
        Key("deletes", "how many deletes of records are to be sent") { $0.deleteCount }
        Key("unfetched", "true if the engine knows of changes that it has not fetched") { $0.isUnfetched }
        Key("token", "of the zone", as: TokenReport.shape, if: "if there is one") { $0.token }
        Key("next", "the records that the next fetch would bring", as: fetch, if: "if it asks for them") { $0.next }
    }

    private static let change = Shape<(record: RecordID, isSave: Bool)>("A change to send") {
        Key("kind", "`save` or `delete`") { $0.isSave ? "save" : "delete" }
        Key("zoneName", "zone of the record") { $0.record.zone.name }
        Key("ownerName", "record name of the zone's owner", if: "if that is another user") {
            $0.record.zone.owner.nonempty
        }
        Key("record", "its name") { $0.record.name }
    }
}
