import StrataLog
import StrataModel
import StrataRules
import StrataStore
import StrataSystem
import StrataTree
import StrataViews

/// Judges the requests of a log again, in order.
///
/// As long as every commit is the same, one state serves both timelines. From the first difference on, the commits of
/// the log are folded into a state of their own, from which requests are rebuilt. A request that wrote nothing is
/// judged where the log has the state that it was judged on, which its audit names, and its new audit takes the place
/// of the old one.
final class RequestRerun {
    private static let publishedCommits = 16_384
    private static let reportedCommits = 256

    /// The part of a commit that is judged again.
    private enum Content {
        case request(RebuiltRequest)
        /// An audit of a request that wrote nothing.
        case audit(AskedRequest)
        /// A note of an event, such as a fetch, which is not judged but written again.
        case note(AlternateTimeline.Note)
        case unknown(reason: String)
    }

    /// The answer to a request that wrote nothing in the log.
    private struct Answer {
        /// The audit to write in place of the log's; nil if the request wrote a commit.
        var event: Event?
        /// The state of the new timeline that the request was judged on.
        var judgedOn: UInt64
    }

    private let timeline: AlternateTimeline
    private let requests: PastRequests
    private let log: any EventLog
    /// The rules that the log records; nil if others were chosen.
    private var recordedRules: RecordedRules?
    private let edits: [UInt64: RequestEdits]
    private var insertions: [UInt64: [(requests: [Request], actor: Actor)]] = [:]
    private var cursor: any CommitCursor
    /// The next commit, once it has been read.
    private var following: Commit?
    private let lastOffset: UInt64
    private let firstOffset: UInt64
    private var audits: AuditedRequests
    /// The audits of the requests that are to be judged before the next commit.
    private var due: [UInt64] = []
    /// The answers to requests whose audits are still to come, by the offsets of these.
    private var answers: [UInt64: Answer] = [:]
    /// The state of the log; nil while it is that of the new timeline.
    private var oldPages: PageStore?
    private var rebuilder: RequestRebuilder
    private var versions = VersionMap()
    private var causes = RerunCauses()
    private var report: (RerunCommit) throws -> Void = { _ in }
    /// The time of the previous commit.
    private var time: Int64
    /// Called repeatedly with the number of commits that have been judged and the number of all.
    var progress: (_ judged: UInt64, _ all: UInt64) -> Void = { _, _ in }
    private(set) var tally = RerunTally()

    /// - Parameters:
    ///   - timeline: is at the first of the commits to judge again, and becomes the new timeline.
    ///   - time: the time of the commit before that.
    ///   - recordedRules: the rules of each commit; nil to judge all by those of the timeline.
    init(
        of store: Store, from first: UInt64, through last: UInt64, _ timeline: AlternateTimeline, time: Int64,
        recordedRules: RecordedRules?, changes: [RerunChange] = []
    ) throws {
        (self.timeline, self.time, self.recordedRules) = (timeline, time, recordedRules)
        (log, firstOffset, lastOffset) = (store.log, first, last)
        requests = PastRequests(of: store)
        cursor = try store.log.read(from: first)
        audits = try AuditedRequests(store.log, from: first, through: last)
        rebuilder = RequestRebuilder(timeline.view.fold)
        edits = RequestEdits.all(of: changes)
        for case .insert(let requests, let actor, let offset) in changes {
            insertions[offset, default: []].append((requests, actor))
        }
    }

    /// The last commit of the new timeline.
    var end: UInt64 { timeline.end }

    /// Continues to the end while all commits are the same. Returns the first one that differs in the new timeline, of
    /// which nothing has been applied; nil if none does.
    func runUnchanged() throws -> UInt64? {
        while let commit = try next(through: lastOffset) {
            guard try keepAudits(), try keep(commit) else { return commit.offset }
            didReplay(commit)
        }
        return nil
    }

    /// Continues with two states through a commit.
    ///
    /// - Parameter body: called in order with each request that was changed or has another outcome.
    func run(through last: UInt64, each body: (RerunCommit) throws -> Void) throws {
        try separateStates()
        try withoutActuallyEscaping(body) { body in
            report = body
            defer { report = { _ in } }
            try insert(after: rebuilder.fold.offset)
            while let commit = try next(through: last) {
                try judgeAudits()
                try replay(commit)
                didReplay(commit)
                if tally.commitCount % Self.publishedCommits == 0 { try publishOld() }
                try insert(after: commit.offset)
            }
        }
    }

