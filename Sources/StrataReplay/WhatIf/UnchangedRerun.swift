import StrataLog
import StrataModel
import StrataRules
import StrataStore
import StrataTree
import StrataViews

/// Judges a history again as long as its outcomes are the same. One state then serves both timelines, and a refused
/// request is judged again only after a change to something that it depends on.
final class UnchangedRerun {
    private let timeline: AlternateTimeline
    private let rebuilder: RequestRebuilder
    private let rules: Rules
    private(set) var window: RerunWindow
    private(set) var tally = RerunTally()
    /// The time of the previous commit.
    private(set) var time: Int64

    /// - Parameters:
    ///   - timeline: is at the first commit of the window, and continues as the new timeline where the two diverge.
    ///   - time: the time of the commit before that.
    init(_ window: RerunWindow, _ timeline: AlternateTimeline, _ rules: Rules, time: Int64) {
        self.window = window
        self.timeline = timeline
        self.rules = rules
        self.time = time
        rebuilder = RequestRebuilder(timeline.view.fold)
    }

    /// Continues through a commit, or to where the timelines diverge. Returns false if the next commit differs in the
    /// new timeline; nothing of it has been applied then.
    ///
    /// - Parameter isWanted: called before each commit; returning false ends the run.
    func run(through last: UInt64, while isWanted: () -> Bool = { true }) throws -> Bool {
        while isWanted(), let commit = try window.peek(), commit.offset <= last {
            try window.askNew(timeline.view, by: rules)
            guard try replay(commit) else { return false }
            window.advance()
            tally.commitCount += 1
            time = commit.time
        }
        return true
    }

    /// Discards the results so far, which another part reports.
    func resetTally() { tally = RerunTally() }

    /// Returns false if the commit has another outcome.
    private func replay(_ commit: Commit) throws -> Bool {
        if let noted = window.noted.first, noted.offset == commit.offset { return try replay(noted, commit) }
        let asked: RebuiltRequest?
        do { asked = try rebuilder.request(of: commit) } catch let error as StrataError
            where [.erased, .malformed].contains(error.code)
        {
            return try keepUnjudged(commit, error.message)
        }
        guard let asked else { return try replayRequestless(commit) }
        do {
            let decision = try timeline.decide(asked.request, as: asked.actor, asked.operation, time: commit.time)
            guard try timeline.take(commit, for: decision) else { return false }
        } catch is Refusal { return false }
        try askAgain(after: commit)
        return true
    }

    private func replayRequestless(_ commit: Commit) throws -> Bool {
        let envelope = try Envelope(decoding: commit.payload)
        guard let event = envelope.plainAudit,
            let actor = try timeline.fork.actor(of: envelope.header, envelope.internedNames)
        else { return try keepUnjudged(commit, RerunReport.reasonWithoutRequest) }
        let decision = try timeline.decideNote(
            event, envelope.header.operationKind, of: actor, OperationInfo(envelope.header), time: commit.time)
        guard try timeline.take(commit, for: decision) else { return false }
        tally.noteCount += 1
        try askAgain(after: commit)
        return true
    }

    private func keepUnjudged(_ commit: Commit, _ reason: String) throws -> Bool {
        guard timeline.end + 1 == commit.offset else { return false }
        tally.addUnjudged(commit.offset, reason, isKept: true)
        try timeline.copy(commit)
        try askAgain(after: commit)
        return true
    }

    // MARK: Requests that wrote nothing

    /// Notes a request as the log does: with its own outcome if that is the noted one, and otherwise unjudged.
    private func replay(_ noted: NotedRequest, _ commit: Commit) throws -> Bool {
        guard let actor = try noted.actor(in: timeline.fork, window.names.map(\.name)) else { return false }
        let decision = try timeline.decideNote(
            noted.event, noted.header.operationKind, of: actor, noted.operation, time: commit.time)
        guard try timeline.take(commit, for: decision) else { return false }
        if let reason = noted.reasonUnjudged {
            tally.addUnjudged(commit.offset, reason, isKept: true)
        }
        _ = window.takeNoted(at: commit.offset)
        return true
    }

    /// Settles the requests that were judged before a commit: their outcome is the noted one.
    private func askAgain(after commit: Commit) throws {
        for index in try window.askAgain(after: commit, timeline.view, by: rules) {
            window.noted[index].isReplayed = true
            window.noted[index].writes = window.noted[index].event
        }
    }
}

extension Envelope {
    var internedNames: [InternedName] {
        get throws {
            try events.filter { $0.kind == .nameInterned }.map { try InternedName(decoding: $0.body) }
        }
    }

    /// The audit of a commit that has nothing else but names; nil if it has more.
    var plainAudit: Event? {
        let isPlain = events.dropLast().allSatisfy { [.nameInterned, .deviceSeen].contains($0.kind) }
        guard let last = events.last, last.kind.isAudit, isPlain else { return nil }
        return last
    }
}
