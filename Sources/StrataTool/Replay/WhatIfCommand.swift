import StrataLog
import StrataModel
import StrataReplay
import StrataRules
import StrataStore

/// `strata what-if`: a store's history with some of its requests changed.
enum WhatIfCommand: Command {
    static let name = "what-if"
    static let summary = "judge the history again with changes, and print what differs"
    static let details =
        "Judges all requests of the log again by the rules, in order and at their times, with the changes that the "
        + "options name. It prints each request with another outcome, with the commit that caused it, and the records "
        + "that differ at the end. A change tag that was never created is replaced by the one before it: if the "
        + "winning save of a conflict is dropped, the losing save succeeds. Refused requests are judged again if the "
        + "log has them. With --out the new history is saved as a store. If most commits after a change have no "
        + "request in the log or were erased, there is no answer: it says so and exits with 1, unless --leave-out is "
        + "given. Exits with 0 if nothing differs, and with 1 if a request had another outcome, a record differs at "
        + "the end, or nothing could be judged. The store is only read."

    static let drop = Option<ChosenChange>(
        name: "--drop", valueName: "OFFSET",
        help: "leave out the request of this commit; with ' participant:USER' after OFFSET only the invitation of a "
            + "user, by name or address, to a share, RECORD.participant:USER if it saved several shares",
        isRepeatable: true
    ) { text throws(UsageError) in try dropped(text) }
    static let edit = Option<ChosenChange>(
        name: "--edit", valueName: "OFFSET FIELD=VALUE",
        help: "change a value that this commit's request saved; RECORD.FIELD if it saved several records; of a share "
            + "publicPermission, or permission:USER, with none, readOnly, readWrite or removed",
        isRepeatable: true
    ) { text throws(UsageError) in try edited(text) }
    static let policy = Option<ChosenPolicy>(
        name: "--policy", valueName: "OFFSET=POLICY",
        help: "make this commit's request ask for if-server-record-unchanged, changed-keys or all-keys, also "
            + "spelled as in CloudKit, such as changedKeys; or "
            + "schema=enforced: saves declare no types and keys, or schema=open: they do",
        isRepeatable: true,
        words: ["=if-server-record-unchanged", "=changed-keys", "=all-keys", "schema=enforced", "schema=open"]
    ) { text throws(UsageError) in try policy(text) }
    static let insert = Option.text(
        "--insert", "FILE", help: "also save the records of this export, by --user after --at; - for standard input")
    static let at = Option.commit(
        "--at", from: 0, help: "the commit after which --insert saves")
    static let rules = Option<StoreOptions>.choice(
        "--rules", "NAME", [("service", .service), ("embedded", .embedded)],
        help: "judge as service or embedded stores do, by default as the log states, or else as service stores do")
    static let leaveOut = Option.flag(
        "--leave-out", help: "continue if most commits cannot be judged, and leave out those after the first change")
    static let out = Option.text(
        "--out", "NEWSTORE", help: "save the new history as a store; the path must not exist yet")

    static let options: [any OptionDescription] = [
        drop, edit, policy, insert, at, ImportCommand.user, rules, leaveOut, out, Option.json,
    ]
    static let examples = [
        "strata what-if Notes.strata --drop 1207",
        "strata what-if Notes.strata --drop '1207 participant:ben'",
        "strata what-if Notes.strata --edit 1207 milk.rank=3 --policy 1210=all-keys",
        "strata what-if Notes.strata --policy schema=enforced",
        "strata what-if Notes.strata --insert More.records --at 40 --user anna --out Other.strata",
    ]

