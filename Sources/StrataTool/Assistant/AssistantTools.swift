/// The questions that `strata mcp` answers.
enum AssistantTools {
    typealias Parameter = AssistantTool.Parameter

    private static let zone = Parameter.option("zone", "name of the zone")
    private static let owner = Parameter.option("owner", "name of the user whose private database it is")
    private static let user = Parameter.option("user", "name of the user who asks; by default the service")
    private static let at = Parameter.option(
        "at", "the state after this commit, or at this time; the newest by default")
    private static let database = Parameter.option(
        "database", .word(["public", "private", "shared"]), "the database; found by the other arguments by default")
    private static let limit = Parameter.option("limit", .number, as: "-n", "at most so many; 20 unless told")
        .usually("20")

    static let all: [AssistantTool] = [
        AssistantTool(
            name: "doctor", command: "doctor",
            text: "Lists everything suspicious in the store, the worst first: values that saves overwrote unseen (with "
                + "field, ancestor, overwritten and written value, and both commits), deletions, lost access, refusals "
                + "and more. Begin here.",
            parameters: [
                .option("kind", .word(kinds), "only findings of this kind"), .option("since", "only since this time"),
                limit,
            ]),
        AssistantTool(
            name: "log", command: "log",
            text: "Lists commits with their events and changed values, oldest first.",
            parameters: [
                .option("user", "only commits of this user"), .option("device", "only commits of this device"), zone,
                .option("record", "only commits that changed a record of this name"),
                .option("type", "only commits that changed records of this type"),
                .option("where", "only commits after which a changed record fits this NSPredicate format"),
                .option("outcome", .word(["committed", "refused", "all"]), "what was accepted, refused, or both"),
                .option("from", .number, "the first commit"), .option("to", .number, "the last commit"),
                limit,
            ], fixed: ["--json", "--patch"]),
        AssistantTool(
            name: "history", command: "history",
            text: "Lists the versions of a record with what each changed, and who made it.",
            parameters: [.operand("record", "name of the record"), zone, owner]),
        AssistantTool(
            name: "explain", command: "explain",
            text: "Explains why a commit's request was accepted or refused: the rules, the record's versions that the "
                + "client and the store had, and the facts with the commits that made them.",
            parameters: [
                .operand("offset", .number, "the commit"),
                .option("notifications", .flag, "explain instead which subscriptions it fired, and why others did not"),
            ]),
        AssistantTool(
            name: "access", command: "access",
            text: "Explains whether a user may read and write a record, and why, or why not.",
            parameters: [.operand("record", "name of the record"), user.required, owner, zone, at]),
        AssistantTool(
            name: "device", command: "device",
            text: "Explains what a device was given of a user's zones, and whether it knows a record's newest state.",
            parameters: [
                .operand("user", "name of the user"), .operand("device", "name of the device"),
                .option("record", "name of a record"), zone, at,
            ]),
        AssistantTool(
            name: "query", command: "query",
            text: "Returns the records of a type for which a predicate holds, now or at a moment. To learn why a "
                + "record is not among them, ask for parts of the predicate.",
            parameters: [
                .operand("type", "the record type"),
                .operand("predicate", "in NSPredicate format, such as qty > 3", isRequired: false), user, owner,
                database, zone, at, .option("limit", .number, "at most so many"),
            ]),
        AssistantTool(
            name: "what_if", command: "what-if",
            text: "Judges the history again without a commit, and lists what would be different.",
            parameters: [Parameter.option("drop", "the commit, or 'COMMIT ITEM' for one of its items").required]),
        AssistantTool(
            name: "minimize", command: "minimize",
            text: "Finds the fewest commits after which a predicate holds for a record of a type.",
            parameters: [
                .operand("type", "the record type"), Parameter.option("where", "the predicate").required, user, owner,
                database, zone, at,
            ]),
    ]

    private static let kinds = Finding.Kind.allCases.map(\.rawValue)
}
