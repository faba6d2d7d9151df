import StrataLog
import StrataModel
import StrataRules
import StrataStore

/// Why a request was answered as it was: which rule decided, against which state, and what that state had.
///
/// The rules judge the request once more, so the answer is theirs and not a guess. A refusal is noted behind what was
/// committed meanwhile; the state that it was judged against is the newest in front of it that gives the same answer.
///
/// ```swift
/// let why = try Explanation.of(4_711, in: store)
/// for item in why.items { print(item.name, item.rules.map(\.number), item.conflict?.fields ?? []) }
/// ```
public struct Explanation: Sendable {
    public enum Outcome: String, Sendable, CaseIterable {
        case accepted, acceptedInPart, refused, nothingToDo
        /// The commit has no request to judge.
        case withoutRequest
    }

    /// Of the commit that is explained.
    public let offset: UInt64
    /// Of the commit, microseconds since 1970.
    public let time: Int64
    /// Who asked; the user's name is empty where nobody was signed in.
    public internal(set) var actor: Actor
    public let operation: EnvelopeHeader.OperationKind
    public internal(set) var outcome: Outcome
    /// Nil where it was not kept.
    public internal(set) var database: DatabaseID?
    public internal(set) var policy: SavePolicy?
    public internal(set) var isAtomic: Bool?
    /// The state against which it was judged; nil where none gives the answer that was given.
    public internal(set) var judgedAt: UInt64?
    /// Why the request failed as a whole; nil if it did not.
    public internal(set) var code: Refusal.Code?
    public internal(set) var message: String?
    /// That decided on the whole request.
    public internal(set) var rules: [ExplanationRule] = []
    public internal(set) var items: [Item] = []
    /// What the state had that the whole request was refused for.
    public internal(set) var facts: [Fact] = []
    /// What cannot be told, and why.
    public internal(set) var notes: [String] = []

    /// Something that the state had, and the commit that made it so, where that is known.
    public struct Fact: Sendable, Hashable {
        public let text: String
        public let offset: UInt64?

        init(_ text: String, by offset: UInt64? = nil) {
            self.text = text
            self.offset = offset
        }
    }

    /// A save or a delete of the request.
    public struct Item: Sendable {
        public let list: RequestShape.List
        public let index: Int
        /// Of a record; nil of anything else.
        public let zone: ZoneID?
        /// Of the record, the zone or the subscription.
        public let name: String
        /// Nil for what was accepted, or needed nothing.
        public internal(set) var code: Refusal.Code?
        public internal(set) var message: String?
        public internal(set) var rules: [ExplanationRule] = []
        /// What the client had seen of the record.
        public internal(set) var base: Version?
        /// What the store had of it.
        public internal(set) var stored: Version?
        /// What the save made.
        public internal(set) var made: Version?
        public internal(set) var facts: [Fact] = []
        /// Of a save that met another state than the client knew.
        public internal(set) var conflict: RecordConflict?

        /// Refused only because another item of its zone was.
        public var isBystander: Bool { code == .batchRequestFailed }

        init(_ list: RequestShape.List, _ index: Int, zone: ZoneID? = nil, name: String) {
            self.list = list
            self.index = index
            self.zone = zone
            self.name = name
        }
    }

    /// The items that were refused for reasons of their own.
    public var culprits: [Item] { items.filter { $0.code != nil && !$0.isBystander } }
    public var bystanders: [Item] { items.filter(\.isBystander) }

    /// Explains what a commit says of a request: that it was accepted, or refused, of which the log has audits where
    /// the store was told to keep them.
    ///
    /// - Throws: ``StrataError`` `outOfRange` for an offset that the store does not have, or whose preceding state was
    ///   compacted away.
    public static func of(_ offset: UInt64, in store: Store) throws -> Explanation {
        let commit = try ExplainedCommit(offset, in: store)
        if let audit = commit.event(.requestRefused) {
            return try ExplanationMaker(commit, store).refusal(RequestRefusedEvent(decoding: audit.body))
        }
        if let audit = commit.event(.nothingToDelete) {
            return try ExplanationMaker(commit, store).nothingToDelete(NothingToDeleteEvent(decoding: audit.body))
        }
        guard !commit.envelope.header.requestShape.isEmpty else {
            return try ExplanationMaker(commit, store).withoutRequest()
        }
        return try ExplanationMaker(commit, store).acceptance()
    }

    init(_ commit: ExplainedCommit, _ outcome: Outcome, by actor: Actor) {
        offset = commit.commit.offset
        time = commit.commit.time
        operation = commit.envelope.header.operationKind
        self.actor = actor
        self.outcome = outcome
    }
}

/// A commit of a store, read.
struct ExplainedCommit {
    let commit: Commit
    let envelope: Envelope

    /// - Throws: ``StrataError`` `outOfRange` for an offset that the store has no commit at.
    init(_ offset: UInt64, in store: Store) throws {
        let log = store.log
        guard offset > log.floor.offset, offset <= store.offset, let commit = try log.commit(at: offset) else {
            throw StrataError(
                .outOfRange, "The store has no commit at that offset.",
                .init(expected: "\(log.floor.offset + 1) to \(store.offset)", found: "\(offset)"))
        }
        self.commit = commit
        envelope = try Envelope(decoding: commit.payload)
    }

    func event(_ kind: EventKind) -> Event? { envelope.events.last { $0.kind == kind } }
}
