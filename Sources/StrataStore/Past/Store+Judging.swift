import StrataLog
import StrataModel
import StrataRules
import StrataSystem
import StrataTree
import StrataViews

/// Judging by the rules, without writing.
extension Store {
    /// The rules of this handle's store, for judging its history again: the secret, the names of users' records and the
    /// stated rules are those that its log records.
    package var rules: Rules {
        var rules = pipeline.rules
        rules.secrets.newSecret = (try? engine.secret()) ?? StoreSecret(from: SystemRandom())
        let names = snapshot()
        rules.secrets.recordedName = { try names.recordedName(of: $0) }
        let trees = views.trees.snapshot()
        rules.stated = { try trees.statedRules(at: $0).map { RulesStatedEvent($0.limits, $0.policies) } }
        if let drawn = try? views.trees.snapshot().firstSecretVersion() {
            rules.secrets.recordsSecret = drawn.offset == 1
        }
        return rules
    }

    /// Returns the decision of the rules on a request, based on the current state. Nothing is written.
    ///
    /// - Parameter rules: the rules to use instead of the store's own.
    /// - Throws: ``Refusal`` if the request fails as a whole; ``StrataError`` if the state cannot be read.
    package func judge(_ request: Request, _ context: RequestContext, by rules: Rules? = nil) throws -> Decision {
        try gate.requireOpen()
        return try (rules ?? self.rules).decide(request, RulesView(Fold(try views.trees.fork())), context)
    }

    /// Returns the outcome of the items of a commit's request, as recorded in the commit.
    package func result(of commit: Commit) throws -> RequestResult { try RequestResult(of: commit) }

    /// Returns true if a record was erased by a commit after an offset.
    package func isErased(_ record: RecordKey, after offset: UInt64) throws -> Bool {
        try gate.requireOpen()
        return try engine.reader.context.history.isErased(record, after: offset)
    }
}
