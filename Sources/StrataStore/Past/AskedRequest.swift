import StrataLog
import StrataModel
import StrataRules
import StrataTree
import StrataViews

/// What the log says about a request: of one that was committed, or of one that a note says was refused or changed
/// nothing. What it does not say is nil.
package struct AskedRequest: Sendable, Equatable {
    /// Nil if it was not kept: because it was too large (``bytesNotKept``), or by an earlier release.
    package var request: Request?
    /// The length of a request that was too large to keep.
    package var bytesNotKept: Int?
    package var actor: Actor?
    /// The newest commit in the state on which the request was judged.
    package var judgedOn: UInt64?
    package var header: EnvelopeHeader
    /// The time of the commit, in microseconds since 1970.
    package var time: Int64
    package var commitID: Identifier
    /// The offset of the commit: that of the request itself, or of the note.
    package var offset: UInt64
    /// True if the request wrote nothing, and the commit is a note of that.
    package var isNoted: Bool

    package var operation: OperationInfo { OperationInfo(of: header) }

    /// - Parameter hasCauses: true if the rules were stated at the commit or before it, so that the releases that wrote
    ///   it recorded causes.
    init(
        _ request: Request?, bytesNotKept: Int?, by actor: Actor?, _ header: EnvelopeHeader, in commit: Commit,
        isNoted: Bool, hasCauses: Bool
    ) {
        self.request = request
        self.bytesNotKept = bytesNotKept
        self.actor = actor
        self.header = header
        time = commit.time
        commitID = commit.id
        offset = commit.offset
        self.isNoted = isNoted
        judgedOn = header.judgedOn ?? (hasCauses && !isNoted ? commit.offset - 1 : nil)
    }

    init(_ rebuilt: RebuiltRequest, in commit: Commit, hasCauses: Bool) throws {
        let header = try commit.payload.withUnsafeBytes { try EventWalker($0).header() }
        self.init(
            rebuilt.request, bytesNotKept: nil, by: rebuilt.actor, header, in: commit, isNoted: false,
            hasCauses: hasCauses)
    }

    /// Reads a note of a request that wrote nothing; nil if the commit is none.
    static func noted(in commit: Commit, _ names: OrdinalNames) throws -> AskedRequest? {
        let envelope = try Envelope(decoding: commit.payload)
        guard envelope.header.isLazy, let note = envelope.events.last else { return nil }
        let (request, count): ([UInt8]?, UInt64)
        switch note.kind {
        case .requestRefused:
            let refused = try RequestRefusedEvent(decoding: note.body)
            (request, count) = (refused.request, refused.requestBytes)
        case .nothingToDelete:
            let nothing = try NothingToDeleteEvent(decoding: note.body)
            (request, count) = (nothing.request, nothing.requestBytes)
        default: return nil
        }
        let header = envelope.header
        let interned = try envelope.events.filter { $0.kind == .nameInterned }.map {
            try InternedName(decoding: $0.body)
        }
        let isKnown = header.user != 0 || header.actorKind != nil
        return AskedRequest(
            try request.map { try Request(decoding: $0[...]) }, bytesNotKept: count == 0 ? nil : Int(clamping: count),
            by: isKnown ? try names.actor(of: header, interned) : nil, header, in: commit, isNoted: true,
            hasCauses: true)
    }
}

extension OperationInfo {
    fileprivate init(of header: EnvelopeHeader) {
        self.init(
            id: header.operationID, qualityOfService: header.qualityOfService, groupID: header.groupID,
            groupName: header.groupName)
    }
}
