import StrataModel
import StrataRules
import StrataStore

/// Explains the request and each of its items.
extension ExplanationBuilder {
    /// - Parameter past: the state that the request was judged against, or the one before the commit.
    func fill(
        _ explanation: inout Explanation, of request: Request, judgement: Judgement?, on past: Store,
        answered: (RequestShape.List, Int) -> ExplanationAnswer
    ) throws {
        let state = try ExplainedState(of: request, by: explanation.actor, on: past, newest: store)
        explanation.database = state.database
        if case .modifyRecords(let body) = request.content {
            (explanation.policy, explanation.isAtomic) = (body.policy, body.isAtomic)
        }
        explanation.judgedAt = judgement?.offset
        if let difference = judgement?.difference {
            explanation.notes.append("It was judged with \(difference), unlike the store's current options.")
        }
        if judgement == nil {
            explanation.notes.append(
                "No state before the commit gives this answer under the current rules, so the rule is not known."
            )
        }
        explanation.items = Self.items(of: request)
        if explanation.code != nil {
            if case .failure(let refusal)? = judgement?.answer, let rule = refusal.rule {
                explanation.rules = [ExplanationRule(rule)]
            }
            explanation.facts = try state.facts(ofWhole: explanation)
            return
        }
        let decision = try? judgement?.answer.get()
        let steps = Dictionary(grouping: decision?.trace?.steps ?? [], by: \.item)
        let refusals = decision?.result(at: 0).refusals ?? []
        for place in explanation.items.indices {
            var item = explanation.items[place]
            switch answered(item.list, item.index) {
            case .accepted(let version): item.made = version
            case .refused(let code, let message, let version):
                (item.code, item.message, item.stored) = (code, message, version)
            }
            let judged = refusals.first { $0.list == item.list && $0.index == item.index }?.refusal
            if item.code != nil { item.message = item.message ?? judged?.message }
            let step = steps["\(item.list == .saves ? "save" : "delete") \(item.index)"] ?? []
            item.rules =
                item.code == nil
                ? step.compactMap { step in step.rule.map { ExplanationRule($0, finding: step.note) } }
                : judged?.rule.map { [ExplanationRule($0)] } ?? []
            if item.code == nil, judgement != nil, item.rules.isEmpty { item.rules = [Self.rule(for: item, request)] }
            explanation.items[place] = item
        }
        if explanation.items.isEmpty, judgement != nil { explanation.rules = [Self.rule(for: request)] }
        try addFacts(to: &explanation, request, state)
    }

    private func addFacts(
        to explanation: inout Explanation, _ request: Request, _ state: ExplainedState
    ) throws {
        if state.database.scope == .shared, case .modifyRecords = request.content {
            for place in explanation.items.indices where explanation.items[place].code == nil {
                let item = explanation.items[place]
                explanation.items[place].facts = try state.sharingGrant(item).map { [$0] } ?? []
            }
        }
        let culprits = explanation.culprits
        for place in explanation.items.indices where explanation.items[place].code != nil {
            let item = explanation.items[place]
            if item.isBystander {
                explanation.items[place].facts = culprits.filter { $0.zone == item.zone }.map { culprit in
                    .init("\(culprit.list == .saves ? "save" : "delete") \(culprit.index), \(culprit.name), failed")
                }
                continue
            }
            explanation.items[place].facts = try state.facts(of: item)
            if item.code == .serverRecordChanged, item.list == .saves,
                case .modifyRecords(let body) = request.content, let server = item.stored
            {
                explanation.items[place].conflict = try state.conflict(of: body.saves[item.index], server)
            }
        }
    }

    private static func items(of request: Request) -> [Explanation.Item] {
        request.items.map { item in
            let zone = item.zone.map { request.names.zone($0) ?? ZoneID("") }
            guard let name = item.name else { return .init(item.list, item.index, name: zone?.name ?? "") }
            var explained = Explanation.Item(item.list, item.index, zone: zone, name: name)
            if case .modifyRecords(let body) = request.content, item.list == .saves {
                explained.base = body.saves[item.index].base
            }
            return explained
        }
    }

    /// Returns the rule for an accepted item that has no rule in the trace.
    private static func rule(for item: Explanation.Item, _ request: Request) -> ExplanationRule {
        switch request.content {
        case .modifyRecords where item.list == .saves: ExplanationRule(.currentTag, finding: "the record did not exist")
        case .modifyRecords: ExplanationRule(.recordDelete)
        case .modifyZones: ExplanationRule(.zoneSave)
        case .joinShares: ExplanationRule(.acceptedShare)
        default: ExplanationRule(.subscriptions)
        }
    }

    private static func rule(for request: Request) -> ExplanationRule {
        switch request.content {
        case .declareSchema: ExplanationRule(.schema)
        case .notify: ExplanationRule(.notices)
        default: ExplanationRule(.administration)
        }
    }
}