    private func next(through last: UInt64) throws -> Commit? {
        if following == nil { following = try cursor.next() }
        guard let commit = following, commit.offset <= min(last, lastOffset) else { return nil }
        due += try audits.offsets(judgedOn: commit.offset - 1)
        return commit
    }

    private func didReplay(_ commit: Commit) {
        following = nil
        time = commit.time
        tally.commitCount += 1
        if tally.commitCount % Self.reportedCommits == 0 || commit.offset == lastOffset {
            progress(UInt64(tally.commitCount), lastOffset + 1 - firstOffset)
        }
    }

    /// Judges by the rules under which the log has the request.
    private func useRules(at offset: UInt64) {
        if let rules = recordedRules?.change(at: offset) { timeline.rules = rules }
    }

    func finish() throws { try timeline.finish() }

    // MARK: States

    /// Gives the log a state of its own.
    private func separateStates() throws {
        guard oldPages == nil else { return }
        let pages = PageStore.branch(on: try timeline.publish())
        rebuilder = RequestRebuilder(Fold(pages.fork()))
        oldPages = pages
    }

    private func publishOld() throws {
        if let oldPages { try rebuilder.fold.publish(to: oldPages) }
    }

    // MARK: Commits

    /// Returns what a commit after the log's state has for judging.
    private func content(of commit: Commit) throws -> Content {
        do {
            if let asked = try rebuilder.asked(by: commit) {
                if asked.isNoted { return .audit(asked) }
                return RebuiltRequest(asked).map { .request($0) }
                    ?? .unknown(reason: asked.missingParts.first ?? RerunReport.reasonWithoutRequest)
            }
        } catch let error as StrataError where [.erased, .malformed].contains(error.code) {
            return .unknown(reason: error.message)
        }
        let envelope = try Envelope(decoding: commit.payload)
        guard let event = envelope.plainAudit,
            let actor = try rebuilder.fold.fork.actor(of: envelope.header, envelope.internedNames)
        else { return .unknown(reason: RerunReport.reasonWithoutRequest) }
        guard envelope.header.namesActor else { return .unknown(reason: AskedRequest.missingActor) }
        return .note(
            .init(
                event: event, kind: envelope.header.operationKind, actor: actor,
                operation: OperationInfo(of: envelope.header), judgedOn: nil))
    }

    /// Keeps a commit that is the same in both timelines; returns false if it is not, having applied nothing.
    private func keep(_ commit: Commit) throws -> Bool {
        let content = try content(of: commit)
        useRules(at: commit.offset)
        switch content {
        case .request(let asked):
            let judgment = try timeline.judgment(
                of: asked.request, as: asked.actor, asked.operation, at: .init(commit))
            return try timeline.take(commit, for: judgment)
        case .note(let note):
            guard try timeline.take(commit, for: note) else { return false }
            tally.noteCount += 1
            return true
        case .audit(let asked):
            if let answer = answers[commit.offset], let note = Self.note(asked, answer) {
                guard try timeline.take(commit, for: note) else { return false }
                answers[commit.offset] = nil
                return true
            }
            guard timeline.end + 1 == commit.offset else { return false }
            noteUnjudged(asked)
            try timeline.copy(commit)
            return true
        case .unknown(let reason):
            guard timeline.end + 1 == commit.offset else { return false }
            tally.addUnjudged(commit.offset, reason, isKept: true)
            try timeline.copy(commit)
            return true
        }
    }

    private func replay(_ commit: Commit) throws {
        let content = try content(of: commit)
        useRules(at: commit.offset)
        let before = try recordedOutcome(of: content, commit)
        try rebuilder.pass(commit)
        if case .audit(let asked) = content { return try replay(asked, commit) }
        // A request need not be known to be dropped.
        if edits[commit.offset]?.isDropped == true { return try drop(content, commit, before) }
        switch content {
        case .request(let asked): return try replay(asked, commit, before)
        case .note(let note):
            try requireUnedited(commit.offset)
            tally.noteCount += 1
            if let payload = try write(note, for: commit) {
                try diverge(at: commit.offset) { try Self.difference(commit, timeline.end, payload[...]) }
            }
        case .unknown(let reason):
            try requireUnedited(commit.offset)
            try keepUnjudged(commit, reason)
        case .audit: break
        }
    }

