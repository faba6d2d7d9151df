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

    /// The answer to a request, and the commit that it wrote.
    struct Judged {
        var judgment: Judgment
        /// Nil if the request wrote nothing.
        var written: (offset: UInt64, payload: ArraySlice<UInt8>)?

        /// The versions that saves of records made, in the order of the request.
        var saved: [Version?] {
            guard case .decided(let decision) = judgment, let offset = written?.offset else { return [] }
            return decision.result(at: offset).saves.map { try? $0.get() }
        }
    }

    /// The time at which a commit is written, and its ID.
    struct Place {
        var time: Int64
        var id: Identifier
        /// The shares that the commit saved in the log.
        var savedShares: () throws -> [ShareSavedEvent] = { [] }
    }

    /// An event that is noted without a request.
    struct Note {
        var event: Event
        var kind: EnvelopeHeader.OperationKind
        var actor: Actor
        var operation: OperationInfo
        /// The state that the noted request was judged on; nil for a note of something else.
        var judgedOn: UInt64?
    }

    private let trees: TreeStore
    /// The rules that judge the next request.
    var rules: Rules
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
    ///   - trees: the history continues from their newest state.
    ///   - log: receives the commits; it ends where the state does.
    init(on trees: TreeStore, time: Int64, rules: Rules, into log: (any EventLog)?) throws {
        self.trees = trees
        self.rules = rules
        self.log = log
        view = RulesView(Fold(try trees.fork()))
        end = view.fold.offset
        lastTime = time
    }

    // MARK: Judging

    /// Returns what the rules decide about a request here; nothing is written.
    func judgment(
        of request: Request, as actor: Actor, _ operation: OperationInfo, at place: Place
    ) throws -> Judgment {
        var context = RequestContext(
            actor: actor, time: max(place.time, lastTime), operation: operation, commitID: place.id)
        if case .modifyRecords = request.content, !view.hasSecret { context.savedShares = try place.savedShares() }
        return try Judgment(request, view, context, by: rules)
    }

    private func decision(on note: Note, at place: Place) throws -> Decision {
        var context = RequestContext(
            actor: note.actor, time: max(place.time, lastTime), operation: note.operation, commitID: place.id)
        context.judgedOn = note.judgedOn
        return try rules.note(note.event, of: note.kind, view, context)
    }

    // MARK: Writing

    /// Takes over a commit of the log if it is what was decided at its time; returns false if it is not.
    func take(_ commit: Commit, for judgment: Judgment) throws -> Bool {
        guard case .decided(let decision) = judgment, let payload = judgment.payload, end + 1 == commit.offset,
            lastTime <= commit.time, try commit.isSame(as: payload),
            commit.payload.count <= log?.maximumCommitBytes ?? .max
        else { return false }
        try append(commit.payload, commit.time, commit.id)
        view.adopt(decision)
        return true
    }

    /// Takes over a note of the log if it is what is noted at its time; returns false if it is not.
    func take(_ commit: Commit, for note: Note) throws -> Bool {
        try take(commit, for: .decided(decision(on: note, at: .init(commit))))
    }

    /// Judges a request, and writes its commit.
    ///
    /// - Parameter commit: the request's commit in the log. If the new one is the same except for the wording of
    ///   refusals, it keeps the log's words.
    func judge(
        _ request: Request, as actor: Actor, _ operation: OperationInfo, at place: Place, like commit: Commit? = nil
    ) throws -> Judged {
        let time = max(place.time, lastTime)
        let judgment = try judgment(of: request, as: actor, operation, at: place)
        guard case .decided(let decision) = judgment, let decided = judgment.payload else {
            return Judged(judgment: judgment)
        }
        if let limit = log?.maximumCommitBytes, decided.count > limit {
            let message = "The changes of the request exceed the size limit of a commit."
            return Judged(judgment: .refused(Refusal(.limitExceeded, message)))
        }
        var payload = decided[...]
        if let commit, commit.offset == end + 1, try commit.isSame(as: decided) { payload = commit.payload }
        try append(payload, time, place.id)
        view.adopt(decision)
        return Judged(judgment: judgment, written: (end, payload))
    }

    /// Writes a note, and returns its payload.
    @discardableResult
    func write(_ note: Note, at place: Place) throws -> [UInt8] {
        let time = max(place.time, lastTime)
        let decision = try decision(on: note, at: place)
        guard case .commit(let payload) = decision.outcome else { return [] }
        try append(payload[...], time, place.id)
        view.adopt(decision)
        return payload
    }

    /// Takes over a commit as it is; it must fit the state.
    func copy(_ commit: Commit) throws {
        try append(commit.payload, commit.time, commit.id)
        // The previous view does not know the names that the commit interns.
        view = RulesView(view.fold)
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

    /// Publishes the commits as the newest state of the trees, and returns it.
    @discardableResult
    func publish() throws -> Snapshot {
        unpublished = (0, 0)
        return try view.fold.publish(to: trees)
    }

    /// Publishes the commits, and returns trees that continue from there on their own.
    func branch() throws -> TreeStore { try trees.branch(on: try publish()) }

    func finish() throws {
        try publish()
        try flush()
        try log?.sync()
    }
}

extension AlternateTimeline.Place {
    init(_ commit: Commit) {
        self.init(time: commit.time, id: commit.id) { try SavedVersions.shares(of: commit.payload) }
    }
}

extension EventLog {
    /// Returns the time of the commit before an offset, or of the log's base; nil if there is neither.
    func timeInFront(of offset: UInt64) throws -> Int64? {
        try offset - 1 > floor.offset ? commit(at: offset - 1)?.time : readBase()?.time
    }

    /// - Throws: ``StrataError`` `invalidArgument` for a log of a new timeline that does not end at the base.
    func requireEnd(at floor: UInt64) throws {
        guard end.offset != floor else { return }
        throw StrataError(
            .invalidArgument, "The log for the new timeline has other commits.",
            .init(expected: "one that ends at \(floor)", found: "\(end.offset)"))
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
