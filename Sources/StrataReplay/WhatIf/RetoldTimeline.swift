import StrataLog
import StrataModel
import StrataRules
import StrataTree
import StrataViews

/// A history that goes on from a state: judges requests one after the other, each at a time that is given with an id.
final class RetoldTimeline {
    /// What is folded and not published takes memory.
    private static let publishedCommits = 16_384
    private static let publishedBytes = 16 << 20
    private static let appendedBytes = 4 << 20

    /// What became of a request.
    enum Judged {
        case commit(offset: UInt64, payload: [UInt8], result: RequestResult)
        case nothing(RequestResult)
        /// Its device had sent it before.
        case repeats
        case refused(Refusal)
    }

    /// When something is written, and under which id.
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

    /// The encoded state of a record; nil if there is none.
    func state(of record: RecordKey) throws -> [UInt8]? { try view.fold.withRecord(record) { [UInt8]($0) } }

    /// - Parameters:
    ///   - pages: their newest state is what is gone on from.
    ///   - log: gets what is committed; it ends where the state does.
    init(on pages: PageStore, time: Int64, rules: Rules, into log: (any EventLog)?) {
        self.pages = pages
        self.rules = rules
        self.log = log
        view = RulesView(Fold(pages.fork()))
        end = view.fold.offset
        lastTime = time
    }

    // MARK: Deciding

    /// What the rules make of a request here; nothing is written.
    func decide(
        _ request: Request, as actor: Actor, _ operation: OperationInfo, time: Int64
    ) throws -> Decision {
        try rules.decide(request, view, RequestContext(actor: actor, time: time, operation: operation))
    }

    /// How something is noted of an actor here; nothing is written.
    func decideNote(
        _ event: Event, _ kind: EnvelopeHeader.OperationKind, of actor: Actor, _ operation: OperationInfo, time: Int64
    ) throws -> Decision {
        try rules.note(event, of: kind, view, RequestContext(actor: actor, time: time, operation: operation))
    }

    // MARK: Writing

    /// Takes over a commit of the log if it is just what was decided at its time; false if it is another one.
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
                    Refusal(.limitExceeded, "What the request changes takes more than a commit may have."))
            }
            let offset = try write(decision, payload, time, place.id)
            return .commit(offset: offset, payload: payload, result: decision.result(at: offset))
        }
    }

    /// Notes something of an actor; returns what was written.
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

    /// Takes over a commit as it is, which must fit the state.
    func copy(_ commit: Commit) throws {
        try append(commit.payload, commit.time, commit.id)
        // It knows nothing of what the commit interns.
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

    /// Makes what was committed the newest state of the pages.
    func publish() throws {
        try view.fold.publish(to: pages)
        unpublished = (0, 0)
    }

    /// Makes what was committed the newest state, and returns that.
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
    /// When the commit in front of an offset was made, or what the log begins with; nil in front of everything.
    func timeInFront(of offset: UInt64) throws -> Int64? {
        try offset - 1 > floor.offset ? commit(at: offset - 1)?.time : readBase()?.time
    }

    /// Appends commits behind the end, also where the log takes them part by part.
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
