import StrataLog
import StrataModel
import StrataRules
import StrataStore
import StrataTree

/// A request of a minimal history.
public struct MinimalRequest: Sendable {
    /// Of its commit in the log it is taken from.
    public let offset: UInt64
    /// Of its commit in the minimal history; nil where it wrote nothing.
    public let newOffset: UInt64?
    public let actor: Actor
    public let operation: OperationInfo
    /// Microseconds since 1970.
    public let time: Int64
    public let commitID: Identifier
    /// What is asked. Versions in it are those of the minimal history.
    public let request: Request
    public let outcome: RequestOutcome
    /// What saves of records made, in the order of the request.
    public let saved: [Version?]
    /// Saves and deletes, and how many of them the log's commit was asked for.
    public let itemCount: Int
    public let originalItemCount: Int
    /// Keys that saves send, and how many there were.
    public let fieldCount: Int
    public let originalFieldCount: Int

    /// Whether the log's commit was asked for no more.
    public var isWhole: Bool { itemCount == originalItemCount && fieldCount == originalFieldCount }

    init(_ asked: RebuiltRequest, _ told: MinimisationTelling.Told, whole: (items: Int, fields: Int)) {
        (offset, newOffset, actor) = (asked.offset, told.newOffset, asked.actor)
        (operation, time, commitID) = (asked.operation, asked.time, asked.commitID)
        (request, outcome, saved) = (told.request, told.outcome, told.saved)
        itemCount = asked.request.itemCount
        fieldCount = asked.request.fieldCount
        (originalItemCount, originalFieldCount) = whole
    }
}

/// Few requests after which a record fulfils a predicate.
public struct MinimalHistory: Sendable {
    public let requests: [MinimalRequest]
    public let question: BisectionQuestion
    /// The base that the history begins with; 0 for an empty store.
    public let floor: UInt64
    let startTime: Int64
    let rules: Rules
    /// How many histories were tried.
    public let trialCount: Int
    /// Whether nothing can be left out any more: false where the search was stopped.
    public let isComplete: Bool

    /// Writes the history's commits, under the ids and times that they had.
    ///
    /// - Parameters:
    ///   - store: the one that the history is of.
    ///   - log: an empty one, or one that begins with the store's base.
    ///   - didFinish: gets the state at the end, once the log has all of it.
    public func write(
        of store: Store, into log: any EventLog, _ didFinish: (Snapshot) throws -> Void = { _ in }
    ) throws {
        guard log.end.offset == floor else {
            throw StrataError(
                .invalidArgument, "The minimal history's log has other commits.",
                .init(expected: "one that ends at \(floor)", found: "\(log.end.offset)"))
        }
        let base = floor == 0 ? nil : try store.asOf(floor)
        defer { try? base?.close() }
        let pages = try base?.pages ?? PageStore.inMemory()
        let timeline = RetoldTimeline(on: pages, time: base == nil ? .min : startTime, rules: rules, into: log)
        for request in requests {
            _ = try timeline.judge(
                request.request, as: request.actor, request.operation,
                at: .init(time: request.time, id: request.commitID))
        }
        try timeline.finish()
        try didFinish(pages.snapshot())
    }
}

extension Request {
    /// Saves and deletes, or 1 for what has no items.
    var itemCount: Int {
        switch content {
        case .modifyRecords(let body): body.saves.count + body.deletes.count
        case .modifyZones(let body): body.saves.count + body.deletes.count
        case .modifySubscriptions(let body): body.saves.count + body.deletes.count
        case .administer, .declareSchema, .notify: 1
        }
    }

    var fieldCount: Int {
        guard case .modifyRecords(let body) = content else { return 0 }
        return body.saves.reduce(0) { $0 + $1.fields.count }
    }
}
