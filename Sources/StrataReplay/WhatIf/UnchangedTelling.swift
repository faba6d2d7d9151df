import StrataLog
import StrataModel
import StrataRules
import StrataStore
import StrataTree
import StrataViews

/// Tells a history once more as long as it comes to what it was: one state is that of both timelines then, and a
/// request that was refused is asked again only where something changes that it depends on.
final class UnchangedTelling {
    private let timeline: RetoldTimeline
    private let rebuilder: RequestRebuilder
    private let rules: Rules
    private(set) var window: RetellingWindow
    private(set) var tally = RetellingTally()
    /// Of the commit in front.
    private(set) var time: Int64

    /// - Parameters:
    ///   - timeline: is at the first commit of the window, and goes on as the new one where they part.
    ///   - time: of the commit in front of that.
    init(_ window: RetellingWindow, _ timeline: RetoldTimeline, _ rules: Rules, time: Int64) {
        self.window = window
        self.timeline = timeline
        self.rules = rules
        self.time = time
        rebuilder = RequestRebuilder(timeline.view.fold)
    }

    /// Goes on through a commit, or to where the timelines part.
    ///
    /// - Parameter isWanted: asked in front of each commit.
    /// - Returns: false if what comes next is something else in the new timeline; nothing of that has happened.
    func run(through last: UInt64, while isWanted: () -> Bool = { true }) throws -> Bool {
        while isWanted(), let commit = try window.peek(), commit.offset <= last {
            try window.askNew(timeline.view, by: rules)
            guard try tell(commit) else { return false }
            window.advance()
            tally.commitCount += 1
            time = commit.time
        }
        return true
    }

    /// Forgets what was told: that is somebody else's to say.
    func resetTally() { tally = RetellingTally() }

    /// False if it comes to something else.
    private func tell(_ commit: Commit) throws -> Bool {
        if let noted = window.noted.first, noted.offset == commit.offset { return try tell(noted, commit) }
        let asked: RebuiltRequest?
        do { asked = try rebuilder.request(of: commit) } catch let error as StrataError
            where [.erased, .malformed].contains(error.code)
        {
            return try tellUnjudged(commit, error.message)
        }
        guard let asked else { return try tellRequestless(commit) }
        do {
            let decision = try timeline.decide(asked.request, as: asked.actor, asked.operation, time: commit.time)
            guard try timeline.take(commit, for: decision) else { return false }
        } catch is Refusal { return false }
        try askAgain(behind: commit)
        return true
    }

    private func tellRequestless(_ commit: Commit) throws -> Bool {
        let envelope = try Envelope(decoding: commit.payload)
        guard let event = envelope.plainAudit,
            let actor = try timeline.fork.actor(of: envelope.header, envelope.internedNames)
        else { return try tellUnjudged(commit, RetellingReport.reasonWithoutRequest) }
        let decision = try timeline.decideNote(
            event, envelope.header.operationKind, of: actor, OperationInfo(envelope.header), time: commit.time)
        guard try timeline.take(commit, for: decision) else { return false }
        tally.noteCount += 1
        try askAgain(behind: commit)
        return true
    }

    private func tellUnjudged(_ commit: Commit, _ reason: String) throws -> Bool {
        guard timeline.end + 1 == commit.offset else { return false }
        tally.addUnjudged(commit.offset, reason, isKept: true)
        try timeline.copy(commit)
        try askAgain(behind: commit)
        return true
    }

    // MARK: What came to nothing

    /// One that fits comes to what is noted of it; one that does not is noted as it was.
    private func tell(_ noted: NotedRequest, _ commit: Commit) throws -> Bool {
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

    /// Those that were judged in front of a commit came to what is noted of them.
    private func askAgain(behind commit: Commit) throws {
        for index in try window.askAgain(behind: commit, timeline.view, by: rules) {
            window.noted[index].isTold = true
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

    /// The audit that is all it tells, beside names; nil if it does more.
    var plainAudit: Event? {
        let isPlain = events.dropLast().allSatisfy { [.nameInterned, .deviceSeen].contains($0.kind) }
        guard let last = events.last, last.kind.isAudit, isPlain else { return nil }
        return last
    }
}
