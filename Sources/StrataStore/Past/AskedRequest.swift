import StrataLog
import StrataModel
import StrataRules

/// A request as the log records it: one that was committed, or one that a note reports as refused or as changing
/// nothing. Parts that are not recorded are nil.
package struct AskedRequest: Sendable, Equatable {
    /// Nil if it was not kept: with ``bytesNotKept`` by a limit, and else by an earlier release.
    package var request: Request?
    /// The length of a request that was too large, or more than is kept of its user in an hour.
    package var bytesNotKept: Int?
    package var actor: Actor?
    /// The newest commit in the state on which the request was judged.
    ///
    /// A note records it. Invariant: a commit that records none was judged on the state before it, because the log
    /// takes a commit only after the one that its decision expected (``SpeculativeState``). Releases that state rules
    /// keep this. Of a commit before the first stated rules, it is nil.
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

    private init(_ header: EnvelopeHeader, in commit: Commit, isNoted: Bool) {
        self.header = header
        time = commit.time
        commitID = commit.id
        offset = commit.offset
        self.isNoted = isNoted
        judgedOn = header.judgedOn
    }

    /// Reads the request of a commit or a note; nil if it is about none.
    ///
    /// The events of a request for records are the request, except that a full event of an update says what the record
    /// became: it is reduced to the difference from the state before.
    ///
    /// - Parameters:
    ///   - hasCauses: returns true if the rules were stated at the commit or before it. Earlier releases recorded no
    ///     causes.
    ///   - before: returns the state of an updated record before the commit.
    static func read(
        _ commit: Commit, _ names: OrdinalNames, hasCauses: () throws -> Bool,
        before: (RecordSavedEvent) throws -> RecordState
    ) throws -> AskedRequest? {
        guard let events = try ItemEvents.read(commit) else { return try noted(in: commit, names) }
        var asked = AskedRequest(events.header, in: commit, isNoted: false)
        let stateBefore = commit.offset - 1
        if asked.judgedOn == nil, try events.statesRules || hasCauses() { asked.judgedOn = stateBefore }
        for index in events.saves.indices where events.saves[index].hidesWhatWasAsked {
            events.saves[index].reduce(to: try before(events.saves[index]))
        }
        try names.interning(events.names) {
            try asked.nameActor(names)
            guard events.shape.kind == .modifyRecords else {
                (asked.request, asked.bytesNotKept) = (events.shape.wholeRequest, events.shape.bytesNotKept)
                return
            }
            var builder = try RecordsRequestBuilder(events, names)
            asked.request = try builder.make()
        }
        return asked
    }

    /// Reads a note of a request that wrote nothing; nil if the commit is none.
    private static func noted(in commit: Commit, _ names: OrdinalNames) throws -> AskedRequest? {
        let envelope = try Envelope(decoding: commit.payload)
        guard envelope.header.isLazy, let kept = try envelope.events.last?.requestNote()?.kept else { return nil }
        var asked = AskedRequest(envelope.header, in: commit, isNoted: true)
        asked.request = try kept.bytes.map { try Request(decoding: $0[...]) }
        if kept.byteCount > 0 { asked.bytesNotKept = Int(clamping: kept.byteCount) }
        // Earlier releases noted refusals of the service and of devices without a user alike.
        guard envelope.header.user != 0 || envelope.header.actorKind != nil else { return asked }
        let interned = try envelope.events.filter { $0.kind == .nameInterned }.map {
            try InternedName(decoding: $0.body)
        }
        try names.interning(interned) { try asked.nameActor(names) }
        return asked
    }

    private mutating func nameActor(_ names: OrdinalNames) throws {
        actor = try names.actor(of: header)
        if actor == nil, header.user != 0 { throw StrataError.unnamed(.user, header.user) }
    }
}

extension OperationInfo {
    package init(of header: EnvelopeHeader) {
        self.init(
            id: header.operationID, qualityOfService: header.qualityOfService, groupID: header.groupID,
            groupName: header.groupName)
    }
}
