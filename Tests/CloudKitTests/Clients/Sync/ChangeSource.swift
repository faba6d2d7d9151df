import CloudKit
import StrataSystem

@testable import CloudKit

/// Where a client learns what others have done.
protocol ChangeSource: Sendable {
    /// What has become of a zone's records since a token; nil for all that are there.
    ///
    /// - Throws: `changeTokenExpired` for a token that is of no use any more.
    func changes(in zone: CKRecordZone.ID, since token: CKServerChangeToken?) async throws -> ZoneChanges
}

struct ZoneChanges {
    var changed: [CKRecord] = []
    var deleted: [CKRecord.ID] = []
    var token: CKServerChangeToken
}

/// Finds changes by fetching every record that there may be; its tokens hold the change tags that it saw.
///
/// Feeds can take its place.
final class PollingSource: ChangeSource {
    private struct Seen: Codable {
        var generation: Int
        var tags: [String: String]
    }

    private let database: CKDatabase
    private let names: [String]
    /// Tokens of earlier generations have expired.
    private let generation: Lock<Int>

    init(_ database: CKDatabase, names: [String], generation: Lock<Int>) {
        self.database = database
        self.names = names
        self.generation = generation
    }

    func changes(in zone: CKRecordZone.ID, since token: CKServerChangeToken?) async throws -> ZoneChanges {
        let now = generation.withLock { $0 }
        let seen = try token.map { try JSONDecoder().decode(Seen.self, from: Data($0.bytes)) }
        if let seen, seen.generation != now { throw CKError(.changeTokenExpired) }
        var (changed, deleted, tags): ([CKRecord], [CKRecord.ID], [String: String]) = ([], [], [:])
        let ids = names.map { CKRecord.ID(recordName: $0, zoneID: zone) }
        for (id, result) in try await database.records(for: ids) {
            do {
                let record = try result.get()
                tags[id.recordName] = record.recordChangeTag
                if seen?.tags[id.recordName] != record.recordChangeTag { changed.append(record) }
            } catch CKError.unknownItem {
                // It may have come and gone since the token; a feed would tell that too.
                if seen != nil { deleted.append(id) }
            }
        }
        let next = try JSONEncoder().encode(Seen(generation: now, tags: tags))
        return ZoneChanges(changed: changed, deleted: deleted, token: CKServerChangeToken(bytes: [UInt8](next)))
    }
}
