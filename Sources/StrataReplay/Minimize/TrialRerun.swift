import StrataLog
import StrataModel
import StrataRules
import StrataTree

/// Judges some of a log's requests in order, as if there had been no others.
final class TrialRerun {
    let timeline: AlternateTimeline
    private let versions: MinimizationVersions
    private var moved: [Version: Version] = [:]
    /// The new tokens of shares' URLs, which depend on when their zones were created.
    private var tokens: [String: String] = [:]
    /// The old and new offsets of commits, ascending.
    private var places: [(old: UInt64, new: UInt64)] = []
    /// The records that requests saved, and the parents that they set.
    private(set) var records: Set<RecordName> = []

    init(_ timeline: AlternateTimeline, _ versions: MinimizationVersions) {
        self.timeline = timeline
        self.versions = versions
    }

    /// Judges a request, and returns it with versions of the new timeline.
    @discardableResult
    func replay(_ request: MinimizationRequest) throws -> (request: Request, AlternateTimeline.Judged) {
        let asked = request.asked
        let mapped = asked.request.mapping(
            version: { versions.version(of: $0, moved) }, offset: { place(of: $0) }
        ).mapping(tokens: tokens)
        records.formUnion(request.records)
        let judged = try timeline.judge(
            mapped, as: asked.actor, asked.operation,
            at: .init(time: asked.time, id: asked.commitID) { request.shares })
        if let (offset, payload) = judged.written {
            places.append((asked.offset, offset))
            try align(request, offset, payload)
        }
        return (mapped, judged)
    }

    /// Returns the shares that a request with tokens of this timeline joins.
    func shares(of request: Request) throws -> [JoinedShare?] {
        guard case .joinShares(let body) = request.content else { return [] }
        let state = timeline.fork
        return try body.tokens.map { token in
            guard let found = try state.share(ofToken: token), let share = try state.share(found.share) else {
                return nil
            }
            let (database, zone) = try state.requiredZone(share.record.zone)
            return JoinedShare(
                owner: database.owner, id: RecordID(share.record.name, zone: ZoneID(zone)),
                isByOneTimeURL: !found.participant.isEmpty)
        }
    }

    /// Maps the versions that the request made in the log to those that it makes now.
    private func align(_ request: MinimizationRequest, _ offset: UInt64, _ payload: ArraySlice<UInt8>) throws {
        for (old, new) in try SavedVersions.movedTokens(from: request.shares, to: payload) { tokens[old] = new }
        guard !request.versions.isEmpty else { return }
        let found = try SavedVersions.indexes(of: SavedVersions.saves(of: payload), in: timeline.fork)
        for (key, version) in request.versions {
            if let index = found[key] { moved[version] = Version(offset: offset, eventIndex: index) }
        }
    }

    /// Returns the new offset of a commit, or of the last one before it that exists; 0 if there is none.
    private func place(of old: UInt64) -> UInt64 {
        let count = places.endOfPrefix { $0.old <= old }
        return count == 0 ? 0 : places[count - 1].new
    }
}

/// The share that a token finds.
struct JoinedShare: Sendable {
    let owner: String
    let id: RecordID
    let isByOneTimeURL: Bool
}
