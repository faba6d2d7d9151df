import StrataLog
import StrataModel
import StrataTree
import StrataViews

/// Makes the requests again that a log's commits came from (docs/format.md §20), so that they can be judged once more.
///
/// It folds the commits as it goes: a full event says what a record became, and only the state before what was asked.
///
/// ```swift
/// for asked in try RequestRebuilder.requests(of: log) { try store.modify(asked.request, as: asked.actor) }
/// ```
public struct RequestRebuilder {
    package let fold: Fold

    public init() throws { fold = Fold(try PageStore.inMemory().fork()) }

    /// Goes on from a state.
    package init(_ fold: Fold) { self.fold = fold }

    /// All requests of a log, or those behind its base.
    public static func requests(of log: any EventLog) throws -> [RebuiltRequest] {
        let rebuilder = try RequestRebuilder()
        if var base = try log.readBase() { try rebuilder.fold.load(base: base.horizon) { try base.next() } }
        var requests: [RebuiltRequest] = []
        var cursor = try log.read(from: log.floor.offset + 1)
        while let commit = try cursor.next() {
            if let request = try rebuilder.next(commit) { requests.append(request) }
        }
        return requests
    }

    /// The request of a commit, which must be the one behind those that were given before; nil if it came of none.
    public func next(_ commit: Commit) throws -> RebuiltRequest? {
        let envelope = try Envelope(decoding: commit.payload)
        let header = envelope.header
        guard !header.requestShape.isEmpty else {
            try apply(commit)
            return nil
        }
        var events = try ItemEvents(envelope, try RequestShape(decoding: header.requestShape), offset: commit.offset)
        for index in events.saves.indices where events.saves[index].hidesWhatWasAsked {
            let before = try fold.withRecord(events.saves[index].record) { try RecordState(decoding: [UInt8]($0)[...]) }
            guard let before else { throw RequestResult.mismatch(commit.offset, "an update of what was not there") }
            events.saves[index].reduce(to: before)
        }
        if let change = events.userChange { events.accountBefore = try fold.fork.account(of: change.user) }
        try apply(commit)
        return try Self.request(of: events, header, commit, OrdinalNames(fold.fork))
    }

    /// - Parameter events: with what was asked instead of what a record became.
    static func request(
        of events: ItemEvents, _ header: EnvelopeHeader, _ commit: Commit, _ names: OrdinalNames
    ) throws -> RebuiltRequest {
        let actor =
            header.user == 0
            ? Actor.service : Actor(user: try names.text(1, header.user), device: try names.text(2, header.device))
        let request: Request
        switch events.shape.kind {
        case .modifyRecords:
            var maker = try RecordsRequestMaker(events, names)
            request = try maker.make()
        case .modifyZones: request = try events.zonesRequest(names)
        case .administer: request = try events.administerRequest(names)
        case .declareSchema: request = try events.schemaRequest(names)
        case .modifySubscriptions: request = try events.subscriptionsRequest(names)
        case .notify: request = try events.notifyRequest(names)
        }
        return RebuiltRequest(request, actor, header, commit)
    }

    /// Goes past a commit whose request nobody wants.
    package func pass(_ commit: Commit) throws { try apply(commit) }

    private func apply(_ commit: Commit) throws {
        try commit.payload.withUnsafeBytes { try fold.apply($0, offset: commit.offset, time: commit.time) }
    }
}

/// What a state's ordinals stand for.
struct OrdinalNames {
    private let state: Fork

    init(_ state: Fork) { self.state = state }

    private func name(_ namespace: UInt8, _ ordinal: UInt64) throws -> InternedName.Name {
        guard let name = try state.name(namespace, ordinal) else {
            throw StrataError(
                .malformed, "A commit names an ordinal that has no name.",
                .init(expected: "a name in namespace \(namespace)", found: "ordinal \(ordinal)"))
        }
        return name
    }

    func text(_ namespace: UInt8, _ ordinal: UInt64) throws -> String {
        switch try name(namespace, ordinal) {
        case .user(let text), .recordType(let text), .field(let text), .device(_, let text), .zone(_, _, let text): text
        case .database: ""
        }
    }

    /// A zone's database, with the name of its owner.
    func database(ofZone ordinal: UInt64) throws -> DatabaseID {
        guard case .zone(let database, _, _) = try name(4, ordinal) else { return DatabaseID(.private) }
        return try self.database(database)
    }

    /// A database, with the name of its owner.
    func database(_ ordinal: UInt64) throws -> DatabaseID {
        guard case .database(let scope, let owner) = try name(3, ordinal) else { return DatabaseID(.private) }
        return DatabaseID(scope, owner: owner == 0 ? "" : try text(1, owner))
    }

    /// A device with its user.
    func device(_ ordinal: UInt64) throws -> (user: String, device: String) {
        guard case .device(let user, let text) = try name(2, ordinal) else { return ("", "") }
        return (try self.text(1, user), text)
    }
}
