import StrataModel

/// Maps the commits and versions of a log to those of a new timeline.
///
/// Versions that only move by a number of commits cost no memory.
struct VersionMap {
    /// The distance that commits move, forward or back, from an old offset on.
    private var shifts: [(from: UInt64, by: Int64)] = []
    /// The new versions of saves that are another event of their commit.
    private var moved: [Version: Version] = [:]
    /// The saves that did not happen, with the version before each.
    private var gone: [Version: Version?] = [:]

    /// The new tokens of shares' URLs, which depend on when their zones were created.
    private var tokens: [String: String] = [:]

    mutating func place(_ offset: UInt64, at newOffset: UInt64) {
        let shift = Int64(newOffset) - Int64(offset)
        if shift != shifts.last?.by ?? 0 { shifts.append((offset, shift)) }
    }

    mutating func move(token: String, to new: String) { tokens[token] = new }

    mutating func move(_ old: Version, to new: Version) { moved[old] = new }

    /// - Parameter previous: the record's version before it, in the log.
    mutating func remove(_ version: Version, previous: Version?) { gone[version] = .some(previous) }

    /// Returns the new offset of a commit, or of the one that takes its place.
    func offset(of old: UInt64) -> UInt64 {
        let count = shifts.endOfPrefix { $0.from <= old }
        return count == 0 ? old : UInt64(max(0, Int64(old) + shifts[count - 1].by))
    }

    /// Returns the version that a client has seen if it named a version of the log: that version, or if it does not
    /// exist, the newest existing one before it; nil if there is none, as for a new record.
    func version(of old: Version) -> Version? {
        var version = old
        while true {
            if let known = moved[version] { return known }
            guard let previous = gone[version] else { break }
            guard let previous else { return nil }
            version = previous
        }
        return Version(offset: offset(of: version.offset), eventIndex: version.eventIndex)
    }

    // MARK: Requests

    /// Returns a request of the log as its client would have sent it.
    func request(_ old: Request) -> Request {
        old.mapping(version: { version(of: $0) }, offset: { offset(of: $0) }).mapping(tokens: tokens)
    }
}

extension Request {
    /// Returns the request with its versions and offsets mapped to another log.
    ///
    /// - Parameter version: returns nil for a version that no record has.
    func mapping(version: (Version) -> Version?, offset: (UInt64) -> UInt64) -> Request {
        var request = self
        switch content {
        case .modifyRecords(var body):
            guard body.saves.contains(where: { $0.base != nil }) else { return self }
            for index in body.saves.indices { body.saves[index].base = body.saves[index].base.flatMap(version) }
            request.content = .modifyRecords(body)
        case .notify(var body):
            for index in body.deliveries.indices {
                body.deliveries[index].through = offset(body.deliveries[index].through)
            }
            body.fired = body.fired.compactMap { fired in version(fired.by).map { .init(id: fired.id, by: $0) } }
            request.content = .notify(body)
        case .administer(.expireTokens(let before, let inAll)):
            request.content = .administer(.expireTokens(before: offset(before), inAll: inAll))
        case .modifyZones, .modifySubscriptions, .declareSchema, .administer, .joinShares: break
        }
        return request
    }

    /// Returns the request with the tokens of shares mapped to another log.
    func mapping(tokens: [String: String]) -> Request {
        guard case .joinShares(var body) = content else { return self }
        var request = self
        body.tokens = body.tokens.map { tokens[$0] ?? $0 }
        request.content = .joinShares(body)
        return request
    }
}
