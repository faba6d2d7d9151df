import StrataLog
import StrataModel
import StrataRules
import StrataTree
import StrataViews

/// A history that continues from a state: judges requests in order, each at a given time and under a given ID.
final class AlternateTimeline {
    /// Limits for commits that are folded and not yet published, since they take memory.
    private static let publishedCommits = 16_384
    private static let publishedBytes = 16 << 20
    private static let appendedBytes = 4 << 20

    /// The outcome of a request.
    enum Judged {
        case commit(offset: UInt64, payload: [UInt8], result: RequestResult)
        case nothing(RequestResult)
        /// The device had sent the request before.
        case repeats
        case refused(Refusal)
    }

    /// The time at which a commit is written, and its ID.
    struct Place {
        var time: Int64
        var id: Identifier
    }

    private let pages: PageStore
    private let rules: Rules
    private let log: (any EventLog)?
    private(set) var view: RulesView
    private var waiting: [NewCommit] = []
    private var waitingBytes = 0
    private var unpublished = (commits: 0, bytes: 0)
    private(set) var end: UInt64
    private var lastTime: Int64

    var fork: Fork { view.fold.fork }

    /// Returns the encoded state of a record; nil if there is none.
    func state(of record: RecordKey) throws -> [UInt8]? { try view.fold.withRecord(record) { [UInt8]($0) } }

    /// - Parameters:
    ///   - pages: the history continues from their newest state.
    ///   - log: receives the commits; it ends where the state does.
    init(on pages: PageStore, time: Int64, rules: Rules, into log: (any EventLog)?) {
        self.pages = pages
        self.rules = rules
        self.log = log
        view = RulesView(Fold(pages.fork()))
        end = view.fold.offset
        lastTime = time
    }

    // MARK: Deciding

    /// Returns what the rules decide about a request here; nothing is written.
    func decide(
        _ request: Request, as actor: Actor, _ operation: OperationInfo, time: Int64
    ) throws -> Decision {
        try rules.decide(request, view, RequestContext(actor: actor, time: time, operation: operation))
    }

    /// Returns what the rules decide about noting an event of an actor here; nothing is written.
    func decideNote(
        _ event: Event, _ kind: EnvelopeHeader.OperationKind, of actor: Actor, _ operation: OperationInfo, time: Int64
    ) throws -> Decision {
        try rules.note(event, of: kind, view, RequestContext(actor: actor, time: time, operation: operation))
    }

    // MARK: Writing

    /// Takes over a commit of the log if it is exactly what was decided at its time; returns false if it is not.
    func take(_ commit: Commit, for decision: Decision) throws -> Bool {
        guard case .commit(let payload) = decision.outcome, payload[...] == commit.payload,
            end + 1 == commit.offset, lastTime <= commit.time, payload.count <= log?.maximumCommitBytes ?? .max
        else { return false }
        try append(commit.payload, commit.time, commit.id)
        view.adopt(decision)
        return true
    }

    func judge(_ request: Request, as actor: Actor, _ operation: OperationInfo, at place: Place) throws -> Judged {
        let time = max(place.time, lastTime)
        let decision: Decision
        do { decision = try decide(request, as: actor, operation, time: time) } catch let refusal as Refusal {
            return .refused(refusal)
        }
        switch decision.outcome {
        case .nothing: return .nothing(decision.result(at: 0))
        case .repeats: return .repeats
        case .commit(let payload):
            if let limit = log?.maximumCommitBytes, payload.count > limit {
                return .refused(
                    Refusal(.limitExceeded, "The changes of the request exceed the size limit of a commit."))
            }
            let offset = try write(decision, payload, time, place.id)
            return .commit(offset: offset, payload: payload, result: decision.result(at: offset))
        }
    }

    /// Notes an event of an actor, and returns the payload written.
    @discardableResult
    func note(
        _ event: Event, _ kind: EnvelopeHeader.OperationKind, of actor: Actor, _ operation: OperationInfo,
        at place: Place
    ) throws -> [UInt8] {
        let time = max(place.time, lastTime)
        let decision = try decideNote(event, kind, of: actor, operation, time: time)
        guard case .commit(let payload) = decision.outcome else { return [] }
        _ = try write(decision, payload, time, place.id)
        return payload
    }

    /// Takes over a commit as it is; it must fit the state.
    func copy(_ commit: Commit) throws {
        try append(commit.payload, commit.time, commit.id)
        // The previous view does not know the names that the commit interns.
        view = RulesView(view.fold)
    }

    private func write(_ decision: Decision, _ payload: [UInt8], _ time: Int64, _ id: Identifier) throws -> UInt64 {
        try append(payload[...], time, id)
        view.adopt(decision)
        return end
    }

    private func append(_ payload: ArraySlice<UInt8>, _ time: Int64, _ id: Identifier) throws {
        try payload.withUnsafeBytes { try view.fold.apply($0, offset: end + 1, time: time) }
        end += 1
        lastTime = time
        if log != nil {
            waiting.append(NewCommit(id: id, time: time, payload: payload))
            waitingBytes += payload.count
            if waitingBytes >= Self.appendedBytes { try flush() }
        }
        unpublished.commits += 1
        unpublished.bytes += payload.count
        if unpublished.commits >= Self.publishedCommits || unpublished.bytes >= Self.publishedBytes { try publish() }
    }

    private func flush() throws {
        guard let log, !waiting.isEmpty else { return }
        try log.appendAll(waiting)
        (waiting, waitingBytes) = ([], 0)
    }

    // MARK: The state

    /// Publishes the commits as the newest state of the pages.
    func publish() throws {
        try view.fold.publish(to: pages)
        unpublished = (0, 0)
    }

    /// Publishes the commits, and returns the newest state.
    func stop() throws -> Snapshot {
        try publish()
        return pages.snapshot()
    }

    func digests() throws -> Digests {
        try view.fold.flush()
        return try view.fold.fork.digests()
    }

    func finish() throws {
        try publish()
        try flush()
        try log?.sync()
    }
}

extension EventLog {
    /// Returns the time of the commit before an offset, or of the log's base; nil if there is neither.
    func timeInFront(of offset: UInt64) throws -> Int64? {
        try offset - 1 > floor.offset ? commit(at: offset - 1)?.time : readBase()?.time
    }

    /// Appends commits after the end, also if the log accepts only some at a time.
    func appendAll(_ commits: [NewCommit]) throws {
        var rest = commits[...]
        while !rest.isEmpty {
            do throws(AppendFailure) {
                rest = rest.dropFirst(try append(Array(rest), expecting: end).positions.count)
            } catch {
                throw StrataError(.inputOutput, "The new timeline could not be written.", cause: error)
            }
        }
    }
}
