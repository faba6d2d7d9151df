import StrataLog
import StrataModel
import StrataRules
import StrataTree
import StrataViews

/// Asking the rules once more, without writing.
extension Store {
    /// The rules by which this handle's store judges.
    package var rules: Rules { pipeline.rules }

    /// What the rules make of a request on the state that is shown. Nothing is written.
    ///
    /// - Parameter rules: others than the store's own.
    /// - Throws: ``Refusal`` where the request fails as a whole; ``StrataError`` if the state cannot be read.
    package func judge(_ request: Request, _ context: RequestContext, by rules: Rules? = nil) throws -> Decision {
        try gate.requireOpen()
        return try (rules ?? self.rules).decide(request, RulesView(Fold(views.pages.fork())), context)
    }

    /// The request of the commit behind the state that is shown; nil if it came of none.
    package func request(of commit: Commit) throws -> RebuiltRequest? {
        try gate.requireOpen()
        return try RequestRebuilder(Fold(views.pages.fork())).next(commit)
    }

    /// What became of the items of a commit's request, as the commit says.
    package func result(of commit: Commit) throws -> RequestResult { try RequestResult(of: commit) }

    /// Whether what a record held was taken away for good by a commit behind an offset.
    package func isErased(_ record: RecordKey, behind offset: UInt64) throws -> Bool {
        try gate.requireOpen()
        return try engine.reader.context.history.isErased(record, behind: offset)
    }
}