    /// Returns the outcome that a commit records of its request, with the rules that refuse its items in the state of
    /// the log, since the commit does not store them.
    private func recordedOutcome(of content: Content, _ commit: Commit) throws -> RequestOutcome {
        guard case .request(let asked) = content else { return RequestOutcome(.accepted) }
        var outcome = RequestOutcome(
            try RequestShape(decoding: commit.header.requestShape), of: asked.request)
        if outcome.items.isEmpty { return outcome }
        let context = RequestContext(
            actor: asked.actor, time: commit.time, operation: asked.operation, commitID: commit.id)
        let judgment = try Judgment(asked.request, RulesView(rebuilder.fold), context, by: timeline.rules)
        outcome.addRules(of: judgment.outcome(of: asked.request))
        return outcome
    }

    /// Judges the request of a commit.
    private func replay(_ asked: RebuiltRequest, _ commit: Commit, _ before: RequestOutcome) throws {
        let edits = edits[commit.offset]
        var request = versions.request(asked.request)
        try edits?.apply(to: &request, at: commit.offset, in: timeline.fork)
        let judged = try timeline.judge(request, as: asked.actor, asked.operation, at: .init(commit), like: commit)
        if let (offset, payload) = judged.written {
            versions.place(commit.offset, at: offset)
            if offset == commit.offset, payload == commit.payload, edits == nil { return }
            try align(commit, offset, payload)
            try diverge(at: commit.offset) { try Self.difference(commit, offset, payload) }
        } else {
            try remove(commit)
            if let event = judged.judgment.audit(of: request) {
                _ = try write(
                    .init(
                        event: event, kind: asked.request.content.operationKind, actor: asked.actor,
                        operation: asked.operation, judgedOn: timeline.end), for: commit)
            }
        }
        try note(
            request, by: asked.actor, of: commit, before: before, after: judged.judgment.outcome(of: request),
            judged.written)
    }

    private func drop(_ content: Content, _ commit: Commit, _ before: RequestOutcome) throws {
        try remove(commit)
        var request = Request(database: DatabaseID(.private), .modifyRecords(.init()))
        var actor: Actor?
        if case .request(let asked) = content { (request, actor) = (asked.request, asked.actor) }
        try note(
            request, by: actor ?? rebuilder.fold.fork.actor(of: commit.header) ?? .service, of: commit,
            before: before, after: RequestOutcome(.dropped))
    }

    /// Writes a note in place of a commit. Returns its payload; nil if it is the same commit.
    private func write(_ note: AlternateTimeline.Note, for commit: Commit) throws -> [UInt8]? {
        let payload = try timeline.write(note, at: .init(commit))
        versions.place(commit.offset, at: timeline.end)
        return timeline.end == commit.offset && payload[...] == commit.payload ? nil : payload
    }

    private func requireUnedited(_ offset: UInt64) throws {
        guard let edits = edits[offset], !edits.isDropped else { return }
        throw StrataError(
            .invalidArgument, "The commit did not come from a request that can be changed.", .init(offset: offset))
    }

    /// Handles a commit that cannot be judged. It is kept as long as the timelines are identical.
    private func keepUnjudged(_ commit: Commit, _ reason: String) throws {
        let isKept = tally.divergence == nil && timeline.end + 1 == commit.offset
        tally.addUnjudged(commit.offset, reason, isKept: isKept)
        if isKept { return try timeline.copy(commit) }
        try remove(commit)
        var scope = RerunScope()
        try scope.add(commit.payload, in: rebuilder.fold.fork)
        causes.note(scope, .init(offset: commit.offset, root: commit.offset))
    }

    private func insert(after offset: UInt64) throws {
        let random = SeededRandom(seed: offset)
        for (requests, actor) in insertions.removeValue(forKey: offset) ?? [] {
            for request in requests {
                diverge(at: offset + 1) { "Requests were inserted before it." }
                let judged = try timeline.judge(
                    request, as: actor, OperationInfo(), at: .init(time: time, id: random.nextIdentifier()))
                var scope = RerunScope()
                scope.add(request, as: actor)
                if let written = judged.written { try scope.add(written.payload, in: timeline.fork) }
                tally.directCount += 1
                causes.note(scope, causes.addDirect(offset))
                try report(
                    RerunCommit(
                        offset: nil, newOffset: judged.written?.offset, actor: actor, before: nil,
                        after: judged.judgment.outcome(of: request), isDirect: true, cause: nil))
            }
        }
    }

