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
    private let names: OrdinalNames

    public init() throws { self.init(Fold(try PageStore.inMemory().fork())) }

    /// Goes on from a state.
    package init(_ fold: Fold) {
        self.fold = fold
        names = OrdinalNames { try fold.fork.name($0, $1) }
    }

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
        let request = try request(of: commit)
        try pass(commit)
        return request
    }

    /// As ``next(_:)``, and stays in front of the commit.
    package func request(of commit: Commit) throws -> RebuiltRequest? {
        guard let events = try ItemEvents.read(commit) else { return nil }
        for index in events.saves.indices where events.saves[index].hidesWhatWasAsked {
            let before = try fold.withRecord(events.saves[index].record) { try RecordState(decoding: [UInt8]($0)[...]) }
            guard let before else { throw RequestResult.mismatch(commit.offset, "an update of what was not there") }
            events.saves[index].reduce(to: before)
        }
        if let change = events.userChange { events.accountBefore = try fold.fork.account(of: change.user) }
        return try names.interning(events.names) { try Self.request(of: events, commit, names) }
    }

    /// - Parameter events: with what was asked instead of what a record became.
    static func request(
        of events: ItemEvents, _ commit: Commit, _ names: OrdinalNames
    ) throws -> RebuiltRequest {
        let header = events.header
        guard let actor = try names.actor(of: header) else { throw StrataError.unnamed(.user, header.user) }
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

    /// Goes past a commit.
    package func pass(_ commit: Commit) throws {
        try commit.payload.withUnsafeBytes { try fold.apply($0, offset: commit.offset, time: commit.time) }
    }
}
