import StrataLog
import StrataModel
import StrataRules
import StrataStore
import StrataSystem
import StrataTree
import StrataViews

/// Judges the requests of a log again, in order.
///
/// As long as every commit is the same, one state serves both timelines, and a refused request is judged again only
/// after a change to something that it depends on. From the first difference on, the commits of the log are folded into
/// a state of their own, from which requests are rebuilt.
final class RequestRerun {
    private static let publishedCommits = 16_384

    /// The part of a commit that is judged again.
    private enum Content {
        case request(RebuiltRequest)
        /// A note of an event, such as a fetch, which is not judged but written again.
        case note(AlternateTimeline.Note)
        case unknown(reason: String)
    }

    private let timeline: AlternateTimeline
    private let rules: Rules
    private let edits: [UInt64: RequestEdits]
    private var insertions: [UInt64: [(requests: [Request], actor: Actor)]] = [:]
    private(set) var window: RerunWindow
    /// The state of the log; nil while it is that of the new timeline.
    private var oldPages: PageStore?
    private var rebuilder: RequestRebuilder
    private var versions = VersionMap()
    private var causes = RerunCauses()
    private var report: (RerunCommit) throws -> Void = { _ in }
    /// The time of the previous commit.
    private var time: Int64
    private let counter: RerunCounter?
    var tally = RerunTally()

    /// - Parameters:
    ///   - timeline: is at the first commit of the window, and becomes the new timeline.
    ///   - time: the time of the commit before that.
    init(
        _ window: RerunWindow, _ timeline: AlternateTimeline, _ rules: Rules, time: Int64, changes: [RerunChange] = [],
        counter: RerunCounter? = nil
    ) {
        self.counter = counter
        self.window = window
        self.timeline = timeline
        self.rules = rules
        self.time = time
        rebuilder = RequestRebuilder(timeline.view.fold)
        edits = RequestEdits.all(of: changes)
        for case .insert(let requests, let actor, let offset) in changes {
            insertions[offset, default: []].append((requests, actor))
        }
    }

    /// The last commit of the new timeline.
    var end: UInt64 { timeline.end }

    /// Continues through a commit while all commits are the same. Returns false if the next one differs in the new
    /// timeline; nothing of it has been applied then.
    ///
    /// - Parameter isWanted: called before each commit; returning false ends the run.
    func runUnchanged(through last: UInt64, while isWanted: () -> Bool = { true }) throws -> Bool {
        while isWanted(), let commit = try next(through: last) {
            guard try keep(commit) else { return false }
            didReplay(commit)
        }
        return true
    }

    /// Continues with two states through a commit.
    ///
    /// - Parameters:
    ///   - pages: the state of the log there, if the timelines have not diverged yet; nil to share the pages of the new
    ///     timeline.
    ///   - body: called in order with each request that was changed or has another outcome.
    func run(
        through last: UInt64, old pages: PageStore? = nil, each body: (RerunCommit) throws -> Void = { _ in }
    ) throws {
        try separateStates(pages)
        try withoutActuallyEscaping(body) { body in
            report = body
            defer { report = { _ in } }
            try insert(after: rebuilder.fold.offset)
            while let commit = try next(through: last) {
                try replay(commit)
                didReplay(commit)
                if tally.commitCount % Self.publishedCommits == 0 { try publishOld() }
                try insert(after: commit.offset)
            }
        }
    }

    private func next(through last: UInt64) throws -> Commit? {
        guard let commit = try window.peek(), commit.offset <= last else { return nil }
        try window.askNew(oldPages == nil ? timeline.view : RulesView(rebuilder.fold), by: rules)
        return commit
    }

    private func didReplay(_ commit: Commit) {
        window.advance()
        tally.commitCount += 1
        counter?.add()
        time = commit.time
    }

    func finish() throws { try timeline.finish() }

    // MARK: States

    /// Gives the log a state of its own.
    private func separateStates(_ pages: PageStore?) throws {
        guard oldPages == nil else { return }
        let pages = try pages ?? PageStore.branch(on: timeline.publish())
        rebuilder = RequestRebuilder(Fold(pages.fork()))
        oldPages = pages
    }

    /// Publishes and returns the state of the log, as far as it has been folded.
    @discardableResult
    func publishOld() throws -> Snapshot? { try oldPages.map { try rebuilder.fold.publish(to: $0) } }

    /// Returns the digests of the state of the log and of the new timeline's.
    func digests() throws -> (old: Digests, new: Digests) {
        try rebuilder.fold.flush()
        try timeline.view.fold.flush()
        return (try rebuilder.fold.fork.digests(), try timeline.fork.digests())
    }

    // MARK: Commits

