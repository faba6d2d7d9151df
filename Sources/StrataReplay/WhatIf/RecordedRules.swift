import StrataModel
import StrataRules
import StrataStore

/// The rules that a log states, by the commits from which they were in force.
struct RecordedRules {
    private var stated: [(first: UInt64, rules: Rules)] = []

    /// - Parameters:
    ///   - last: the last commit whose rules are needed.
    ///   - chosen: returns the rules to use in place of stated ones.
    init(of store: Store, through last: UInt64, _ chosen: (Rules) -> Rules) throws {
        let history = RulesHistory(of: store)
        var offset = last
        while let event = try history.stated(at: offset), let first = event.original?.offset,
            let rules = try history.rules(at: offset)
        {
            stated.insert((first, chosen(rules)), at: 0)
            guard first > 0 else { break }
            offset = first - 1
        }
    }

    /// Returns the rules that judged the request of a commit; nil if the log does not have them.
    func rules(at offset: UInt64) -> Rules? {
        let count = stated.endOfPrefix { $0.first <= offset }
        return count == 0 ? nil : stated[count - 1].rules
    }
}
