import StrataLog
import StrataModel
import StrataRules
import StrataStore

/// Has the rules judge the request of a commit again.
struct ExplanationBuilder {
    /// The number of states before the audit of a refusal that are searched; an audit is written within a second.
    private static let maximumStates: UInt64 = 256

    /// The answer that was given, as the rules give it on a state.
    struct Judgement {
        let offset: UInt64
        let actor: Actor
        let answer: Result<Decision, Refusal>
        /// The difference between the rules and those of the store as it is open now; nil if there is none.
        let difference: String?
    }

    let commit: ExplainedCommit
    let store: Store
    /// True to judge on whole states only, for tests to compare with.
    let usesWholeStates: Bool
    private var offset: UInt64 { commit.commit.offset }

    init(_ commit: ExplainedCommit, _ store: Store, usesWholeStates: Bool) {
        self.commit = commit
        self.store = store
        self.usesWholeStates = usesWholeStates
    }

    // MARK: Accepted requests

    func acceptance() throws -> Explanation {
        let past = try pastOfEvents() ?? store.asOf(offset - 1)
        defer { try? past.close() }
        let asked: RebuiltRequest?
        do { asked = try past.request(of: commit.commit) } catch let error as StrataError where error.code == .erased {
            var explanation = Explanation(commit, .accepted, by: try namedActor())
            explanation.notes.append(
                "A value saved by the request has been erased since, so it cannot be judged again.")
            return explanation
        }
        guard let asked else { throw ExplanationBuilder.malformed(offset) }
        let answered = try past.result(of: commit.commit)
        let isWhole = answered.refusalCount == 0
        var explanation = Explanation(commit, isWhole ? .accepted : .acceptedInPart, by: asked.actor)
        let judgement = try judgement(of: asked.request, by: [asked.actor], on: past) { answer in
            guard case .success(let decision) = answer, case .commit = decision.outcome else { return false }
            return decision.result(at: offset) == answered
        }
        try fill(&explanation, of: asked.request, judgement: judgement, on: past) { list, index in
            switch list {
            case .saves:
                switch answered.saves[index] {
                case .success(let version): .accepted(version)
                case .failure(let refusal): .refused(refusal.code, refusal.message, refusal.serverVersion)
                }
            case .deletes:
                answered.deletes[index].map { .refused($0.code, $0.message, $0.serverVersion) } ?? .accepted(nil)
            }
        }
        return explanation
    }

    func withoutRequest() throws -> Explanation {
        var explanation = Explanation(commit, .withoutRequest, by: try namedActor())
        explanation.notes.append(
            commit.envelope.plainAudit == nil
                ? "The commit contains no request, so it is not known why it was accepted."
                : "The commit only records an event and contains no request: nothing was accepted or rejected.")
        return explanation
    }

    // MARK: Requests that wrote nothing

    func refusal(_ event: RequestRefusedEvent) throws -> Explanation {
        var explanation = Explanation(commit, .refused, by: try namedActor())
        if event.culprits.isEmpty {
            (explanation.code, explanation.message) = (Refusal.Code(rawValue: event.code), event.message)
        }
        var culprits: [ExplanationItemKey: RequestRefusedEvent.Culprit] = [:]
        for culprit in event.culprits { culprits[ExplanationItemKey(culprit)] = culprit }
        guard let request = request(event.request, byteCount: event.requestBytes, &explanation) else {
            explanation.items = event.culprits.map { culprit in
                let key = ExplanationItemKey(culprit)
                var item = Explanation.Item(key.list, key.index, name: "")
                (item.code, item.stored) = (Refusal.Code(rawValue: culprit.code), culprit.version)
                return item
            }
            return explanation
        }
        try explain(&explanation, of: request, isOfNone: false, where: { Self.fits($0, event) }) { list, index in
            guard let culprit = culprits[ExplanationItemKey(list: list, index: index)] else { return .accepted(nil) }
            return .refused(Refusal.Code(rawValue: culprit.code), nil, culprit.version)
        }
        return explanation
    }

