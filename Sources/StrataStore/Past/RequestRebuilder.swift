import StrataLog
import StrataModel
import StrataTree
import StrataViews

/// Rebuilds the requests of a log's commits (docs/format.md §20), so that they can be judged again.
///
/// It folds the commits one by one: a full event says what a record became, and only the state before it shows what was
/// requested.
///
/// ```swift
/// for asked in try RequestRebuilder.requests(of: log) { try store.modify(asked.request, as: asked.actor) }
/// ```
package struct RequestRebuilder {
    package let fold: Fold
    private let names: OrdinalNames

    package init() throws { self.init(Fold(try PageStore.inMemory().fork())) }

    /// Starts from a state.
    package init(_ fold: Fold) {
        self.fold = fold
        names = OrdinalNames { fold.fork }
    }

    /// Returns all requests of a log, or those after its base.
    package static func requests(of log: any EventLog) throws -> [RebuiltRequest] {
        let rebuilder = try RequestRebuilder()
        if var base = try log.readBase() { try rebuilder.fold.load(base: base.horizon) { try base.next() } }
        var requests: [RebuiltRequest] = []
        var cursor = try log.read(from: log.floor.offset + 1)
        while let commit = try cursor.next() {
            if let request = try rebuilder.next(commit) { requests.append(request) }
        }
        return requests
    }

    /// Returns the request of a commit, which must follow the commits passed before; nil if the commit has no request.
    package func next(_ commit: Commit) throws -> RebuiltRequest? {
        let request = try request(of: commit)
        try pass(commit)
        return request
    }

    /// Returns what the log says about the request of a commit or note after the folded state; nil if the commit has
    /// neither. Stays before the commit.
    package func asked(by commit: Commit) throws -> AskedRequest? {
        if let noted = try AskedRequest.noted(in: commit, names) { return noted }
        let hasCauses = try fold.fork.statedRules() != nil
        return try request(of: commit).map { try AskedRequest($0, in: commit, hasCauses: hasCauses) }
    }

    /// Like ``next(_:)``, but stays before the commit.
    package func request(of commit: Commit) throws -> RebuiltRequest? {
        guard let events = try ItemEvents.read(commit) else { return nil }
        for index in events.saves.indices where events.saves[index].hidesWhatWasAsked {
            let before = try fold.withRecord(events.saves[index].record) { try RecordState(decoding: [UInt8]($0)[...]) }
            guard let before else {
                throw RequestResult.mismatch(commit.offset, "an update of a record that did not exist")
            }
            events.saves[index].reduce(to: before)
        }
        try events.readAccounts(in: fold.fork)
        return try names.interning(events.names) { try Self.request(of: events, commit, names) }
    }

    /// - Parameter events: the events, reduced to what was requested.
    static func request(
        of events: ItemEvents, _ commit: Commit, _ names: OrdinalNames
    ) throws -> RebuiltRequest {
        let header = events.header
        guard let actor = try names.actor(of: header) else { throw StrataError.unnamed(.user, header.user) }
        let request: Request
        switch events.shape.kind {
        case .modifyRecords:
            var maker = try RecordsRequestBuilder(events, names)
            request = try maker.make()
        case .modifyZones: request = try events.zonesRequest(names)
        case .administer: request = try events.administerRequest(names)
        case .declareSchema: request = try events.schemaRequest(names)
        case .modifySubscriptions: request = try events.subscriptionsRequest(names)
        case .notify: request = try events.notifyRequest(names)
        case .joinShares:
            guard let asked = events.shape.request else {
                throw RequestResult.mismatch(events.offset, "no request to join shares")
            }
            request = asked
        }
        return RebuiltRequest(request, actor, header, commit)
    }

    /// Folds a commit, to continue after it.
    package func pass(_ commit: Commit) throws {
        try commit.payload.withUnsafeBytes { try fold.apply($0, offset: commit.offset, time: commit.time) }
    }
}
