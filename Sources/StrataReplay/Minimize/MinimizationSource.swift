import StrataLog
import StrataModel
import StrataStore
import StrataTree

/// The requests to search, read from the log as they are needed.
final class MinimizationSource {
    /// The maximum number of requests kept in memory.
    private static let keptCount = 8_192
    /// The maximum gap that is read through rather than skipped.
    private static let skippedCount: UInt64 = 256

    /// The offsets of the requests' commits, ascending.
    private(set) var offsets: [UInt64] = []
    private(set) var versions: MinimizationVersions
    /// Limits requests to their items about these records; nil for whole requests.
    private let records: Set<RecordName>?
    private let log: any EventLog
    private let requests: PastRequests
    private let state: Fork
    private var kept: [UInt64: MinimizationRequest?] = [:]
    private var cursor: (any CommitCursor)?
    /// The offset that the cursor reads next.
    private var place: UInt64 = 0

    /// - Parameter isStopped: called from time to time; if it returns true, only the requests found by then are used.
    init(
        _ store: Store, _ offsets: some Sequence<UInt64>, about records: Set<RecordName>? = nil,
        isStopped: () -> Bool, _ progress: (UInt64) -> Void
    ) throws {
        log = store.log
        requests = try PastRequests(of: store)
        state = try store.trees.fork()
        versions = MinimizationVersions(floor: log.floor.offset)
        self.records = records
        for offset in offsets {
            if offset % 4_096 == 0 {
                if isStopped() { break }
                progress(offset)
            }
            guard let commit = try commit(at: offset) else { continue }
            versions.add(try SavedVersions.saves(of: commit.payload), at: offset)
            guard try !commit.header.requestShape.isEmpty else { continue }
            self.offsets.append(offset)
        }
    }

    /// Returns nil if nothing of the request is left, or if it was erased, compacted or not recorded.
    func request(at offset: UInt64) throws -> MinimizationRequest? {
        if let known = kept[offset] { return known }
        var found: MinimizationRequest?
        if let commit = try commit(at: offset) {
            do { found = try request(of: commit) } catch let error as StrataError
                where [.erased, .malformed, .outOfRange].contains(error.code)
            { found = nil }
        }
        if kept.count >= Self.keptCount { kept.removeAll() }
        kept[offset] = .some(found)
        return found
    }

    private func request(of commit: Commit) throws -> MinimizationRequest? {
        guard let asked = try requests.asked(by: commit).flatMap({ RebuiltRequest($0) }) else { return nil }
        let versions = try SavedVersions.saves(of: commit.payload).map { save in
            (key: try SavedVersions.Key(save, state), version: Version(offset: commit.offset, eventIndex: save.index))
        }
        let request = try MinimizationRequest(
            asked, versions, SavedVersions.shares(of: commit.payload), in: state)
        return records.map { request.about($0) } ?? request
    }

    private func commit(at offset: UInt64) throws -> Commit? {
        if cursor == nil || offset < place || offset - place > Self.skippedCount {
            cursor = try log.read(from: offset)
            place = offset
        }
        while let commit = try cursor?.next() {
            place = commit.offset + 1
            if commit.offset == offset { return commit }
            if commit.offset > offset { break }
        }
        cursor = nil
        return nil
    }
}
