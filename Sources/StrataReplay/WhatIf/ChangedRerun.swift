import StrataLog
import StrataModel
import StrataRules
import StrataStore
import StrataSystem
import StrataTree
import StrataViews

/// Both timelines side by side: the log's, folded to rebuild its requests, and the new one.
final class ChangedRerun {
    private static let publishedCommits = 16_384

    private let insertions: [UInt64: [(requests: [Request], actor: Actor)]]
    private let edits: [UInt64: RequestEdits]
    private var window: RerunWindow
    private let oldPages: PageStore
    private let rebuilder: RequestRebuilder
    private let timeline: AlternateTimeline
    private let rules: Rules
    private var versions = VersionMap()
    private var causes = RerunCauses()
    private var report: (RerunCommit) throws -> Void = { _ in }
    /// The time of the previous commit.
    private var time: Int64
    private(set) var tally: RerunTally
    var isIdentical: Bool { tally.divergence == nil }
    /// Called after each commit of the log.
    var didReplay: (UInt64) throws -> Void = { _ in }

    /// - Parameters:
    ///   - old: the state before the window's first commit.
    ///   - tally: the results so far.
    init(
        _ changes: [RerunChange], _ window: RerunWindow, old: PageStore, _ timeline: AlternateTimeline,
        _ rules: Rules, startTime: Int64, _ tally: RerunTally = RerunTally()
    ) {
        self.tally = tally
        self.window = window
        oldPages = old
        rebuilder = RequestRebuilder(Fold(old.fork()))
        self.timeline = timeline
        self.rules = rules
        time = startTime
        edits = RequestEdits.all(of: changes)
        var insertions: [UInt64: [(requests: [Request], actor: Actor)]] = [:]
        for change in changes {
            guard case .insert(let requests, let actor, let offset) = change else { continue }
            insertions[offset, default: []].append((requests, actor))
        }
        self.insertions = insertions
    }

    func run(from first: UInt64, _ body: (RerunCommit) throws -> Void) throws {
        try withoutActuallyEscaping(body) { body in
            report = body
            defer { report = { _ in } }
            try insert(after: first - 1)
            while let commit = try window.peek() {
                try window.askNew(RulesView(rebuilder.fold), by: rules)
                window.advance()
                try replay(commit)
                tally.commitCount += 1
                time = commit.time
                try didReplay(commit.offset)
                if tally.commitCount % Self.publishedCommits == 0 { try rebuilder.fold.publish(to: oldPages) }
                try insert(after: commit.offset)
            }
            try timeline.finish()
        }
    }

    private func replay(_ commit: Commit) throws {
        if let noted = window.takeNoted(at: commit.offset) { return try replayNoted(noted, commit) }
        var asked: RebuiltRequest?
        do { asked = try rebuilder.next(commit) } catch let error as StrataError
            where [.erased, .malformed].contains(error.code)
        {
            if rebuilder.fold.offset < commit.offset { try rebuilder.pass(commit) }
            try requireUnedited(commit.offset)
            try judgeEarlierRefusals(before: commit)
            // A request need not be known to be dropped.
            if edits[commit.offset]?.isDropped == true { return try replayRequestless(commit) }
            return try keepUnjudged(commit, error.message)
        }
        try judgeEarlierRefusals(before: commit)
        guard let asked else { return try replayRequestless(commit) }
        try replay(asked, commit)
    }

    /// Judges the request of a commit.
    private func replay(_ asked: RebuiltRequest, _ commit: Commit) throws {
        let edits = edits[commit.offset]
        guard edits?.isDropped != true else {
            try remove(commit)
            return try note(
                asked.request, asked.actor, commit, before: try outcome(of: commit, asked.request),
                after: RequestOutcome(.dropped), at: nil, [])
        }
        var request = versions.request(asked.request)
        try edits?.apply(to: &request, at: commit.offset)
        let place = AlternateTimeline.Place(time: commit.time, id: commit.id)
        let judged = try timeline.judge(request, as: asked.actor, asked.operation, at: place)
        switch judged {
        case .commit(let offset, let payload, let result):
            versions.place(commit.offset, at: offset)
            if offset == commit.offset, payload[...] == commit.payload, edits == nil { return }
            try align(commit, offset, payload)
            let after = RequestOutcome(result, of: request, isWritten: true)
            try diverge(at: commit.offset) { try Self.difference(commit, offset, payload) }
            try note(
                request, asked.actor, commit, before: try outcome(of: commit, asked.request), after: after,
                at: offset, payload)
        case .nothing, .repeats, .refused:
            try remove(commit)
            let (after, event) = Self.unwritten(judged, request)
            try write(event, asked.request.content.operationKind, asked.actor, asked.operation, place, commit.offset)
            try note(
                request, asked.actor, commit, before: try outcome(of: commit, asked.request), after: after, at: nil, [])
        }
    }

