import StrataModel
import StrataViews

/// The decision of the rules on a request. It contains no offset, so it does not depend on the position of its commit.
package struct Decision: Sendable {
    package enum Outcome: Sendable {
        /// The payload of a commit.
        case commit([UInt8])
        /// There is nothing to write.
        case nothing
        /// The device has sent the request before; the answer is the result of that commit.
        case repeats(offset: UInt64)
    }

    package var outcome: Outcome
    /// The result, in which versions of this commit are those of ``Version/ofThisCommit(eventIndex:)``.
    var unplacedResult: RequestResult
    /// The names that the commit interns.
    var names: [InternedName] = []
    /// The record types for which the commit declares fields.
    var changedTypes: [UInt64] = []
    /// True if the commit changes a user's account.
    var changesAccounts = false
    /// The effect of the commit on the usage of users with a quota.
    var usage = UsageChange.unknown
    /// The rules that are the last stated ones after the commit; nil if they are those before it.
    var statedRules: RulesStatedEvent?
    /// True if the commit creates, changes and ends no zone.
    var keepsZones = false
    /// The records and zones that the commit touches, so that the log need not look for them.
    package var touches: [Touch] = []
    /// The number of events of the commit.
    package var eventCount: Int = 0
    /// The states of records before the commit, for folding it into the state that was judged.
    package var found = FoundStates()
    package var trace: Trace?

    init(_ outcome: Outcome, _ result: RequestResult, trace: Trace? = nil) {
        self.outcome = outcome
        unplacedResult = result
        self.trace = trace
    }

    /// Creates the decision to append a commit.
    init(
        _ commit: CommitBuilder, _ header: EnvelopeHeader, _ result: RequestResult, naming names: [InternedName],
        trace: Trace? = nil
    ) {
        self.init(.nothing, result, trace: trace)
        self.names = names
        let payload = commit.payload(header)
        outcome = .commit(payload)
        touches = commit.touches(of: payload)
        assert(
            touches == (try? payload.withUnsafeBytes { try Envelope.touches(of: $0) }),
            "the touches of a decision are those of its payload")
        eventCount = Int(commit.count)
    }

    /// The result of the request if its commit is at `offset`.
    package func result(at offset: UInt64) -> RequestResult {
        var result = unplacedResult
        for index in result.saves.indices {
            if case .success(let version) = result.saves[index] {
                result.saves[index] = .success(version.resolved(in: offset))
            }
        }
        return result
    }
}

/// The applied rules, and the items to which they were applied.
package struct Trace: Sendable, Hashable, CustomStringConvertible {
    package struct Step: Sendable, Hashable {
        package var rule: Rule?
        /// "save 3", "delete 1", or "request".
        package var item: String
        package var note: String

        package init(rule: Rule?, item: String, note: String) { (self.rule, self.item, self.note) = (rule, item, note) }
    }

    package private(set) var steps: [Step] = []

    mutating func add(_ rule: Rule?, _ item: String, _ note: String) {
        steps.append(Step(rule: rule, item: item, note: note))
    }

    package var description: String {
        steps.map { "\($0.rule?.number ?? "-") \($0.item): \($0.note)" }.joined(separator: "\n")
    }
}

/// The effect of a commit on the bytes that count for a quota.
enum UsageChange: Sendable {
    /// Unknown: the usage must be read again.
    case unknown
    /// No change to the bytes of a user with a quota.
    case none
    /// The records of a database, given by its ordinal, grow by this number of bytes in total.
    case grows(database: UInt64, bytes: Int)
}
