import StrataModel
import StrataRules
import StrataStore
import StrataViews

/// The answer of the rules to a request, before anything is written.
enum Judgment {
    case decided(Decision)
    case refused(Refusal)

    init(_ request: Request, _ view: RulesView, _ context: RequestContext, by rules: Rules) throws {
        do { self = .decided(try rules.decide(request, view, context)) } catch let refusal as Refusal {
            self = .refused(refusal)
        }
    }

    /// The payload of the commit; nil if the request writes nothing.
    var payload: [UInt8]? {
        guard case .decided(let decision) = self, case .commit(let payload) = decision.outcome else { return nil }
        return payload
    }

    func outcome(of request: Request) -> RequestOutcome {
        switch self {
        case .refused(let refusal): return RequestOutcome(.refused, refusal)
        case .decided(let decision):
            // The device had sent the request before.
            if case .repeats = decision.outcome { return RequestOutcome(.nothingToDo) }
            return RequestOutcome(decision.result(at: 0), of: request, isWritten: payload != nil)
        }
    }

    /// Returns the audit of a request that writes nothing; nil if none is kept.
    func audit(of request: Request) -> Event? {
        switch self {
        case .refused(let refusal): return request.audit(of: refusal)
        case .decided(let decision):
            guard case .nothing = decision.outcome else { return nil }
            return request.audit(of: decision.result(at: 0))
        }
    }
}