    /// Returns the outcome of a request that wrote nothing, and the audit that is noted of it.
    private static func unwritten(
        _ judged: AlternateTimeline.Judged, _ request: Request
    ) -> (outcome: RequestOutcome, audit: Event?) {
        switch judged {
        case .nothing(let result):
            (RequestOutcome(result, of: request, isWritten: false), request.audit(of: result))
        case .refused(let refusal): (RequestOutcome(.refused, refusal), request.audit(of: refusal))
        case .commit, .repeats: (RequestOutcome(.nothingToDo), nil)
        }
    }

    private func write(
        _ event: Event?, _ kind: EnvelopeHeader.OperationKind, _ actor: Actor, _ operation: OperationInfo,
        _ place: AlternateTimeline.Place, _ offset: UInt64
    ) throws {
        guard let event else { return }
        try timeline.note(event, kind, of: actor, operation, at: place)
        versions.place(offset, at: timeline.end)
    }

    private func outcome(of commit: Commit, _ request: Request) throws -> RequestOutcome {
        let shape = try commit.payload.withUnsafeBytes { try EventWalker($0).header().requestShape }
        return RequestOutcome(try RequestShape(decoding: shape), of: request)
    }

    // MARK: Commits without a request, or without one that can be rebuilt

    private func replayRequestless(_ commit: Commit) throws {
        if edits[commit.offset]?.isDropped == true {
            try remove(commit)
            let header = try commit.payload.withUnsafeBytes { try EventWalker($0).header() }
            return try note(
                Request(database: DatabaseID(.private), .modifyRecords(.init())),
                try rebuilder.fold.fork.actor(of: header) ?? .service, commit,
                before: RequestOutcome(.accepted), after: RequestOutcome(.dropped), at: nil, [])
        }
        try requireUnedited(commit.offset)
        let envelope = try Envelope(decoding: commit.payload)
        guard let event = envelope.plainAudit, let actor = try rebuilder.fold.fork.actor(of: envelope.header)
        else { return try keepUnjudged(commit, RerunReport.reasonWithoutRequest) }
        let payload = try timeline.note(
            event, envelope.header.operationKind, of: actor, OperationInfo(envelope.header),
            at: .init(time: commit.time, id: commit.id))
        tally.noteCount += 1
        versions.place(commit.offset, at: timeline.end)
        if timeline.end != commit.offset || payload[...] != commit.payload {
            try diverge(at: commit.offset) { try Self.difference(commit, timeline.end, payload) }
        }
    }

    private func requireUnedited(_ offset: UInt64) throws {
        guard let edits = edits[offset], !edits.isDropped else { return }
        throw StrataError(
            .invalidArgument, "The commit did not come from a request that can be changed.", .init(offset: offset))
    }

    /// Handles a commit that cannot be judged. It is kept as long as the timelines are identical.
    private func keepUnjudged(_ commit: Commit, _ reason: String) throws {
        let isKept = isIdentical && edits[commit.offset]?.isDropped != true && timeline.end + 1 == commit.offset
        tally.addUnjudged(commit.offset, reason, isKept: isKept)
        if isKept { return try timeline.copy(commit) }
        try remove(commit)
        let isDirect = edits[commit.offset] != nil
        let cause = isDirect ? causes.addDirect(commit.offset) : .init(offset: commit.offset, root: commit.offset)
        var scope = RerunScope()
        try scope.add(commit.payload, in: rebuilder.fold.fork)
        causes.note(scope.keys, isGeneral: scope.isGeneral, cause)
    }

    // MARK: Insertions

    private func insert(after offset: UInt64) throws {
        let random = SeededRandom(seed: offset)
        for (requests, actor) in insertions[offset] ?? [] {
            for request in requests {
                diverge(at: offset + 1) { "Requests were inserted before it." }
                let judged = try timeline.judge(
                    request, as: actor, OperationInfo(), at: .init(time: time, id: random.nextIdentifier()))
                var inserted = RerunCommit(
                    offset: nil, newOffset: nil, actor: actor, before: nil,
                    after: Self.unwritten(judged, request).outcome,
                    isDirect: true, cause: nil)
                var scope = RerunScope()
                scope.add(request, as: actor)
                if case .commit(let offset, let payload, let result) = judged {
                    inserted.newOffset = offset
                    inserted.after = RequestOutcome(result, of: request, isWritten: true)
                    try scope.add(payload[...], in: timeline.fork)
                }
                tally.directCount += 1
                causes.note(scope.keys, isGeneral: scope.isGeneral, causes.addDirect(offset))
                try report(inserted)
            }
        }
    }