    /// Returns what a commit after the log's state has for judging.
    private func content(of commit: Commit) throws -> Content {
        do {
            if let asked = try rebuilder.request(of: commit) { return .request(asked) }
        } catch let error as StrataError where [.erased, .malformed].contains(error.code) {
            return .unknown(reason: error.message)
        }
        let envelope = try Envelope(decoding: commit.payload)
        guard let event = envelope.plainAudit,
            let actor = try rebuilder.fold.fork.actor(of: envelope.header, envelope.internedNames)
        else { return .unknown(reason: RerunReport.reasonWithoutRequest) }
        return .note(
            .init(
                event: event, kind: envelope.header.operationKind, actor: actor,
                operation: OperationInfo(envelope.header)))
    }

    /// Keeps a commit that is the same in both timelines; returns false if it is not, having applied nothing.
    private func keep(_ commit: Commit) throws -> Bool {
        if let noted = window.noted.first, noted.offset == commit.offset { return try keep(noted, commit) }
        switch try content(of: commit) {
        case .request(let asked):
            let judgment = try timeline.judgment(
                of: asked.request, as: asked.actor, asked.operation, at: .init(commit))
            guard try timeline.take(commit, for: judgment) else { return false }
        case .note(let note):
            guard try timeline.take(commit, for: note) else { return false }
            tally.noteCount += 1
        case .unknown(let reason):
            guard timeline.end + 1 == commit.offset else { return false }
            tally.addUnjudged(commit.offset, reason, isKept: true)
            try timeline.copy(commit)
        }
        // The requests that were judged before the commit have the noted outcome.
        for index in try window.askAgain(after: commit, timeline.view, by: rules) {
            window.noted[index].isReplayed = true
            window.noted[index].writes = window.noted[index].event
        }
        return true
    }

    private func replay(_ commit: Commit) throws {
        if let noted = window.takeNoted(at: commit.offset) { return try replay(noted, commit) }
        let content = try content(of: commit)
        let before = try recordedOutcome(of: content, commit)
        try rebuilder.pass(commit)
        try judgeEarlierRefusals(before: commit)
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
        let judgment = try Judgment(asked.request, RulesView(rebuilder.fold), context, by: rules)
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
                        operation: asked.operation), for: commit)
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

    private func actor(of noted: NotedRequest) throws -> Actor? {
        try noted.actor(in: rebuilder.fold.fork, window.names.map(\.name))
    }

    /// Notes a request as the log does: with its own outcome if that is the noted one, and otherwise unjudged.
    private func keep(_ noted: NotedRequest, _ commit: Commit) throws -> Bool {
        guard let actor = try actor(of: noted), try timeline.take(commit, for: noted.note(noted.event, by: actor))
        else { return false }
        if let reason = noted.reasonUnjudged { tally.addUnjudged(commit.offset, reason, isKept: true) }
        _ = window.takeNoted(at: commit.offset)
        return true
    }

    private func replay(_ noted: NotedRequest, _ commit: Commit) throws {
        var noted = noted
        if !noted.isReplayed, noted.fits { try judge(&noted, time: commit.time) }
        try rebuilder.pass(commit)
        if let reason = noted.reasonUnjudged {
            if edits[commit.offset]?.isDropped == true {
                return try drop(.unknown(reason: reason), commit, RequestOutcome(.accepted))
            }
            try requireUnedited(commit.offset)
            noted.writes = noted.event
            tally.addUnjudged(commit.offset, reason, isKept: true)
        }
        if let event = noted.writes, let actor = try actor(of: noted),
            try write(noted.note(event, by: actor), for: commit) == nil
        {
            return
        }
        diverge(at: commit.offset) { "The recorded outcome differs." }
    }

    /// Judges the requests that were judged before a commit, although they were noted later.
    private func judgeEarlierRefusals(before commit: Commit) throws {
        for index in try window.askAgain(after: commit, RulesView(rebuilder.fold), by: rules) {
            var noted = window.noted[index]
            try judge(&noted, time: commit.time)
            window.noted[index] = noted
        }
    }

    private func judge(_ noted: inout NotedRequest, time: Int64) throws {
        guard let asked = noted.request, let actor = try actor(of: noted) else { return }
        noted.isReplayed = true
        let edits = edits[noted.offset]
        if edits?.isDropped == true {
            return try note(
                asked, by: actor, of: noted.commit, before: noted.recorded, after: RequestOutcome(.dropped))
        }
        var request = versions.request(asked)
        try edits?.apply(to: &request, at: noted.offset, in: timeline.fork)
        let judged = try timeline.judge(
            request, as: actor, noted.operation,
            at: .init(time: min(time, noted.commit.time), id: noted.commit.id))
        if judged.written == nil, let audit = judged.judgment.audit(of: request) {
            noted.writes = try audit.isSame(as: noted.event) ? noted.event : audit
        }
        try note(
            request, by: actor, of: noted.commit, before: noted.recorded,
            after: judged.judgment.outcome(of: request), judged.written)
    }
}