    /// Output that arrives over time is not paged.
    static func isPaged(_ arguments: Arguments) -> Bool { false }

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        let given = try changes(arguments)
        var options = arguments[rules] ?? .service
        var schema: SchemaMode?
        for case .schema(let mode) in arguments.all(policy) { (schema, options.schema) = (mode, mode) }
        do {
            return try StateAccess.read(arguments.store, options: options, by: name, output) { access in
                var rerun = Rerun(of: access.store)
                let end = access.store.offset
                let changes =
                    try given.map { $0.change($0.commit.offset(upTo: end)) }
                    + insertions(arguments, access.store)
                rerun.changes = changes
                (rerun.rules, rerun.schema) = (arguments.has(rules) ? access.store.rules : nil, schema)
                try requireCommits(of: changes, in: access.store)
                rerun.progress = { Progress.note($0, of: $1) }
                if !arguments[leaveOut],
                    let reason = try access.tellingDamage({ try reasonNotToAnswer(rerun) })
                {
                    return try refuse(reason, arguments, output)
                }
                guard let path = arguments[out] else {
                    return try access.tellingDamage {
                        try WhatIfReport(arguments, output).write(nil) { try rerun.run(each: $0) }
                    }
                }
                // A closed pipe must not prevent the store from being created, or hide an error in doing so.
                output.defersErrors = true
                let code = try access.tellingDamage {
                    try WhatIfStore(path, of: access, arguments.store).make { log, didFinish in
                        try WhatIfReport(arguments, output).write(path) {
                            let report = try rerun.run(into: log, each: $0)
                            try didFinish(report.after.trees)
                            return report
                        }
                    }
                }
                output.defersErrors = false
                return code
            }
        } catch let error as StrataError where error.code == .alreadyExists {
            return Diagnostics.refuse(error.description, code: error.code, by: name)
        } catch let error as StrataError where [.invalidArgument, .outOfRange].contains(error.code) {
            try output.flush()
            throw UsageError(error.description)
        }
    }

    /// - Throws: ``Refusal`` for a change of a commit that the store does not have.
    private static func requireCommits(of changes: [RerunChange], in store: Store) throws {
        for change in changes {
            if case .insert = change { continue }
            guard change.offset > store.log.floor.offset, change.offset <= store.offset else {
                throw Refusal(
                    .invalidArguments, store.log.absence(of: change.offset, through: store.offset))
            }
        }
    }

    /// Returns the reason for refusing to answer, if most commits after the change cannot be judged; nil otherwise.
    private static func reasonNotToAnswer(_ rerun: Rerun) throws -> String? {
        guard let following = try rerun.countFollowingIfMostUnjudged() else { return nil }
        let place = rerun.changes.isEmpty ? "" : " after the first change"
        let unjudged =
            following.commits == 1
            ? "the only commit\(place) has no request in the log, or was erased,"
            : "\(following.unjudged) of the \(following.commits) commits\(place) have no request in the log, or were "
                + "erased,"
        return unjudged
            + " and cannot be judged again, so the outcome is not known; --leave-out judges the others anyway"
    }

    private static func refuse(_ reason: String, _ arguments: Arguments, _ output: Output) throws -> ExitCode {
        if arguments[Option.json] {
            try output.writeJSON(reason, as: WhatIfReport.noAnswer)
            try output.flush()
        }
        return Diagnostics.refuse(reason, code: .outcomeUnknown, by: name)
    }

    // MARK: Changes

    private static func changes(_ arguments: Arguments) throws -> [ChosenChange] {
        var changes = arguments.all(drop) + arguments.all(edit)
        for case .request(let change) in arguments.all(policy) { changes.append(change) }
        guard arguments.has(insert) else {
            if arguments.has(at) { throw UsageError("--at is for --insert FILE") }
            if arguments.has(ImportCommand.user) { throw UsageError("--user is for --insert FILE") }
            return changes
        }
        guard arguments.has(at) else { throw UsageError("--insert needs --at OFFSET, the commit after which to save") }
        guard let user = arguments[ImportCommand.user], !user.isEmpty else {
            throw UsageError("--insert needs --user NAME, who saves the records")
        }
        return changes
    }

    private static func insertions(_ arguments: Arguments, _ store: Store) throws -> [RerunChange] {
        guard let file = arguments[insert], let place = arguments[at], let user = arguments[ImportCommand.user] else {
            return []
        }
        let actor = Actor(user: user)
        return [.insert(try requests(in: file, as: actor, store), by: actor, after: place.offset(upTo: store.offset))]
    }

    private static func requests(in file: String, as actor: Actor, _ store: Store) throws -> [Request] {
        let lines = try LineReader(file)
        var requests: [Request] = []
        do {
            guard let header = try lines.next({ try ExportHeader(reading: $0) }), header.content == .records else {
                throw UsageError("--insert takes an export of records (strata export --records), and FILE is not one")
            }
            var records = RecordImport(
                header, lines, as: actor, named: { try store.snapshot().recordName(of: actor.user) }
            ) {
                requests.append($0)
                return RequestResult()
            }
            _ = try records.run()
        } catch let error as StrataError where error.isDamage { throw UsageError("--insert: \(error)") } catch let
            refusal as Refusal
        { throw UsageError("--insert: \(refusal.message)") }
        return requests
    }

    /// A change of a commit, which may be counted from the end of a store.
    struct ChosenChange: Sendable {
        let commit: CommitOperand
        let change: @Sendable (UInt64) -> RerunChange
    }

    private static func commit(_ text: some StringProtocol, of option: String) throws(UsageError) -> CommitOperand {
        try CommitOperand(String(text), as: option)
    }

    private static func dropped(_ text: String) throws(UsageError) -> ChosenChange {
        let parts = text.split(separator: " ", maxSplits: 1)
        let place = try commit(parts.first ?? "", of: "--drop")
        guard parts.count == 2 else { return ChosenChange(commit: place) { .drop($0) } }
        let word = "participant:"
        guard let found = parts[1].firstRange(of: word), found.upperBound < parts[1].endIndex else {
            throw UsageError("--drop takes OFFSET or OFFSET participant:USER; '\(text)' is neither")
        }
        let record = parts[1][..<found.lowerBound]
        guard record.isEmpty || record.count > 1 && record.last == "." else {
            throw UsageError("--drop takes OFFSET RECORD.participant:USER, not '\(text)'")
        }
        let name = String(parts[1][found.upperBound...])
        let share = record.isEmpty ? nil : String(record.dropLast())
        return ChosenChange(commit: place) { .dropParticipant($0, record: share, named: name) }
    }

    private static func edited(_ text: String) throws(UsageError) -> ChosenChange {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let sign = parts[1].firstIndex(of: "="), sign > parts[1].startIndex else {
            throw UsageError("--edit takes OFFSET FIELD=VALUE or OFFSET RECORD.FIELD=VALUE; '\(text)' is neither")
        }
        let value = EditedValue.text(String(parts[1][parts[1].index(after: sign)...]))
        let target = parts[1][..<sign]
        let place = try commit(parts[0], of: "--edit")
        func edit(_ record: Substring?, _ field: Substring) -> ChosenChange {
            let (record, field) = (record.map { String($0) }, String(field))
            return ChosenChange(commit: place) { .edit($0, record: record, field: field, to: value) }
        }
        // Record names may contain dots, keys may not, and addresses of participants may.
        if let permission = target.firstRange(of: ".permission:") {
            let field = target[target.index(after: permission.lowerBound)...]
            return edit(target[..<permission.lowerBound], field)
        }
        guard let dot = target.lastIndex(of: ".") else { return edit(nil, target) }
        return edit(target[..<dot], target[target.index(after: dot)...])
    }

    /// The policy for one request, or the schema mode for all.
    enum ChosenPolicy: Sendable {
        case request(ChosenChange)
        case schema(SchemaMode)
    }

    private static func policy(_ text: String) throws(UsageError) -> ChosenPolicy {
        let modes: [String: SchemaMode] = ["schema=enforced": .enforced, "schema=open": .open]
        if let mode = modes[text] { return .schema(mode) }
        let policies: [String: SavePolicy] = [
            "if-server-record-unchanged": .ifServerRecordUnchanged, "changed-keys": .changedKeys, "all-keys": .allKeys,
            "ifServerRecordUnchanged": .ifServerRecordUnchanged, "changedKeys": .changedKeys, "allKeys": .allKeys,
        ]
        let parts = text.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, let policy = policies[String(parts[1])] else {
            throw UsageError(
                "--policy takes OFFSET=if-server-record-unchanged, OFFSET=changed-keys, OFFSET=all-keys, "
                    + "schema=enforced or schema=open, not '\(text)'")
        }
        return .request(ChosenChange(commit: try commit(parts[0], of: "--policy")) { .policy($0, policy) })
    }
}
