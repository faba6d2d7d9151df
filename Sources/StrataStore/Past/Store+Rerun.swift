import StrataModel
import StrataTree

/// The parts of a store that a timeline needs to be judged again.
extension Store {
    /// The trees of the current state. This handle shows everything that is published in them.
    package var trees: TreeStore { views.trees }

    /// The path of the store's files; nil if it has none.
    package var path: String? { engine.path }
}

extension Request {
    /// Returns the audit of a request that failed as a whole; nil if none is kept.
    package func audit(of refusal: Refusal) -> Event? { Audit.event(self, failing: refusal) }

    /// Returns the audit of a request that wrote nothing; nil if none is kept.
    package func audit(of result: RequestResult) -> Event? { Audit.event(self, comingTo: result) }
}
