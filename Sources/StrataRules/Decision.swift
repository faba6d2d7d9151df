import StrataModel

/// What the rules make of a request. It names no offset, so it does not depend on where its commit lands.
public struct Decision: Sendable {
    public enum Outcome: Sendable {
        /// The payload of a commit.
        case commit([UInt8])
        /// There was nothing to write.
        case nothing
        /// The device sent the request before: what that commit came to is the answer.
        case repeats(offset: UInt64)
    }

    public var outcome: Outcome
    /// Versions of this commit are those of ``Version/ofThisCommit(eventIndex:)``.
    var unplacedResult: RequestResult
    /// What the commit interns.
    var names: [InternedName] = []
    /// Record types whose fields the commit declares.
    var changedTypes: [UInt64] = []
    /// Whether the commit says something of a user.
    var changesAccounts = false
    /// What the commit does to the bytes that users with a quota use.
    var usage = UsageChange.unknown
    /// Whether the commit makes, changes and ends no zone.
    var keepsZones = false
    /// How many events the commit has.
    public var eventCount: Int = 0
    public var trace: Trace?

    init(_ outcome: Outcome, _ result: RequestResult, trace: Trace? = nil) {
        self.outcome = outcome
        unplacedResult = result
        self.trace = trace
    }

    /// What became of the items, if the commit is at `offset`.
    public func result(at offset: UInt64) -> RequestResult {
        var result = unplacedResult
        for index in result.saves.indices {
            if case .success(let version) = result.saves[index] {
                result.saves[index] = .success(version.resolved(in: offset))
            }
        }
        return result
    }
}

/// The rules that were applied, and to which items.
public struct Trace: Sendable, Hashable, CustomStringConvertible {
    public struct Step: Sendable, Hashable {
        public var rule: Rule?
        /// "save 3", "delete 1", or "request".
        public var item: String
        public var note: String

        public init(rule: Rule?, item: String, note: String) { (self.rule, self.item, self.note) = (rule, item, note) }
    }

    public private(set) var steps: [Step] = []

    mutating func add(_ rule: Rule?, _ item: String, _ note: String) {
        steps.append(Step(rule: rule, item: item, note: note))
    }

    public var description: String {
        steps.map { "\($0.rule?.number ?? "-") \($0.item): \($0.note)" }.joined(separator: "\n")
    }
}

/// What a commit does to the bytes that count for a quota.
enum UsageChange: Sendable {
    /// Anything: who wants to know looks.
    case unknown
    /// Nothing that is counted for somebody with a quota.
    case none
    /// The records of a database, an ordinal, together become so much larger.
    case grows(database: UInt64, bytes: Int)
}
