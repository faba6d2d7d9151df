import StrataModel
import StrataReplay
import StrataStore

/// `strata explain`: the reasons for the answer to a request, or for its notifications.
enum ExplainCommand: Command {
    static let name = "explain"
    static let summary = "explain why a request was refused or accepted, or who was notified"
    static let details =
        "For a refusal, if the store keeps refusals: the rule that decided, on which state, and what that state "
        + "held. For a save that met another version than the client knew, also if it was accepted: the three states "
        + "side by side and the commits in between. For a deletion, the records that went with it. For a share, an "
        + "account or tokens, what changed. The log records the request, who made it, the state and the rules, so the "
        + "request is judged once again; what an older log does not record, it says. With --notifications: which "
        + "subscriptions were checked for a commit, which fired, and why the others did not. For a request of a "
        + "CKSyncEngine: the other requests of its send, and which failed changes stay pending. For a commit without a "
        + "request it prints what the commit did. It can run while another program writes to the store. Exits with 1 "
        + "if there is no such commit."

    static let notifications = Option.flag(
        "--notifications", help: "print which subscriptions the commit fired, and why the others did not fire")
    static let user = Option.text("--user", "NAME", help: "with --notifications: only subscriptions of this user")
    static let device = Option.text("--device", "NAME", help: "with --notifications: only this device of the user")

    static let operands = [Operand.store, CommitOperand.operand]
    static let options: [any OptionDescription] = [notifications, user, device, Option.json]
    static let examples = [
        "strata explain Notes.strata 12", "strata explain Notes.strata 12 --json | jq .items",
        "strata explain Notes.strata 11 --notifications --user anna --device phone",
    ]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        let operand = try CommitOperand(arguments.operands[1])
        let (user, device) = (arguments[Self.user], arguments[Self.device])
        if !arguments[notifications], user != nil || device != nil {
            throw UsageError("--user and --device are for --notifications")
        }
        if device != nil, user == nil { throw UsageError("--device needs --user, whose device it is") }
        return try StateAccess.read(arguments.store, by: name, output) { access in
            let isJSON = arguments[Option.json]
            let offset = operand.offset(upTo: access.store.offset)
            do {
                if arguments[notifications] {
                    let why = try NotificationExplanation.of(offset, in: access.store, user: user, device: device)
                    try isJSON ? output.writeJSON(why) : why.write(to: output)
                } else {
                    let why = try Explanation.of(offset, in: access.store)
                    try write(why, arguments.store, asJSON: isJSON, output)
                }
            } catch let error as StrataError where [.outOfRange, .invalidArgument].contains(error.code) {
                // The commit may be in the part that damage makes unreadable.
                if let damage = access.damage { throw damage }
                let store = access.store
                let isThere = offset > store.log.floor.offset && offset <= store.offset
                return Diagnostics.refuse(
                    isThere ? "\(error)" : store.log.absence(of: offset, through: store.offset), by: name)
            }
            return .success
        }
    }

    /// Writes an explanation, or the commit's events if it has no request to explain.
    static func write(_ why: Explanation, _ path: String, asJSON: Bool, _ output: Output) throws {
        let told = why.outcome == .withoutRequest ? try commit(at: why.offset, path) : nil
        if asJSON { return try output.writeJSON((why, told), as: ExplanationJSON.shape) }
        try why.write(to: output)
        if let told, let envelope = told.decoded { try CommitText.write(envelope.events, told.names, to: output) }
    }

    private static func commit(at offset: UInt64, _ path: String) throws -> CommitJSON.Line? {
        let store = try StoreAccess(path)
        var names = KnownNames()
        // Show the commit even if damage hides the names.
        _ = try names.addAll(of: store, before: offset)
        guard let commit = try store.reader.commit(at: offset) else { return nil }
        names.add(from: commit.payload)
        return CommitJSON.Line(
            commit: commit, envelope: .success(try Envelope(decoding: commit.payload)), names: names)
    }
}
