import StrataModel
import StrataViews

/// `strata subscriptions`: the notifications that users have asked for.
enum SubscriptionsCommand: Command {
    static let name = "subscriptions"
    static let summary = "list the subscriptions of a user, or of all users"
    static let details =
        "Lists the subscriptions to every database that has been written to, with what makes them fire, what they "
        + "show, and the commit that last saved them. A subscription that fires only once is listed after it has fired "
        + "as long as a device may still have to be notified. It can run while another program writes to the store. "
        + "Exits with 1 if the user does not exist."

    static let user = Option.text("--user", "NAME", help: "only subscriptions of this user")
        .defaulting(to: .user)

    static let options: [any OptionDescription] = [user, Option.at, Option.json]
    static let examples = [
        "strata subscriptions Notes.strata --user anna", "strata subscriptions Notes.strata --json | jq .subscription",
    ]

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        try StateAccess.read(arguments, by: name, output) { access in
            let state = ContainerState(access.store)
            let user = try arguments[Self.user].map { try state.userOrdinal($0) }
            var count = 0
            func write(_ subscription: SubscriptionDetail) throws {
                count += 1
                guard arguments[Option.json] else { return try subscription.write(to: output) }
                try output.writeJSON(subscription)
            }
            try state.forEachDatabase { database in
                try state.trees.forEachSubscription(of: database.ordinal, user: user) { row in
                    try write(SubscriptionDetail(row.event, database.id, saved: row.version, in: state))
                    return true
                }
                try forEachFired(of: user, in: database, state, write)
            }
            if !arguments[Option.json] { try output.writeLine(count.counted("subscription")) }
            return .success
        }
    }

    private static func forEachFired(
        of user: UInt64?, in database: ContainerState.Database, _ state: ContainerState,
        _ body: (SubscriptionDetail) throws -> Void
    ) throws {
        func go(through user: UInt64) throws {
            try state.trees.forEachFiredSubscription(of: user) { fired in
                guard fired.event.database == database.ordinal else { return true }
                try body(SubscriptionDetail(fired.event, database.id, firedBy: fired.by, in: state))
                return true
            }
        }
        if let user { return try go(through: user) }
        try state.forEachUser { ordinal, _ in try go(through: ordinal) }
    }
}
