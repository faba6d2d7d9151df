import StrataLog
import StrataModel
import StrataStore

/// The requests that a sync engine sent together, as far as the log has them: those of one operation group.
///
/// A fetch or a send of an engine has a group of its own, unless the app gave it one.
package struct SyncEngineSend: Sendable {
    package struct Request: Sendable {
        /// The offset of its commit, or of the audit of its refusal.
        package let offset: UInt64
        package let kind: EnvelopeHeader.OperationKind
        package let isRefused: Bool
    }

    /// The number of commits before and after a request that are searched for the others. Groups have no index; an
    /// engine sends one request after another, so others are close.
    package static let maximumCommits: UInt64 = 1_024

    /// The database of the engine.
    package let scope: InternedName.Scope
    package let groupID: String
    package let groupName: String
    package private(set) var requests: [Request] = []
    /// The place of the explained request.
    package private(set) var place = 0
    /// True if the log has commits that were not searched.
    package let isCut: Bool

    /// Returns nil if the commit has no request of a sync engine.
    init?(_ commit: ExplainedCommit, in store: Store) throws {
        let header = commit.envelope.header
        let scope = InternedName.Scope.allCases.first { SyncState.operationID(of: $0) == header.operationID }
        guard let scope, !header.groupID.isEmpty else { return nil }
        self.scope = scope
        (groupID, groupName) = (header.groupID, header.groupName)
        let offset = commit.commit.offset
        let first = max(store.log.floor.offset, offset - min(offset, Self.maximumCommits + 1)) + 1
        let last = min(store.offset, offset + Self.maximumCommits)
        isCut = first > store.log.floor.offset + 1 || last < store.offset
        var cursor = try store.log.read(from: first)
        while let next = try cursor.next(), next.offset <= last {
            guard let request = try Self.request(in: next, like: header) else { continue }
            if next.offset == offset { place = requests.count }
            requests.append(request)
        }
    }

    private static func request(in commit: Commit, like asked: EnvelopeHeader) throws -> Request? {
        try commit.payload.withUnsafeBytes { payload in
            var walker = try EventWalker(payload)
            let header = try walker.header()
            guard header.device == asked.device, header.operationID == asked.operationID,
                isSameText(header.groupID, asked.groupID)
            else { return nil }
            if !header.requestShape.isEmpty {
                return Request(offset: commit.offset, kind: header.operationKind, isRefused: false)
            }
            while let event = try walker.next() {
                guard event.kind == .requestRefused || event.kind == .nothingToDelete else { continue }
                return Request(
                    offset: commit.offset, kind: header.operationKind, isRefused: event.kind == .requestRefused)
            }
            return nil
        }
    }
}
