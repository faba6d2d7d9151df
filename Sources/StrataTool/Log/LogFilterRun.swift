import StrataLog
import StrataModel
import StrataStore

/// One run of `strata log`: its traversal of the log, and its output.
struct LogFilterRun {
    /// The interval for checking that the output still has a reader while following.
    private static let listenerMilliseconds = 100

    private let store: StoreAccess
    private let filter: LogFilter
    private let isReversed: Bool
    private let limit: UInt64?
    private let first: UInt64
    /// The last of the existing commits to print; `lastWanted` also limits the commits that arrive later.
    private let last: UInt64
    private let lastWanted: UInt64
    /// Checked only for commits that arrive while following: times never decrease.
    private let earliest: Int64
    private let subject: TouchedCommits.Subject?
    private var printer: LogFilterPrinter
    private let nameDamage: StrataError?
    /// Decrypts values; nil to leave them encrypted.
    let secrets: HistorySecrets?

    init(_ arguments: Arguments, _ filter: LogFilter, _ output: Output) throws {
        self.filter = filter
        isReversed = LogCommand.isReversed(arguments, to: output)
        limit = arguments[LogCommand.limit]
        let gathered = LogFilterNames()
        var store = try Self.open(arguments, filter, gathered, isReversed: isReversed)
        let range = try CommitRange(arguments, &store, by: LogCommand.name)
        var wanted = range.last
        if range.latestTime < Int64.max, let later = try store.firstOffset(notBefore: range.latestTime + 1) {
            wanted = min(wanted, later - 1)
        }
        lastWanted = wanted
        last = min(store.reader.end.offset, wanted)
        earliest = arguments[LogCommand.since] ?? Int64.min
        let isLastOfAll = limit != nil && filter.isEmpty
        let count = min(limit ?? last, last)
        first = isLastOfAll ? max(range.first, last + 1 - count) : range.first
        var names = KnownNames()
        let needsAllNames = isReversed || filter.asksChangesOnly || limit != nil && !filter.isEmpty
        nameDamage = try names.addAll(
            of: store, before: needsAllNames ? last + 1 : first,
            newest: isReversed || Self.gathersNames(arguments, filter) ? gathered.all : nil)
        subject = filter.subject(names)
        self.store = store
        secrets = try arguments[LogCommand.reveal] ? HistorySecrets(arguments.store, Self.allNames(of: store)) : nil
        printer = LogFilterPrinter(
            filter: filter, names: names, format: Self.format(arguments, filter, store, secrets),
            output: output)
    }

    private static func open(
        _ arguments: Arguments, _ filter: LogFilter, _ names: LogFilterNames, isReversed: Bool
    ) throws -> StoreAccess {
        let changes: LogFilterNames.Changes =
            if filter.asksChangesOnly, let record = filter.record {
                .record(record)
            } else if filter.asksChangesOnly || arguments[LogCommand.patch] {
                .all
            } else {
                .none
            }
        guard isReversed || gathersNames(arguments, filter) || changes != .none else {
            return try StoreAccess(arguments.store)
        }
        return try StoreAccess(arguments.store, touches: names.touches(changes))
    }

    /// Returns true if names are needed that commits before the first one have interned.
    private static func gathersNames(_ arguments: Arguments, _ filter: LogFilter) -> Bool {
        let options: [any OptionDescription] = [LogCommand.limit, LogCommand.from, LogCommand.since]
        return filter.asksChangesOnly || options.contains { arguments.has($0) }
    }

    private static func allNames(of store: StoreAccess) throws -> KnownNames {
        var names = KnownNames()
        _ = try names.addAll(of: store, before: store.reader.end.offset + 1)
        return names
    }

    private static func format(
        _ arguments: Arguments, _ filter: LogFilter, _ store: StoreAccess, _ secrets: HistorySecrets?
    ) -> any CommitFormat {
        let timeline = arguments[LogCommand.patch] ? ChangeTimeline(of: store.reader) : nil
        let patch = timeline.map { CommitPatch(timeline: $0, filter: filter, secrets: secrets) }
        if arguments[Option.json] { return CommitJSON(patch: patch) }
        let body = arguments[LogCommand.stat] ? CommitBody.stat : patch.map { .patch($0) } ?? .events
        return arguments[LogCommand.oneline] ? CommitLine(body: body) : CommitText(body: body)
    }

    // MARK: Existing commits

    /// - Throws: the first damage, after all readable commits are printed.
    mutating func printWhatIsThere() throws {
        let damage: StrataError?
        if first > last {
            damage = store.damage
        } else if isReversed {
            damage = try printReversed()
        } else if let limit, !filter.isEmpty {
            damage = try printLast(limit)
        } else {
            damage = try printForward()
        }
        try printer.reportUndecided()
        if let damage = damage ?? nameDamage { throw damage }
    }

