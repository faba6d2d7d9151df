import StrataLog
import StrataModel
import StrataReplay

/// Writes the explanation of an answer as JSON.
enum ExplanationJSON {
    /// An explanation, and the commit if its events are printed.
    typealias Line = (why: Explanation, told: CommitJSON.Line?)

    static let shape = Shape<Line>("An explanation") {
        Key("offset", "of the commit that is explained") { $0.why.offset }
        Key("time", "when") { $0.why.time }
        Key(
            "userName", "who made the request, empty if not signed in or not recorded, `_service` for the service"
        ) { $0.why.actor.user }
        Key("deviceName", "the device that made it, may be empty") { $0.why.actor.device }
        Key("operationKind", "as for a commit") { "\($0.why.operation)" }
        Key(
            "outcome", "`accepted`, `acceptedInPart`, `refused`, `nothingToDo`, `withoutRequest`"
        ) { $0.why.outcome.rawValue }
        Key(
            "scope", "of the database that the request was for: `public`, `private`, `shared`",
            if: "if the request was kept"
        ) { $0.why.database?.scope.name }
        Key("ownerName", "of that database, empty for the public one", if: "if known") { $0.why.database?.owner }
        Key("policy", "how tags are compared", if: "saves and deletes of records") { $0.why.policy?.name }
        Key(
            "atomic", "true if a zone's items succeed or fail together",
            if: "saves and deletes of records"
        ) { $0.why.isAtomic }
        Key("asked", "what was asked, in words", if: "requests without items, if they were kept") { $0.why.asked }
        Key("judgedAt", "offset of the state it was judged on, null if it is not recorded, or was compacted away") {
            $0.why.judgedAt
        }
        Key("code", "number of the error of the whole request", if: "if it failed as a whole") { $0.why.code?.rawValue }
        Key("message", "the message that the client received", if: "if it failed as a whole") { $0.why.message }
        Key("rules", "the rules that decided the request as a whole", each: rule) { $0.why.rules }
        Key("facts", "relevant facts of the state", each: fact) { $0.why.facts }
        Key("items", "each save and delete of the request", each: item) { $0.why.items }
        Key("effects", "what the commit changed besides its items", each: CommitEffect.shape, if: "if anything") {
            $0.why.effects.isEmpty ? nil : $0.why.effects
        }
        Key("syncEngine", "the send it belongs to", as: sync, if: "if a sync engine sent it") { $0.why.sync }
        Key("notes", "the parts that cannot be determined, in words") { $0.why.notes }
        Key(
            "events", "the commit's events, as for a commit", each: EventJSON.shape,
            if: "if `outcome` is `withoutRequest`"
        ) { line in line.told.flatMap { told in told.decoded.map { EventJSON.lines(of: $0, in: told) } } }
    }

    private static let sync = Shape<SyncEngineSend>("A send of a sync engine") {
        Key("scope", "of the engine's database: `private`, `shared`") { $0.scope.name }
        Key("groupID", "the operation group of the send") { $0.groupID }
        Key("groupName", "its name, may be empty") { $0.groupName }
        Key("place", "the place of this request in the list, from 0") { $0.place }
        Key("requests", "those of the group among the 1,024 commits before and after", each: request) { $0.requests }
    }

    private static let request = Shape<SyncEngineSend.Request>("A request of a sync engine") {
        Key("offset", "of its commit, or of the audit of its refusal") { $0.offset }
        Key("operationKind", "as for a commit") { "\($0.kind)" }
        Key("refused", "true if nothing of it was accepted") { $0.isRefused }
    }

    private static let rule = Shape<ExplanationRule>("A rule of an explanation") {
        Key("number", "as docs/rules.md and the tests number it") { $0.number }
        Key("sentence", "its text") { $0.sentence }
        Key("finding", "its result in this case", if: "if there is one") { $0.finding.nonempty }
    }

    private static let fact = Shape<Explanation.Fact>("A fact of an explanation") {
        Key("text", "in words") { $0.text }
        Key("offset", "of the commit that caused it", if: "if it is known") { $0.offset }
    }

    private static let item = Shape<Explanation.Item>("An item of an explanation") {
        Key("list", "`saves` or `deletes`") { "\($0.list)" }
        Key("index", "its place in the list, from 0") { $0.index }
        Key("zoneName", "zone of the record", if: "records") { $0.zone?.name }
        Key("name", "of the record, the zone or the subscription, empty if the request was not kept") { $0.name }
        Key("code", "number of its error", if: "if it failed") { $0.code?.rawValue }
        Key("bystander", "true if it failed only because another item did", if: "if it failed") { item in
            item.code.map { _ in item.isBystander }
        }
        Key("message", "the message that the client received", if: "if it failed and that is known") { $0.message }
        Key("rules", "the rules that decided it", each: rule) { $0.rules }
        Key("facts", "relevant facts of the state", each: fact) { $0.facts }
        Key("base", "that the client named", if: "if it did") { $0.base }
        Key("stored", "of the version that the store had", if: "if that was the reason, or a later one than `base`") {
            $0.stored
        }
        Key("made", "of the version that the save created", if: "if it was accepted") { $0.made }
        Key("pending", "true if the engine sends it again", if: "if a sync engine sent it and it failed") {
            $0.staysPending
        }
        Key("conflict", "three states of the record", as: conflict, if: "if the stored version differs") { $0.conflict }
    }

    private static let conflict = Shape<RecordConflict>("A conflict") {
        Key("ancestor", "`known`, `none`, `letGo`, `erased`, `unknown`") { $0.ancestor.rawValue }
        Key("serverKnown", "true if the log still has the version that the store had") { $0.isServerKnown }
        Key("fields", "its fields", each: field) { $0.fields }
        Key("changes", "events of the record in between", each: change) { $0.changes }
        Key("earlierChanges", "how many events came before those") { $0.earlierChangeCount }
        Key("notes", "the parts that cannot be determined, in words") { $0.notes }
    }

    private static let field = Shape<RecordConflict.Field>("A field of a conflict") {
        Key("fieldName", "its name") { $0.key }
        Key("sent", "true if the client sent it") { $0.isSent }
        Key("side", "`client`, `server`, `same`, `conflict`, `unchanged`, `unknown`") { $0.side.rawValue }
        Key("ancestor", "the value in the version that the client had") { $0.ancestor }
        Key("client", "the value that it would have with the save") { $0.client }
        Key("server", "the value that the store had") { $0.server }
    }

    private static let change = Shape<RecordConflict.Change>("A change in between") {
        Key("offset", "of the commit") { $0.version.offset }
        Key("changeTag", "of the version") { $0.version }
        Key("time", "when") { $0.time }
        Key("userName", "the user who made it") { $0.user }
        Key("deviceName", "the device that made it") { $0.device }
        Key("change", "`saved`, `tagged`, `deleted`, `erased`") { $0.kind.rawValue }
        Key("fieldNames", "the fields that it set", if: "if they are known") { $0.keys }
    }
}