    // MARK: Differences

    /// Reports a request with another outcome, and remembers what it affects.
    private func note(
        _ request: Request, by actor: Actor, of commit: Commit, before: RequestOutcome, after: RequestOutcome,
        _ written: (offset: UInt64, payload: ArraySlice<UInt8>)? = nil
    ) throws {
        let isDirect = edits[commit.offset] != nil
        let isOther = !before.isSame(as: after)
        guard isDirect || isOther else { return }
        diverge(at: commit.offset) { "Its outcome changed from \(before.kind.rawValue) to \(after.kind.rawValue)." }
        let cause: RerunCauses.Cause?
        if isDirect {
            tally.directCount += 1
            cause = causes.addDirect(commit.offset)
        } else {
            tally.changedCount += 1
            cause = causes.cause(of: request.causeKeys(before, after, as: actor))
        }
        var scope = RerunScope()
        scope.add(request, as: actor)
        try scope.add(commit.payload, in: rebuilder.fold.fork)
        if let written { try scope.add(written.payload, in: timeline.fork) }
        causes.note(scope, .init(offset: commit.offset, root: cause?.root ?? commit.offset))
        try report(
            RerunCommit(
                offset: commit.offset, newOffset: written?.offset, actor: actor, before: before, after: after,
                isDirect: isDirect, cause: isDirect ? nil : cause.map { ($0.offset, $0.root) }))
    }

    /// Removes the saves of a commit from the new timeline.
    private func remove(_ commit: Commit) throws {
        diverge(at: commit.offset) { "It is not in the new timeline." }
        for save in try SavedVersions.saves(of: commit.payload) {
            versions.remove(Version(offset: commit.offset, eventIndex: save.index), previous: save.previous)
        }
    }

    /// Matches the saves of a commit with those of the commit that replaces it.
    private func align(_ commit: Commit, _ offset: UInt64, _ payload: ArraySlice<UInt8>) throws {
        let (old, new) = (try SavedVersions.saves(of: commit.payload), try SavedVersions.saves(of: payload))
        for (token, other) in try SavedVersions.movedTokens(
            from: SavedVersions.shares(of: commit.payload), to: payload)
        {
            versions.move(token: token, to: other)
        }
        let isInStep = old.elementsEqual(new) { $0.index == $1.index && $0.isTouch == $1.isTouch && $0.name == $1.name }
        if isInStep { return }
        let places = try SavedVersions.indexes(of: new, in: timeline.fork)
        for save in old {
            let version = Version(offset: commit.offset, eventIndex: save.index)
            if let index = places[try SavedVersions.Key(save, rebuilder.fold.fork)] {
                versions.move(version, to: Version(offset: offset, eventIndex: index))
            } else {
                versions.remove(version, previous: save.previous)
            }
        }
    }

    private func diverge(at offset: UInt64, _ reason: () throws -> String) rethrows {
        if tally.divergence == nil { tally.divergence = (offset, try reason()) }
    }

    private static func difference(
        _ commit: Commit, _ offset: UInt64, _ payload: ArraySlice<UInt8>
    ) throws -> String {
        guard offset == commit.offset else { return "It is at offset \(offset)." }
        let (old, new) = (try Envelope(decoding: commit.payload), try Envelope(decoding: payload))
        guard old.header == new.header else { return "Its header differs." }
        let place = zip(old.events, new.events).enumerated().first { $1.0 != $1.1 }?.offset
        guard let place else { return "It has \(new.events.count) events instead of \(old.events.count)." }
        return "Event \(place), \(old.events[place].kind), differs."
    }

    // MARK: Requests that wrote nothing

    /// A request that wrote nothing, with its audit.
    private typealias Audited = (asked: RebuiltRequest, event: Event, commit: Commit)

    /// Returns the request of an audit; nil if the log does not have it or its actor, or if it cannot be read.
    private func audited(at offset: UInt64) throws -> Audited? {
        let commit = try log.requiredCommit(at: offset)
        do {
            guard let asked = try requests.asked(by: commit).flatMap({ RebuiltRequest($0) }),
                let event = try Envelope(decoding: commit.payload).plainAudit
            else { return nil }
            useRules(at: offset)
            return (asked, event, commit)
        } catch let error as StrataError where error.code == .malformed { return nil }
    }