    /// Returns the damage that was found, as do the functions below.
    private mutating func printForward() throws -> StrataError? {
        var supply: any CommitSupply =
            if let subject {
                LogFilterChanges(store, subject, from: first, through: last)
            } else {
                try CommitSource(store, from: first)
            }
        while let commit = try supply.next(), commit.offset <= last { _ = try printer.take(commit) }
        return supply.damage
    }

    private mutating func printReversed() throws -> StrataError? {
        var pages = LogFilterPages(store, subject, from: first, through: last)
        var rest = limit ?? UInt64.max
        while rest > 0, let commit = try pages.next() {
            if try printer.take(commit) { rest -= 1 }
        }
        return pages.damage
    }

    /// Finds the last commits from the end backwards, then prints them in order.
    private mutating func printLast(_ count: UInt64) throws -> StrataError? {
        var pages = LogFilterPages(store, subject, from: first, through: last)
        var offsets: [UInt64] = []
        while offsets.count < count, let commit = try pages.next() {
            if printer.fits(commit) { offsets.append(commit.offset) }
        }
        // Before damage only the part that the pages found intact may be readable.
        var (all, whole) = (CommitReads(store.reader), CommitReads(pages.reader))
        for offset in offsets.reversed() {
            let isInPart = offset <= pages.reader.end.offset
            let commit = try isInPart ? whole.commit(at: offset) : all.commit(at: offset)
            if let commit { try printer.write(commit) }
        }
        return pages.damage
    }

    // MARK: New commits

    /// Prints new commits until the output is closed or the last offset is reached.
    mutating func follow() throws {
        var source = try CommitSource(store, from: max(first, last + 1))
        while true {
            while source.nextOffset <= lastWanted, let commit = try source.next() {
                if commit.time >= earliest { _ = try printer.take(commit) }
            }
            try printer.reportUndecided()
            if let damage = source.damage { throw damage }
            guard source.nextOffset <= lastWanted else { return }
            try printer.output.flushToListener()
            try source.wait(milliseconds: Self.listenerMilliseconds)
        }
    }

    // MARK: Names

    /// The last commit of the store.
    var end: UInt64 { store.reader.end.offset }

    /// The sentence for an offset past the end.
    func absence(of offset: UInt64) -> String { store.reader.absence(of: offset) }

    /// Reports a requested name that nothing has.
    var unknownName: String? { filter.unknownName(printer.names).map { "\($0) up to offset \(last)" } }

    /// Reports why nothing was printed; nil if something was.
    ///
    /// - Throws: ``UsageError`` for a predicate that can never hold.
    var emptiness: String? {
        get throws {
            guard printer.printedCount == 0, limit != 0 else { return nil }
            try filter.condition?.requireFit()
            if end == store.reader.floor.offset { return nil }
            if first > last { return "no commit is in that range; this store has \(store.reader.commitsText())" }
            let isOfRefusals = filter.outcome == .refused || filter.kinds == [.requestRefused]
            return "no commit matches"
                + (isOfRefusals
                    ? "; the log has refusals only from times when the store option recordRefusals was on" : "")
        }
    }
}

/// Prints the commits that fit a filter, learning names on the way.
struct LogFilterPrinter {
    let filter: LogFilter
    private(set) var names: KnownNames
    let format: any CommitFormat
    let output: Output
    private(set) var undecidedCount = 0
    private(set) var printedCount = 0

    /// Returns true if the commit was printed.
    mutating func take(_ commit: Commit) throws -> Bool {
        let envelope = learn(commit)
        guard judge(commit, envelope) else { return false }
        printedCount += 1
        try format.write(commit, envelope, names, to: output)
        return true
    }

    /// Returns true if the commit would be printed.
    mutating func fits(_ commit: Commit) -> Bool {
        let envelope = learn(commit)
        return judge(commit, envelope)
    }

    /// Writes a commit that is known to fit.
    mutating func write(_ commit: Commit) throws {
        let envelope = learn(commit)
        printedCount += 1
        try format.write(commit, envelope, names, to: output)
    }

    private mutating func learn(_ commit: Commit) -> DecodedEnvelope {
        let envelope = commit.decoded
        guard case .success(let decoded) = envelope else { return envelope }
        for event in decoded.events where event.kind == .nameInterned {
            if let interned = try? InternedName(decoding: event.body) { names.add(interned) }
        }
        return envelope
    }

    private mutating func judge(_ commit: Commit, _ envelope: DecodedEnvelope) -> Bool {
        switch filter.judge(envelope, at: commit.time, names) {
        case .fits: return true
        case .doesNotFit: return false
        case .cannotTell:
            undecidedCount += 1
            return false
        }
    }

    /// Reports the number of commits that could not be checked against the filter.
    mutating func reportUndecided() throws {
        guard undecidedCount > 0 else { return }
        try output.flush()
        let commits = undecidedCount == 1 ? "1 commit has" : "\(undecidedCount) commits have"
        Diagnostics.remark(
            "\(commits) content that cannot be decoded and may match; without a filter it is printed",
            by: LogCommand.name)
        undecidedCount = 0
    }
}
