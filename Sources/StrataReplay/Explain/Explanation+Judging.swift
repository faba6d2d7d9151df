import StrataModel
import StrataRules
import StrataStore

/// Fills an explanation from the request, and from what the rules decide about it on the state that it was judged on.
extension Explanation {
    init(_ commit: ExplainedCommit, _ answer: ExplanationAnswer) {
        self.init(commit, answer.outcome)
        (code, message) = (answer.code, answer.message)
    }

    /// Adds what was asked.
    mutating func describe(_ request: Request) {
        database = request.database.named(for: actor.user)
        if case .modifyRecords(let body) = request.content { (policy, isAtomic) = (body.policy, body.isAtomic) }
        asked = request.itemCounts == nil ? request.sentence(reveals: false) : nil
        items = request.items.map { item in
            let zone = item.zone.map { request.names.zone($0) ?? ZoneID("") }
            guard let name = item.name else { return Item(item.list, item.index, name: zone?.name ?? "") }
            var explained = Item(item.list, item.index, zone: zone, name: name)
            if case .modifyRecords(let body) = request.content, item.list == .saves {
                explained.base = body.saves[item.index].base
            }
            return explained
        }
    }

    /// Adds the rules that decided, and the facts of the state.
    mutating func add(_ judgement: Result<Decision, any Error>, of request: Request, on state: ExplainedState) throws {
        switch judgement {
        case .success(let decision) where code == nil: addRules(of: decision, request)
        case .failure(let refusal as Refusal) where code == refusal.code:
            message = message ?? refusal.message
            rules = refusal.rule.map { [ExplanationRule($0)] } ?? []
        default: notes.append(Self.otherAnswer)
        }
        if code != nil { return facts = try state.facts(ofWhole: self) }
        try addFacts(request, state)
    }

    private static let otherAnswer = "The rules of this release give another answer, so the rule is not known."

    private mutating func addRules(of decision: Decision, _ request: Request) {
        let steps = Dictionary(grouping: decision.trace?.steps ?? [], by: \.item)
        let result = decision.result(at: 0)
        for place in items.indices {
            let item = items[place]
            let refusal = result.refusal(item.list, item.index)
            guard refusal?.code == item.code else {
                if !notes.contains(Self.otherAnswer) { notes.append(Self.otherAnswer) }
                continue
            }
            if let refusal {
                items[place].message = item.message ?? refusal.message
                items[place].rules = refusal.rule.map { [ExplanationRule($0)] } ?? []
                continue
            }
            let step = steps["\(item.list == .saves ? "save" : "delete") \(item.index)"] ?? []
            let rules = step.compactMap { step in step.rule.map { ExplanationRule($0, finding: step.note) } }
            items[place].rules = rules.isEmpty ? [Self.rule(for: item, request)] : rules
        }
        if items.isEmpty { rules = [Self.rule(for: request)] }
    }

    private mutating func addFacts(_ request: Request, _ state: ExplainedState) throws {
        if state.database.scope == .shared, case .modifyRecords = request.content {
            for place in items.indices where items[place].code == nil {
                items[place].facts = try state.sharingGrant(items[place]).map { [$0] } ?? []
            }
        }
        try addOverwritten(request, state)
        let culprits = culprits
        for place in items.indices where items[place].code != nil {
            let item = items[place]
            if item.isBystander {
                items[place].facts = culprits.filter { $0.zone == item.zone }.map { culprit in
                    .init("\(culprit.list == .saves ? "save" : "delete") \(culprit.index), \(culprit.name), failed")
                }
                continue
            }
            items[place].facts = try state.facts(of: item)
            if item.code == .serverRecordChanged, item.list == .saves,
                case .modifyRecords(let body) = request.content, let server = item.stored
            {
                items[place].conflict = try state.conflict(of: body.saves[item.index], server)
            }
        }
    }

    /// Adds to the accepted saves that were made from an older version than the stored one what they met.
    private mutating func addOverwritten(_ request: Request, _ state: ExplainedState) throws {
        guard case .modifyRecords(let body) = request.content else { return }
        for place in items.indices where items[place].made != nil {
            let item = items[place]
            guard let base = item.base, let stored = try state.storedHeader(item)?.version, base < stored,
                let conflict = try state.conflict(of: body.saves[item.index], stored)
            else { continue }
            (items[place].stored, items[place].conflict) = (stored, conflict)
        }
    }

    /// Returns the rule for an accepted item that has no rule in the trace.
    private static func rule(for item: Item, _ request: Request) -> ExplanationRule {
        switch request.content {
        case .modifyRecords where item.list == .saves: ExplanationRule(.currentTag, finding: "the record did not exist")
        case .modifyRecords: ExplanationRule(.recordDelete)
        case .modifyZones: ExplanationRule(item.list == .saves ? .zoneSave : .existingZoneOfDelete)
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

extension RequestResult {
    /// Returns the reason for which an item was refused; nil if it was not.
    fileprivate func refusal(_ list: RequestShape.List, _ index: Int) -> Refusal? {
        switch list {
        case .saves:
            guard saves.indices.contains(index), case .failure(let refusal) = saves[index] else { return nil }
            return refusal
        case .deletes: return deletes.indices.contains(index) ? deletes[index] : nil
        }
    }
}