    func nothingToDelete(_ event: NothingToDeleteEvent) throws -> Explanation {
        var explanation = Explanation(commit, .nothingToDo, by: try namedActor())
        guard let request = request(event.request, byteCount: 0, &explanation) else {
            explanation.rules = [
                ExplanationRule(.deleteOfMissingRecord, finding: "\(event.count) records were to be deleted")
            ]
            return explanation
        }
        let fits = { (answer: Result<Decision, Refusal>) in
            guard case .success(let decision) = answer, case .nothing = decision.outcome else { return false }
            return decision.result(at: offset).refusalCount == 0
        }
        try explain(&explanation, of: request, isOfNone: true, where: fits) { _, _ in .accepted(nil) }
        return explanation
    }

    private func request(
        _ bytes: [UInt8]?, byteCount: UInt64, _ explanation: inout Explanation
    ) -> Request? {
        guard let bytes else {
            let size = byteCount > 0 ? "The request had \(byteCount) bytes" : "The request could not be encoded"
            explanation.notes.append("\(size) and was not stored, so it cannot be judged again.")
            return nil
        }
        guard let request = try? Request(decoding: bytes[...]) else {
            explanation.notes.append("The stored request cannot be read, so it cannot be judged again.")
            return nil
        }
        return request
    }

    private func explain(
        _ explanation: inout Explanation, of request: Request, isOfNone: Bool,
        where fits: (Result<Decision, Refusal>) -> Bool, answered: (RequestShape.List, Int) -> ExplanationAnswer
    ) throws {
        let recorded = explanation.actor
        // An actor without a name is the service, or was not signed in.
        let actors = recorded.user.isEmpty ? [recorded, .service] : [recorded]
        if let past = try past(for: DecisionDependencies(of: request, isOfNone: isOfNone)) {
            defer { try? past.close() }
            if let judgement = try judgement(of: request, by: actors, on: past, fits) {
                explanation.actor = judgement.actor
                return try fill(&explanation, of: request, judgement: judgement, on: past, answered: answered)
            }
        }
        let judgement = try newestJudgement(of: request, by: actors, fits)
        if let judgement { explanation.actor = judgement.actor }
        let past = try store.asOf(judgement?.offset ?? offset - 1)
        defer { try? past.close() }
        try fill(&explanation, of: request, judgement: judgement, on: past, answered: answered)
    }

    /// Returns the answer of the newest state that gives the noted one. Audits come after commits that were written in
    /// the meantime.
    private func newestJudgement(
        of request: Request, by actors: [Actor], _ fits: (Result<Decision, Refusal>) -> Bool
    ) throws -> Judgement? {
        let last = offset - 1
        let before = try store.asOf(last)
        defer { try? before.close() }
        if let found = try judgement(of: request, by: actors, on: before, fits) { return found }
        let floor = store.log.floor.offset
        let first = max(floor, last > Self.maximumStates ? last - Self.maximumStates : 0)
        guard first < last else { return nil }
        let past = try store.asOf(first)
        defer { try? past.close() }
        var newest: Judgement?
        while true {
            if let found = try judgement(of: request, by: actors, on: past, fits) { newest = found }
            guard let next = try store.log.read(from: past.offset + 1).first(), next < last else { return newest }
            try past.advance(to: next)
        }
    }

    private func judgement(
        of request: Request, by actors: [Actor], on past: Store, _ fits: (Result<Decision, Refusal>) -> Bool
    ) throws -> Judgement? {
        for (rules, difference) in Self.variants(of: past.rules) {
            for actor in actors {
                let context = RequestContext(
                    actor: actor, time: commit.commit.time, commitID: commit.commit.id, isTraced: true)
                let answer: Result<Decision, Refusal>
                do { answer = .success(try past.judge(request, context, by: rules)) } catch let refusal as Refusal {
                    answer = .failure(refusal)
                }
                guard fits(answer) else { continue }
                return Judgement(offset: past.offset, actor: actor, answer: answer, difference: difference)
            }
        }
        return nil
    }