    // MARK: Differences

    /// Reports a request with another outcome, and remembers what it affects.
    private func note(
        _ request: Request, _ actor: Actor, _ commit: Commit, before: RequestOutcome, after: RequestOutcome,
        at newOffset: UInt64?, _ payload: [UInt8]
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
        if !payload.isEmpty { try scope.add(payload[...], in: timeline.fork) }
        causes.note(
            scope.keys, isGeneral: scope.isGeneral,
            .init(offset: commit.offset, root: cause?.root ?? commit.offset))
        try report(
            RerunCommit(
                offset: commit.offset, newOffset: newOffset, actor: actor, before: before, after: after,
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
    private func align(_ commit: Commit, _ offset: UInt64, _ payload: [UInt8]) throws {
        let (old, new) = (try SavedVersions.saves(of: commit.payload), try SavedVersions.saves(of: payload[...]))
        let isInStep = old.elementsEqual(new) { $0.index == $1.index && $0.isTouch == $1.isTouch && $0.name == $1.name }
        if isInStep { return }
        var places: [SavedVersions.Key: UInt32] = [:]
        for save in new { places[try SavedVersions.Key(save, timeline.fork)] = save.index }
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

    private static func difference(_ commit: Commit, _ offset: UInt64, _ payload: [UInt8]) throws -> String {
        guard offset == commit.offset else { return "It is at offset \(offset)." }
        let (old, new) = (try Envelope(decoding: commit.payload), try Envelope(decoding: payload[...]))
        guard old.header == new.header else { return "Its header differs." }
        let place = zip(old.events, new.events).enumerated().first { $1.0 != $1.1 }?.offset
        guard let place else { return "It has \(new.events.count) events instead of \(old.events.count)." }
        return "Event \(place), \(old.events[place].kind), differs."
    }

    /// Returns the digests of the log's state and of the new timeline's.
    func digests() throws -> (old: Digests, new: Digests) {
        try rebuilder.fold.flush()
        return (try rebuilder.fold.fork.digests(), try timeline.digests())
    }

    /// Publishes and returns the log's state, as far as it has been folded.
    func publishedState() throws -> Snapshot { try rebuilder.fold.publish(to: oldPages) }

    // MARK: Requests that wrote nothing

    private func actor(of noted: NotedRequest) throws -> Actor? {
        try noted.actor(in: rebuilder.fold.fork, window.names.map(\.name))
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
        let before = noted.audit.map { RequestOutcome($0, of: asked) } ?? RequestOutcome(.nothingToDo)
        let edits = edits[noted.offset]
        guard edits?.isDropped != true else {
            return try note(
                asked, actor, noted.commit, before: before, after: RequestOutcome(.dropped), at: nil, [])
        }
        var request = versions.request(asked)
        try edits?.apply(to: &request, at: noted.offset)
        let place = AlternateTimeline.Place(time: min(time, noted.commit.time), id: noted.commit.id)
        let judged = try timeline.judge(request, as: actor, noted.operation, at: place)
        if case .commit(let offset, let payload, let result) = judged {
            let after = RequestOutcome(result, of: request, isWritten: true)
            return try note(request, actor, noted.commit, before: before, after: after, at: offset, payload)
        }
        let after: RequestOutcome
        (after, noted.writes) = Self.unwritten(judged, request)
        try note(request, actor, noted.commit, before: before, after: after, at: nil, [])
    }

    private func replayNoted(_ noted: NotedRequest, _ commit: Commit) throws {
        var noted = noted
        if !noted.isReplayed, noted.fits { try judge(&noted, time: commit.time) }
        try rebuilder.pass(commit)
        if let reason = noted.reasonUnjudged {
            guard edits[commit.offset]?.isDropped != true else { return try replayRequestless(commit) }
            try requireUnedited(commit.offset)
            noted.writes = noted.event
            tally.addUnjudged(commit.offset, reason, isKept: true)
        }
        let end = timeline.end
        if let event = noted.writes, let actor = try actor(of: noted) {
            let payload = try timeline.note(
                event, noted.header.operationKind, of: actor, noted.operation,
                at: .init(time: commit.time, id: commit.id))
            versions.place(commit.offset, at: timeline.end)
            if timeline.end == commit.offset, payload[...] == commit.payload { return }
        }
        if timeline.end == end || timeline.end != commit.offset || noted.writes != nil {
            diverge(at: commit.offset) { "The recorded outcome differs." }
        }
    }
}