    /// Judges the requests that were judged before the next commit. Returns false if one of them is answered in another
    /// way than in the log.
    private func keepAudits() throws -> Bool {
        while let offset = due.first {
            if let (asked, event, _) = try audited(at: offset) {
                let judgment = try timeline.judgment(
                    of: asked.request, as: asked.actor, asked.operation, at: place(of: asked))
                guard try judgment.audit(of: asked.request)?.isSame(as: event) ?? false else { return false }
                answers[offset] = Answer(event: event, judgedOn: timeline.end)
            }
            due.removeFirst()
        }
        return true
    }

    private func judgeAudits() throws {
        for offset in due {
            if let audited = try audited(at: offset) { try judge(audited) }
        }
        due = []
    }

    private func judge(_ audited: Audited) throws {
        let (asked, event, commit) = audited
        let before = try recordedOutcome(of: asked, event)
        let edits = edits[asked.offset]
        let judgedOn = timeline.end
        answers[asked.offset] = Answer(judgedOn: judgedOn)
        if edits?.isDropped == true {
            return try note(
                asked.request, by: asked.actor, of: commit, before: before, after: RequestOutcome(.dropped))
        }
        var request = versions.request(asked.request)
        try edits?.apply(to: &request, at: asked.offset, in: timeline.fork)
        let judged = try timeline.judge(request, as: asked.actor, asked.operation, at: place(of: asked))
        if judged.written == nil, let audit = judged.judgment.audit(of: request) {
            answers[asked.offset]?.event = try audit.isSame(as: event) ? event : audit
        }
        try note(
            request, by: asked.actor, of: commit, before: before, after: judged.judgment.outcome(of: request),
            judged.written)
        if answers[asked.offset]?.event != event { diverge(at: asked.offset) { "The recorded outcome differs." } }
    }

    /// Returns the outcome that an audit records, with the rules that refuse the request in the state of the log.
    private func recordedOutcome(of asked: RebuiltRequest, _ event: Event) throws -> RequestOutcome {
        guard event.kind == .requestRefused else { return RequestOutcome(.nothingToDo) }
        var outcome = try RequestOutcome(RequestRefusedEvent(decoding: event.body), of: asked.request)
        let context = RequestContext(
            actor: asked.actor, time: asked.time, operation: asked.operation, commitID: asked.commitID)
        let judgment = try Judgment(asked.request, RulesView(rebuilder.fold), context, by: timeline.rules)
        outcome.addRules(of: judgment.outcome(of: asked.request))
        return outcome
    }

    /// A request that wrote nothing and now writes a commit does so at the time of the state that it was judged on.
    private func place(of asked: RebuiltRequest) -> AlternateTimeline.Place {
        .init(time: min(time, asked.time), id: asked.commitID)
    }

    private func noteUnjudged(_ asked: AskedRequest) {
        // A request that was judged before the first change keeps its answer.
        if let judgedOn = asked.judgedOn, judgedOn + 1 < firstOffset { return }
        let reason = asked.missingParts.first ?? "Its audit is more than \(AuditedRequests.lookahead) commits late."
        tally.addUnjudged(asked.offset, reason, isKept: true)
    }

    /// Returns the audit to write for an answer; nil for none.
    private static func note(_ asked: AskedRequest, _ answer: Answer) -> AlternateTimeline.Note? {
        guard let event = answer.event, let actor = asked.actor else { return nil }
        return .init(
            event: event, kind: asked.header.operationKind, actor: actor, operation: asked.operation,
            judgedOn: asked.judgedOn == nil ? nil : answer.judgedOn)
    }

    /// Writes the audit of a request that was judged before, or of one that cannot be judged.
    private func replay(_ asked: AskedRequest, _ commit: Commit) throws {
        var answer = answers.removeValue(forKey: commit.offset)
        if answer == nil {
            if edits[commit.offset]?.isDropped == true {
                return try drop(.audit(asked), commit, RequestOutcome(.refused))
            }
            try requireUnedited(commit.offset)
            guard let event = try Envelope(decoding: commit.payload).plainAudit, asked.actor != nil else {
                return try keepUnjudged(commit, asked.missingParts.first ?? RerunReport.reasonWithoutRequest)
            }
            noteUnjudged(asked)
            answer = Answer(event: event, judgedOn: asked.judgedOn.map { versions.offset(of: $0) } ?? timeline.end)
        }
        if let answer, let note = Self.note(asked, answer), try write(note, for: commit) == nil { return }
        diverge(at: commit.offset) { "The recorded outcome differs." }
    }
}