    /// Returns the rules that may have judged: a store does not keep its limits, or whether it enforced its schema.
    private static func variants(of rules: Rules) -> [(rules: Rules, difference: String?)] {
        var (otherSchema, otherLimits) = (rules, rules)
        otherSchema.schema = rules.schema == .open ? .enforced : .open
        otherLimits.limits = rules.limits == .service ? .embedded : .service
        var both = otherSchema
        both.limits = otherLimits.limits
        let schema = rules.schema == .open ? "an enforced schema" : "an open schema"
        let limits = rules.limits == .service ? "the limits of an embedded store" : "the service's limits"
        return [
            (rules, nil), (otherSchema, schema), (otherLimits, limits), (both, "\(schema), and \(limits)"),
        ]
    }

    private static func fits(_ answer: Result<Decision, Refusal>, _ event: RequestRefusedEvent) -> Bool {
        switch answer {
        case .failure(let refusal):
            return event.culprits.isEmpty && refusal.code.rawValue == event.code
                && refusal.message.utf8.starts(with: (event.message ?? "").utf8)
        case .success(let decision):
            guard case .nothing = decision.outcome, !event.culprits.isEmpty else { return false }
            let result = decision.result(at: 0)
            let found = result.refusals.map { list, index, refusal in
                [UInt64(list.rawValue), UInt64(index), refusal.code.rawValue, refusal.serverVersion?.packed ?? 0]
            }
            return found
                == event.culprits.map { culprit in
                    [UInt64(culprit.list.rawValue), culprit.index, culprit.code, culprit.version?.packed ?? 0]
                }
        }
    }

    // MARK: States

    /// Returns the state before the commit with the records that decisions depend on; nil if the whole state is needed.
    private func past(for dependencies: DecisionDependencies) throws -> Store? {
        guard !usesWholeStates, case .records(let names) = dependencies else { return nil }
        return try store.past.state(at: offset - 1, records: names)
    }

    /// Returns the state before the commit with the records of its events and of the items without events; nil if its
    /// request depends on others.
    private func pastOfEvents() throws -> Store? {
        let touches = try CommitTouches(commit.commit.payload)
        let shape = try RequestShape(decoding: commit.envelope.header.requestShape)
        guard !usesWholeStates, shape.kind == .modifyRecords else { return nil }
        var names = Set(touches.names)
        if let request = shape.request {
            guard case .records(let others) = DecisionDependencies(of: request, isOfNone: false) else { return nil }
            names.formUnion(others)
        }
        guard let past = try store.past.state(at: offset - 1, records: names) else { return nil }
        do {
            if let asked = try past.request(of: commit.commit),
                case .records(let needed) = DecisionDependencies(of: asked.request, isOfNone: false),
                needed.isSubset(of: names)
            {
                return past
            }
        } catch let error as StrataError where error.code == .erased { return past }
        try past.close()
        return nil
    }

    private func namedActor() throws -> Actor { try store.snapshot().trees.namedActor(of: commit.envelope.header) }

    private static func malformed(_ offset: UInt64) -> StrataError {
        StrataError(.malformed, "A commit has the shape of a request but did not come from one.", .init(offset: offset))
    }
}

/// The place of an item in a request.
struct ExplanationItemKey: Hashable {
    let list: RequestShape.List
    let index: Int

    init(list: RequestShape.List, index: Int) {
        self.list = list
        self.index = index
    }

    init(_ culprit: RequestRefusedEvent.Culprit) {
        list = culprit.list == .saves ? .saves : .deletes
        index = Int(clamping: culprit.index)
    }
}

/// The answer to an item, as the log has it.
enum ExplanationAnswer {
    case accepted(Version?)
    case refused(Refusal.Code, String?, Version?)
}

extension RequestResult {
    var refusals: [(list: RequestShape.List, index: Int, refusal: Refusal)] {
        var found: [(RequestShape.List, Int, Refusal)] = []
        for (index, save) in saves.enumerated() {
            if case .failure(let refusal) = save { found.append((.saves, index, refusal)) }
        }
        for (index, refusal) in deletes.enumerated() {
            if let refusal { found.append((.deletes, index, refusal)) }
        }
        return found
    }

    var refusalCount: Int { refusals.count }
}

extension CommitCursor {
    /// Returns the offset of the next commit; nil at the end.
    fileprivate func first() throws -> UInt64? {
        var cursor = self
        return try cursor.next()?.offset
    }
}
