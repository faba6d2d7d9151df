import StrataLog
import StrataModel
import StrataRules

/// Commits in order, with a look at those that come: a refusal is noted behind the commits that were written meanwhile,
/// and belongs in front of some of them.
struct RetellingWindow {
    /// A refusal is looked for so many commits ahead.
    private static let lookahead = 64

    /// A request that came to nothing, as an audit tells of it.
    struct Noted {
        let offset: UInt64
        let commit: Commit
        let header: EnvelopeHeader
        let event: Event
        /// Nil where the audit does not have it.
        let request: Request?
        let audit: RequestRefusedEvent?
        /// Whether the log's own state, where it has come to, gives what the audit says.
        var fits = false
        /// Whether it has been asked at all if it does.
        var isSeen = false
        /// Whether it has been judged in the new timeline.
        var isTold = false
        /// What is to be noted at its place.
        var writes: Event?
    }

    private var cursor: any CommitCursor
    private let end: UInt64
    private var commits: [Commit] = []
    private var start = 0
    private var isAtEnd = false
    /// Those of them that came to nothing, by offset.
    var noted: [Noted] = []
    /// Users and devices that they intern: a refusal may be told in front of the commit that names who was refused.
    private(set) var names: [(offset: UInt64, name: InternedName)] = []

    init(_ log: any EventLog, from offset: UInt64, through end: UInt64) throws {
        cursor = try log.read(from: offset)
        self.end = end
    }

    mutating func next() throws -> Commit? {
        while !isAtEnd, commits.count - start <= Self.lookahead {
            guard let commit = try cursor.next(), commit.offset <= end else {
                isAtEnd = true
                break
            }
            commits.append(commit)
            try addNames(of: commit)
            if let found = try Noted(commit) { noted.append(found) }
        }
        guard start < commits.count else { return nil }
        names.removeAll { $0.offset < commits[start].offset }
        defer { start += 1 }
        if start > 256 {
            commits.removeFirst(start)
            start = 0
        }
        return commits[start]
    }

    private mutating func addNames(of commit: Commit) throws {
        try commit.payload.withUnsafeBytes { payload in
            var walker = try EventWalker(payload)
            while let event = try walker.next(), event.kind == .nameInterned {
                let name = try InternedName(decoding: [UInt8](payload[event.body])[...])
                if name.name.namespace <= 2 { names.append((commit.offset, name)) }
            }
        }
    }

    /// Takes out the audit that a commit is.
    mutating func takeNoted(at offset: UInt64) -> Noted? {
        guard let first = noted.first, first.offset == offset else { return nil }
        return noted.removeFirst()
    }
}

extension RetellingWindow.Noted {
    /// Nil for a commit that is no such audit.
    init?(_ commit: Commit) throws {
        let isCandidate = try commit.payload.withUnsafeBytes { payload in
            var walker = try EventWalker(payload)
            guard walker.eventCount <= 8 else { return false }
            while let event = try walker.next() {
                if event.kind == .requestRefused || event.kind == .nothingToDelete { return true }
            }
            return false
        }
        guard isCandidate else { return nil }
        let envelope = try Envelope(decoding: commit.payload)
        guard envelope.header.requestShape.isEmpty, let event = envelope.events.last else { return nil }
        var bytes: [UInt8]?
        var audit: RequestRefusedEvent?
        switch event.kind {
        case .requestRefused:
            let refused = try RequestRefusedEvent(decoding: event.body)
            (audit, bytes) = (refused, refused.request)
        case .nothingToDelete: bytes = try NothingToDeleteEvent(decoding: event.body).request
        default: return nil
        }
        offset = commit.offset
        self.commit = commit
        header = envelope.header
        self.event = event
        self.audit = audit
        request = try bytes.map { try Request(decoding: $0[...]) }
    }

    var operation: OperationInfo { OperationInfo(header) }
}

extension OperationInfo {
    init(_ header: EnvelopeHeader) {
        self.init(
            id: header.operationID, qualityOfService: header.qualityOfService, groupID: header.groupID,
            groupName: header.groupName)
    }
}
