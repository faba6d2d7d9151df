import StrataLog
import StrataModel
import StrataRules
import StrataViews

/// Commits in order, with a lookahead: a refusal is noted after the commits that were written in the meantime, and
/// belongs before some of them.
struct RerunWindow {
    /// The number of commits that are read ahead to find refusals.
    static let lookahead = 64

    private var cursor: any CommitCursor
    private let end: UInt64
    private var commits: [Commit] = []
    private var start = 0
    private var isAtEnd = false
    /// The requests among them that wrote nothing, in the order of offsets.
    var noted: [NotedRequest] = []
    /// The users and devices that the commits intern; a refusal may be judged before the commit that names its user.
    private(set) var names: [(offset: UInt64, name: InternedName)] = []
    /// True if an audit that was taken out has added names since refusals were last judged.
    private var hasNewNames = false
    /// The number of times that a refusal was judged.
    private(set) var askedCount = 0

    init(_ log: any EventLog, from offset: UInt64, through end: UInt64) throws {
        cursor = try log.read(from: offset)
        self.end = end
    }

    /// Returns the next commit; nil after the last one.
    mutating func peek() throws -> Commit? {
        while !isAtEnd, commits.count - start <= Self.lookahead {
            guard let commit = try cursor.next(), commit.offset <= end else {
                isAtEnd = true
                break
            }
            commits.append(commit)
            try addNames(of: commit)
            if let found = try NotedRequest(commit) { noted.append(found) }
        }
        guard start < commits.count else { return nil }
        let next = commits[start]
        if let first = names.first, first.offset < next.offset { names.removeAll { $0.offset < next.offset } }
        return next
    }

    /// Moves past the next commit.
    mutating func advance() {
        start += 1
        guard start > 256 else { return }
        commits.removeFirst(start)
        start = 0
    }

    private mutating func addNames(of commit: Commit) throws {
        try commit.payload.withUnsafeBytes { payload in
            var walker = try EventWalker(payload)
            while let event = try walker.next(), event.kind == .nameInterned {
                let name = try InternedName(decoding: [UInt8](payload[event.body])[...])
                if [.user, .device].contains(name.name.namespace) { names.append((commit.offset, name)) }
            }
        }
    }

    /// Removes and returns the audit that a commit is; nil if it is none.
    mutating func takeNoted(at offset: UInt64) -> NotedRequest? {
        guard let first = noted.first, first.offset == offset else { return nil }
        if names.contains(where: { $0.offset == offset }) { hasNewNames = true }
        return noted.removeFirst()
    }

    // MARK: Requests that wrote nothing

    /// Judges the requests that have just been read.
    ///
    /// - Parameter view: the log's state before the next commit.
    /// - Throws: the error that kept the state from being read, if the state is then unusable.
    mutating func askNew(_ view: @autoclosure () -> RulesView, by rules: Rules) throws {
        for index in noted.indices where !noted[index].isSeen {
            noted[index].isSeen = true
            do { try ask(index, view(), rules) } catch {
                if view().fold.isPartial { throw error }
                // A request that cannot be judged here may be later.
                noted[index].dependencies = .anything
            }
        }
    }

    /// Judges again the requests that a commit may affect. Returns the places of those that gave the noted answer
    /// before the commit and no longer do: they were judged before it, although they were noted later.
    ///
    /// - Parameter view: the log's state after the commit.
    mutating func askAgain(
        after commit: Commit, _ view: @autoclosure () -> RulesView, by rules: Rules
    ) throws -> [Int] {
        defer { hasNewNames = false }
        guard noted.contains(where: { !$0.isReplayed }) else { return [] }
        let touches = try CommitTouches(commit.payload)
        var ended: [Int] = []
        for index in noted.indices where !noted[index].isReplayed {
            guard hasNewNames || noted[index].dependencies.areTouched(by: touches) else { continue }
            let fitted = noted[index].fits
            try ask(index, view(), rules)
            if fitted, !noted[index].fits { ended.append(index) }
        }
        return ended
    }

    private mutating func ask(_ index: Int, _ view: RulesView, _ rules: Rules) throws {
        askedCount += 1
        try noted[index].ask(view, by: rules, names.map(\.name))
        // A user's quota depends on everything that the user saves.
        guard let request = noted[index].request, view.fold.fork.isEmpty(ViewTree.users) else {
            noted[index].dependencies = .anything
            return
        }
        let isOfNone = noted[index].fits && noted[index].event.kind == .nothingToDelete
        noted[index].dependencies = DecisionDependencies(of: request, isOfNone: isOfNone)
    }
}
