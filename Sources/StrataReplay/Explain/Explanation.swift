import StrataLog
import StrataModel
import StrataRules
import StrataStore

/// Explains the answer to a request: the rule that decided, the state it judged, and what that state had. The log
/// records all causes of the answer (``ExplanationBuilder``).
///
/// ```swift
/// let why = try Explanation.of(4_711, in: store)
/// for item in why.items { print(item.name, item.rules.map(\.number), item.conflict?.fields ?? []) }
/// ```
package struct Explanation: Sendable {
    package enum Outcome: String, Sendable, CaseIterable {
        case accepted, acceptedInPart, refused, nothingToDo
        /// The commit has no request to judge.
        case withoutRequest
    }

    /// The offset of the explained commit.
    package let offset: UInt64
    /// The time of the commit, in microseconds since 1970.
    package let time: Int64
    /// The actor of the request; the user's name is empty if the client was not signed in, or if that is not recorded.
    package internal(set) var actor = Actor(user: "", device: "")
    package let operation: EnvelopeHeader.OperationKind
    package internal(set) var outcome: Outcome
    /// Nil if it was not kept.
    package internal(set) var database: DatabaseID?
    package internal(set) var policy: SavePolicy?
    package internal(set) var isAtomic: Bool?
    /// The request in words, without URLs and addresses; nil if the items describe it, or if it is not known.
    package internal(set) var asked: String?
    /// The offset of the state that the request was judged on; nil if it is not recorded or was compacted away.
    package internal(set) var judgedAt: UInt64?
    /// The reason the request failed as a whole; nil if it did not.
    package internal(set) var code: Refusal.Code?
    package internal(set) var message: String?
    /// The rules that decided on the whole request.
    package internal(set) var rules: [ExplanationRule] = []
    package internal(set) var items: [Item] = []
    /// The facts for which the whole request was refused.
    package internal(set) var facts: [Fact] = []
    /// The changes that the commit made besides its items.
    package internal(set) var effects: [CommitEffect] = []
    /// Notes on what is unknown, and why.
    package internal(set) var notes: [String] = []
    /// The send of a sync engine that the request belongs to; nil if no engine sent it.
    package private(set) var sync: SyncEngineSend?

    /// A fact of the state, and the commit that made it so, if known.
    package struct Fact: Sendable, Hashable {
        package let text: String
        package let offset: UInt64?

        init(_ text: String, by offset: UInt64? = nil) {
            self.text = text
            self.offset = offset
        }
    }

    /// A save or a delete of the request.
    package struct Item: Sendable {
        package let list: RequestShape.List
        package let index: Int
        /// The zone of a record; nil for other items.
        package let zone: ZoneID?
        /// The name of the record, the zone or the subscription.
        package let name: String
        /// Nil if the item was accepted or needed nothing.
        package internal(set) var code: Refusal.Code?
        package internal(set) var message: String?
        package internal(set) var rules: [ExplanationRule] = []
        /// The version of the record that the client had seen.
        package internal(set) var base: Version?
        /// The version of the record that the store had, if it was refused, or made from an older version.
        package internal(set) var stored: Version?
        /// The version that the save made.
        package internal(set) var made: Version?
        package internal(set) var facts: [Fact] = []
        /// The conflict of a save that was made from another state than the stored one.
        package internal(set) var conflict: RecordConflict?
        /// True if the change failed but stays pending in the sync engine that sent it; nil if it did not fail, or if
        /// no engine has it among its changes.
        package fileprivate(set) var staysPending: Bool?

        /// True if the item was refused only because another item of its zone was.
        package var isBystander: Bool { code == .batchRequestFailed }

        init(_ list: RequestShape.List, _ index: Int, zone: ZoneID? = nil, name: String) {
            self.list = list
            self.index = index
            self.zone = zone
            self.name = name
        }
    }

    /// The items that were refused for reasons of their own.
    package var culprits: [Item] { items.filter { $0.code != nil && !$0.isBystander } }

    /// Explains the outcome of a request as a commit records it. The log has refused requests only if the store keeps
    /// audits of them.
    ///
    /// - Parameters:
    ///   - usesWholeStates: true to judge on whole states only, for tests to compare with.
    ///   - didOpen: called with the offset of each past state that is opened.
    /// - Throws: ``StrataError`` `outOfRange` for an offset that the store does not have, or whose preceding state was
    ///   compacted away.
    package static func of(
        _ offset: UInt64, in store: Store, usesWholeStates: Bool = false,
        didOpen: @escaping (UInt64) -> Void = { _ in }
    ) throws -> Explanation {
        let commit = try ExplainedCommit(offset, in: store)
        let builder = ExplanationBuilder(
            commit: commit, store: store, usesWholeStates: usesWholeStates, didOpen: didOpen)
        var explanation = try builder.explanation()
        explanation.notes += try builder.notesOfConsole()
        explanation.sync = try SyncEngineSend(commit, in: store)
        // Subscriptions are never pending in an engine.
        guard explanation.sync != nil, [.modifyRecords, .modifyZones].contains(explanation.operation) else {
            return explanation
        }
        for place in explanation.items.indices {
            let code = explanation.items[place].code ?? explanation.code
            explanation.items[place].staysPending = code?.isRetriedBySyncEngine
        }
        return explanation
    }

    init(_ commit: ExplainedCommit, _ outcome: Outcome) {
        offset = commit.commit.offset
        time = commit.commit.time
        operation = commit.envelope.header.operationKind
        self.outcome = outcome
    }
}

/// A commit of a store, decoded.
struct ExplainedCommit {
    let commit: Commit
    let envelope: Envelope

    /// - Throws: ``StrataError`` `outOfRange` for an offset without a commit.
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
