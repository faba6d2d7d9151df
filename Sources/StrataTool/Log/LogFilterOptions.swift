import StrataModel

/// The options that select commits by their content.
enum LogFilterOptions {
    static let user = Option.text(
        "--user", "NAME",
        help: "commits of this user, and what the console did to the user's requests; \(LogFilter.systemName) for "
            + "commits without a user")
    static let device = Option.text("--device", "NAME", help: "commits from this device")
    static let group = Option.text("--group", "GROUP", help: "commits of the operation group with this id or name")
    static let kind = Option<EventKind>(
        name: "--kind", valueName: "EVENTKIND",
        help: "commits with an event of this kind, by its printed name, such as \"record saved\"; repeat for more",
        isRepeatable: true, words: EventKind.known.map(\.name)
    ) { text throws(UsageError) in try eventKind(named: text) }
    static let outcome = Option<LogFilter.Outcome>.choice(
        "--outcome", "OUTCOME", LogFilter.Outcome.allCases.map { ($0.rawValue, $0) }, suggests: true,
        help: "committed: events that were committed; refused: requests, or parts of them, that were refused, and "
            + "failures that the console injected into a device; all: both, the default without --zone and --record")
    static let database = Option<InternedName.Scope>.choice(
        "--database", "SCOPE", DatabaseOptions.scopes, suggests: true,
        help: "events of a public, private or shared database")
    static let owner = Option.text("--owner", "NAME", help: "events of a database of this user")
    static let zone = Option.text("--zone", "NAME", help: "changes of zones with this name and their records")
    static let record = Option.text("--record", "NAME", help: "changes of records with this name")
    static let type = Option.text("--type", "NAME", help: "events about this record type")
    static let condition = Option<LogFilterCondition>(
        name: LogFilterCondition.argument, valueName: "PREDICATE",
        help: "saves whose fields match this, such as \"rank > 3\"; keys that a save does not set are nil"
    ) { text throws(UsageError) in
        LogFilterCondition(try QueryRequest.predicate(text, of: LogFilterCondition.argument))
    }

    static let all: [any OptionDescription] = [
        user, device, group, kind, outcome, database, owner, zone, record, type, condition,
    ]

    private static func eventKind(named text: String) throws(UsageError) -> EventKind {
        if let known = EventKind.known.first(where: { $0.name == text }) { return known.kind }
        // Kinds of a later release, in the form in which they are printed.
        let unknown = text.split(separator: " ").last.flatMap { UInt64($0) }.map { EventKind(rawValue: $0) }
        if let unknown, unknown.description == text { return unknown }
        throw UsageError(
            "--kind: there is no event kind '\(text)'",
            suggestion: Suggestion.closest(to: text, among: EventKind.known.map(\.name)).map { "'\($0)'" })
    }

    /// - Throws: ``UsageError`` for options that no event can satisfy together.
    static func filter(_ arguments: Arguments) throws(UsageError) -> LogFilter {
        var filter = LogFilter()
        filter.user = arguments[user]
        filter.device = arguments[device]
        filter.group = arguments[group]
        filter.kinds = Set(arguments.all(kind))
        filter.outcome = arguments[outcome]
        filter.scope = arguments[database]
        filter.owner = arguments[owner]
        filter.zone = arguments[zone]
        filter.record = arguments[record]
        filter.type = arguments[type]
        filter.condition = arguments[condition]
        try check(filter)
        return filter
    }

    private static func check(_ filter: LogFilter) throws(UsageError) {
        if filter.scope == .public, filter.owner != nil {
            throw UsageError("--database public has no owner: omit --owner, or use private or shared")
        }
        let isRefused = filter.outcome == .refused
        if isRefused, filter.condition != nil {
            throw UsageError("--where and --outcome refused cannot be combined: refused requests set no fields")
        }
        if filter.kinds.isEmpty { return }
        if isRefused, !filter.kinds.contains(.requestRefused) {
            throw UsageError("--outcome refused allows no --kind except '\(EventKind.requestRefused)'")
        }
        if filter.outcome == .committed, filter.kinds == [.requestRefused] {
            throw UsageError("--outcome committed and --kind '\(EventKind.requestRefused)' cannot be combined")
        }
        if filter.condition != nil, !filter.kinds.contains(.recordSaved) {
            throw UsageError("--where matches only events of --kind '\(EventKind.recordSaved)'")
        }
    }
}
