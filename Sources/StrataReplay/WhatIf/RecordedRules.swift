import StrataModel
import StrataRules
import StrataStore

/// The rules that a log states, by the commits from which they were in force.
struct RecordedRules {
    private var stated: [(first: UInt64, rules: Rules)] = []
    /// The number of stated rules up to those that were returned last.
    private var used = 0

    /// - Parameters:
    ///   - last: the last commit whose rules are needed.
    ///   - chosen: returns the rules to use in place of stated ones.
    init(of store: Store, through last: UInt64, _ chosen: (Rules) -> Rules) throws {
        let history = RulesHistory(of: store)
        var offset = last
        while let event = try history.stated(at: offset), let first = event.original?.offset,
            let recorded = try history.rules(at: offset)
        {
            var rules = chosen(recorded)
            // The trees need not be searched for them at each commit.
            let inForce = RulesStatedEvent(event.limits, event.policies)
            rules.stated = { _ in inForce }
            stated.insert((first, rules), at: 0)
            guard first > 0 else { break }
            offset = first - 1
        }
    }

    /// Returns the rules that judged the request of a commit if they are not those that were returned last; nil if they
    /// are, or if the log does not have them.
    mutating func change(at offset: UInt64) -> Rules? {
        let count = stated.endOfPrefix { $0.first <= offset }
        guard count != used, count > 0 else { return nil }
        used = count
        return stated[count - 1].rules
    }
}
