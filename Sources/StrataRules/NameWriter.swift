import StrataModel

/// Assigns ordinals to new names, in the order in which a commit first uses them.
struct NameWriter {
    let view: RulesView
    private(set) var new: [InternedName] = []
    private var known: [InternedName.Name: UInt64] = [:]
    /// The next ordinal of each namespace, once a name is new; 0 if not yet known.
    private var next: [UInt64] = []
    /// The record names that a request gives to new users.
    private var recordNames: [ExactName: String] = [:]

    init(_ view: RulesView) { self.view = view }

    mutating func ordinal(of name: InternedName.Name) throws -> UInt64 {
        if let ordinal = try view.ordinal(of: name) { return ordinal }
        if let ordinal = known[name] { return ordinal }
        let namespace = name.namespace.index
        if next.isEmpty { next = Array(repeating: 0, count: Namespace.count) }
        if next[namespace] == 0 { next[namespace] = try view.nextOrdinal(name.namespace) }
        let ordinal = next[namespace]
        next[namespace] += 1
        known[name] = ordinal
        new.append(InternedName(ordinal: ordinal, name: name))
        return ordinal
    }

    /// Names the record of a user, unless the user is known by then.
    mutating func nameRecord(of user: String, _ recordName: String) { recordNames[ExactName(text: user)] = recordName }

    /// Appends the new names, and then the names of new users' records (docs/rules.md §1).
    func append(to commit: inout CommitBuilder) throws {
        for name in new { try commit.append(name) }
        for interned in new {
            guard case .user(let user) = interned.name else { continue }
            guard let recordName = try recordNames[ExactName(text: user)] ?? view.nameOfNewRecord(of: user) else {
                continue
            }
            try commit.append(UserRecordNamedEvent(user: interned.ordinal, recordName: recordName))
        }
    }
}
