import StrataModel
import StrataTree

/// What a timeline is made of that is judged once more.
extension Store {
    /// The trees of the state that is shown. What is published in them is shown by this handle from then on.
    package var pages: PageStore { views.pages }

    /// Where the store's files are; nil for one that has none.
    package var path: String? { engine.path }
}

extension Request {
    /// The audit of a request that failed as a whole; nil where none is kept.
    package func audit(of refusal: Refusal) -> Event? { Audit.event(self, failing: refusal) }

    /// The audit of a request that wrote nothing; nil where none is kept.
    package func audit(of result: RequestResult) -> Event? { Audit.event(self, comingTo: result) }
}
