import StrataLog
import StrataModel
import StrataRules
import StrataStore

/// Explains a request from what the log records, and searches for nothing.
///
/// The commit of a request, or its audit if it wrote nothing, has the answer, the request, the actor and the offset of
/// the state that the request was judged on (``AskedRequest``). The log also states the limits and policies that were
/// in force at each offset (``RulesHistory``). That state is opened once, and the request is judged on it once by these
/// rules, which names the rule that decided. The facts, and the commits that made them, are read from the same state.
/// If a log of an earlier release lacks one of these causes, or if a request was too large to keep, a note says so and
/// only the answer is shown.
struct ExplanationBuilder {
    let commit: ExplainedCommit
    let store: Store
    /// True to judge on whole states only, for tests to compare with.
    let usesWholeStates: Bool
    /// Called with the offset of each past state that is opened.
    let didOpen: (UInt64) -> Void

    private var offset: UInt64 { commit.commit.offset }

    func explanation() throws -> Explanation {
        let answer = try ExplanationAnswer(of: commit, in: store)
        var explanation = Explanation(commit, answer)
        let asked: AskedRequest?
        do { asked = try PastRequests(of: store).asked(by: commit.commit) } catch let error as StrataError
            where [.erased, .outOfRange].contains(error.code)
        {
            explanation.actor = try commit.namedActor(in: store.snapshot().trees)
            explanation.notes.append(
                error.code == .erased
                    ? "A value saved by the request has been erased since, so it cannot be judged again."
                    : "A record's state before the commit was compacted away, so the request is not known.")
            return explanation
        }
        guard let asked else { return try withoutRequest(explanation) }
        explanation.actor = try asked.actor ?? commit.namedActor(in: store.snapshot().trees)
        explanation.notes += asked.missingParts
        guard let request = asked.request else {
            answer.addItems(to: &explanation)
            return explanation
        }
        explanation.describe(request)
        answer.fill(&explanation)
        guard let rules = try RulesHistory(of: store).rules(at: offset) else {
            explanation.notes.append("The rules by which the request was judged are not recorded.")
            return explanation
        }
        guard let actor = asked.actor, let state = asked.judgedOn else { return explanation }
        guard state >= store.log.floor.offset else {
            explanation.notes.append("The state at \(state), on which the request was judged, was compacted away.")
            return explanation
        }
        let past = try past(state, for: request, by: actor, answer)
        defer { try? past.close() }
        let context = RequestContext(
            actor: actor, time: asked.time, operation: asked.operation, commitID: asked.commitID, isTraced: true)
        let judgement = Result { try past.judge(request, context, by: rules) }
        if case .failure(let error) = judgement, !(error is Refusal) { throw error }
        explanation.judgedAt = state
        try explanation.add(judgement, of: request, on: ExplainedState(of: request, by: actor, on: past, newest: store))
        explanation.effects = try CommitEffect.all(
            of: commit.envelope, at: offset, before: past.snapshot().trees, in: store)
        return explanation
    }

    private func withoutRequest(_ begun: Explanation) throws -> Explanation {
        var explanation = begun
        explanation.actor = try commit.namedActor(in: store.snapshot().trees)
        explanation.notes.append(
            commit.envelope.plainAudit == nil
                ? "The commit contains no request, so it is not known why it was accepted."
                : "The commit only records an event and contains no request: nothing was accepted or rejected.")
        return explanation
    }
}

extension ExplainedCommit {
    /// Returns the user and the device of the commit. The user's name is empty if the commit names none.
    func namedActor(in names: some NameResolver) throws -> Actor {
        let header = envelope.header
        let actor = header.namesActor ? try names.actor(of: header, envelope.internedNames) : nil
        return actor ?? Actor(user: "", device: "")
    }
}
