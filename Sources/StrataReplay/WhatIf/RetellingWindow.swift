import StrataLog
import StrataModel
import StrataRules
import StrataViews

/// Commits in order, with a look at those that come: a refusal is noted behind the commits that were written meanwhile,
/// and belongs in front of some of them.
struct RetellingWindow {
    /// A refusal is looked for so many commits ahead.
    static let lookahead = 64

    private var cursor: any CommitCursor
    private let end: UInt64
    private var commits: [Commit] = []
    private var start = 0
    private var isAtEnd = false
    /// Those of them that came to nothing, by offset.
    var noted: [NotedRequest] = []
    /// Users and devices that they intern: a refusal may be told in front of the commit that names who was refused.
    private(set) var names: [(offset: UInt64, name: InternedName)] = []
    /// Whether an audit that was taken out has brought names since refusals were asked.
    private var hasNewNames = false
    /// Whether refusals are asked behind each commit, whatever they depend on: what tests compare with.
    var asksAlways = false
    /// How often a refusal was asked.
    private(set) var askedCount = 0

    init(_ log: any EventLog, from offset: UInt64, through end: UInt64) throws {
        cursor = try log.read(from: offset)
        self.end = end
    }

    /// The commit that comes next; nil behind the last.
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

    /// Goes past the commit that comes next.
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

    /// Takes out the audit that a commit is.
    mutating func takeNoted(at offset: UInt64) -> NotedRequest? {
        guard let first = noted.first, first.offset == offset else { return nil }
        if names.contains(where: { $0.offset == offset }) { hasNewNames = true }
        return noted.removeFirst()
    }

    // MARK: What came to nothing

    /// Asks those that have just come in.
    ///
    /// - Parameter view: the log's state in front of the next commit.
    /// - Throws: what has kept the state from being read, where it can only be dropped then.
    mutating func askNew(_ view: @autoclosure () -> RulesView, by rules: Rules) throws {
        for index in noted.indices where !noted[index].isSeen {
            noted[index].isSeen = true
            do { try ask(index, view(), rules) } catch {
                if view().fold.isTorn { throw error }
                // One that cannot be asked here may be later.
                noted[index].stakes = .anything
            }
        }
    }

    /// Asks those again that a commit may make a difference to.
    ///
    /// - Parameter view: the log's state behind the commit.
    /// - Returns: places of those that fitted in front of it and do not behind: they were judged by then, though they
    ///   were noted later.
    mutating func askAgain(
        behind commit: Commit, _ view: @autoclosure () -> RulesView, by rules: Rules
    ) throws -> [Int] {
        defer { hasNewNames = false }
        guard noted.contains(where: { !$0.isTold }) else { return [] }
        let touches = try CommitTouches(commit.payload)
        var ended: [Int] = []
        for index in noted.indices where !noted[index].isTold {
            guard asksAlways || hasNewNames || noted[index].stakes.areTouched(by: touches) else { continue }
            let fitted = noted[index].fits
            try ask(index, view(), rules)
            if fitted, !noted[index].fits { ended.append(index) }
        }
        return ended
    }

    private mutating func ask(_ index: Int, _ view: RulesView, _ rules: Rules) throws {
        askedCount += 1
        noted[index].fits = try noted[index].fits(view, by: rules, names.map(\.name))
        // What a user may use up depends on all that the user saves.
        guard let request = noted[index].request, view.fold.fork.isEmpty(ViewTree.users) else {
            noted[index].stakes = .anything
            return
        }
        let isOfNone = noted[index].fits && noted[index].event.kind == .nothingToDelete
        noted[index].stakes = Stakes(of: request, isOfNone: isOfNone)
    }
}
