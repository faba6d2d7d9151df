import StrataModel
import StrataQuery
import StrataRules
import StrataViews

/// The rules under which the requests of a store's history were judged, as far as the log states them.
///
/// ```swift
/// let rules = try RulesHistory(of: store).rules(at: commit.offset) ?? store.rules
/// ```
package struct RulesHistory {
    private let store: Store

    package init(of store: Store) { self.store = store }

    /// Returns the rules that judged the request of the commit or note at an offset; nil if they are not recorded.
    package func rules(at offset: UInt64) throws -> Rules? {
        try stated(at: offset).map { store.rules.replacing(by: $0) }
    }

    /// Returns the event that stated these rules, with its version; nil if there is none.
    package func stated(at offset: UInt64) throws -> RulesStatedEvent? {
        try store.trees.snapshot().statedRules(at: offset)
    }
}

extension Rules {
    /// Returns rules with the limits and policies of others.
    fileprivate func replacing(by stated: RulesStatedEvent) -> Rules {
        var rules = self
        rules.limits.itemsPerRequest = Int(clamping: stated.limits.itemsPerRequest)
        rules.limits.requestBytes = Int(clamping: stated.limits.requestBytes)
        rules.limits.recordBytes = Int(clamping: stated.limits.recordBytes)
        rules.limits.owningReferences = Int(clamping: stated.limits.owningReferences)
        rules.limits.movedRecords = Int(clamping: stated.limits.movedRecords)
        rules.touchesParents = stated.policies.contains(.touchesParents)
        rules.schema = stated.policies.contains(.enforcesSchema) ? .enforced : .open
        let dialect: PredicateDialect = stated.policies.contains(.extendsPredicates) ? .extended : .cloudKit
        rules.checkPredicate = { try PredicateCheck(dialect).check(PredicateParser.parse($0)) }
        return rules
    }
}
