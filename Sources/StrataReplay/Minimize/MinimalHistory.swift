import StrataLog
import StrataModel
import StrataRules
import StrataStore
import StrataSystem
import StrataTree
import StrataViews

/// A request of a minimal history.
public struct MinimalRequest: Sendable {
    /// The offset of its commit in the original log.
    public let offset: UInt64
    /// The offset of its commit in the minimal history; nil if it wrote nothing.
    public let newOffset: UInt64?
    public let actor: Actor
    package let operation: OperationInfo
    /// Microseconds since 1970.
    public let time: Int64
    public let commitID: Identifier
    /// The request itself, with versions of the minimal history.
    public let request: Request
    public let outcome: RequestOutcome
    /// The versions that saves of records made, in the order of the request.
    public let saved: [Version?]
    /// The number of saves, deletes, shares to join and changes of shares, here and in the original request.
    public let itemCount: Int
    public let originalItemCount: Int
    /// The number of keys that saves send, here and in the original request.
    public let fieldCount: Int
    public let originalFieldCount: Int

    /// The shares whose tokens a request to join shares has, in its order; nil for a token of no share.
    let shares: [JoinedShare?]
    /// The shares that it saved, with the tokens of their URLs.
    let made: [ShareSavedEvent]

    /// True if nothing of the original request was left out.
    public var isWhole: Bool { itemCount == originalItemCount && fieldCount == originalFieldCount }

    init(
        _ asked: RebuiltRequest, judgedAs request: Request, _ judged: AlternateTimeline.Judged,
        whole: (items: Int, fields: Int), shares: [JoinedShare?]
    ) throws {
        self.shares = shares
        made = try judged.written.map { try SavedVersions.shares(of: $0.payload) } ?? []
        (offset, newOffset, actor) = (asked.offset, judged.written?.offset, asked.actor)
        (operation, time, commitID) = (asked.operation, asked.time, asked.commitID)
        (self.request, outcome, saved) = (request, judged.judgment.outcome(of: request), judged.saved)
        itemCount = asked.request.itemCount
        fieldCount = asked.request.fieldCount
        (originalItemCount, originalFieldCount) = whole
    }
}

/// A minimal set of requests after which a record matches a predicate.
public struct MinimalHistory: Sendable {
    public let requests: [MinimalRequest]
    public let question: BisectionQuestion
    /// The offset of the base that the history begins with; 0 for an empty store.
    public let floor: UInt64
    let startTime: Int64
    let rules: Rules
    /// The names of the records of the users who made the requests.
    var recordNames: [ExactName: String] = [:]
    /// The number of histories tried.
    public let trialCount: Int
    /// True if nothing more can be left out; false if the search was stopped.
    public let isComplete: Bool

    /// Writes the history's commits with their original IDs and times.
    ///
    /// - Parameters:
    ///   - store: the store that the history was taken from.
    ///   - log: an empty log, or one that begins with the store's base.
    ///   - didFinish: receives the state at the end, after the log has all commits.
    package func write(
        of store: Store, into log: any EventLog, _ didFinish: (Snapshot) throws -> Void = { _ in }
    ) throws {
        try log.requireEnd(at: floor)
        let base = floor == 0 ? nil : try store.asOf(floor)
        defer { try? base?.close() }
        let trees = try base?.trees ?? Views.emptyTrees()
        // The history is handed on, so without the store's base it has a secret of its own.
        var (rules, tokens) = (rules, [String: String]())
        if base == nil { rules.secrets.newSecret = StoreSecret(from: SystemRandom()) }
        let names = store.snapshot()
        rules.secrets.recordedName = { try names.recordName(of: $0) }
        let timeline = try AlternateTimeline(on: trees, time: base == nil ? .min : startTime, rules: rules, into: log)
        for request in requests {
            let judged = try timeline.judge(
                request.request.mapping(tokens: tokens), as: request.actor, request.operation,
                at: .init(time: request.time, id: request.commitID) { request.made })
            guard let payload = judged.written?.payload else { continue }
            for (old, new) in try SavedVersions.movedTokens(from: request.made, to: payload) { tokens[old] = new }
        }
        try timeline.finish()
        try didFinish(trees.snapshot())
    }
}

extension Request {
    /// The number of saves, deletes, shares to join and changes of shares, or 1 for a request without items.
    var itemCount: Int {
        guard let counts = itemCounts else { return 1 }
        var count = counts.saves + counts.deletes
        guard case .modifyRecords(let body) = content else { return count }
        for save in body.saves { count += save.sharing?.parts.count ?? 0 }
        return count
    }

    var fieldCount: Int {
        guard case .modifyRecords(let body) = content else { return 0 }
        return body.saves.reduce(0) { $0 + $1.fields.count }
    }
}
