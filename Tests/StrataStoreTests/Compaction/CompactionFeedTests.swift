import StrataLog
import StrataModel
import TestSupport
import Testing

@testable import StrataStore

@Suite("Feeds of a store that lets go of its history", .timeLimit(.minutes(2)))
struct CompactionFeedTests {
    /// What a device knows of the notes by their feed alone.
    private struct Device {
        var records: [String: Version] = [:]
        var token: FeedToken?
        var expirations = 0

        /// False when nothing is left.
        mutating func follow(_ notes: CompactedNotes, limit: Int) throws -> Bool {
            do {
                let page = try notes.page(since: token, limit: limit)
                for record in page.changed { records[record.id.name] = record.version }
                for deletion in page.deleted { records[deletion.id.name] = nil }
                token = page.token
                return page.moreComing
            } catch let refusal as Refusal where refusal.code == .changeTokenExpired {
                expirations += 1
                (records, token) = ([:], nil)
                return true
            }
        }
    }

    private func stored(_ notes: CompactedNotes) throws -> [String: Version] {
        try Mirror.stored(in: NoteRequest.zone.name, Client(of: notes.store))
    }

    private func filled() throws -> CompactedNotes {
        let notes = try CompactedNotes()
        try notes.fill(6, bytes: 300)
        return notes
    }

    @Test("A compaction at each page boundary: pages are right, or the token has expired, and who begins anew gets all")
    func everyBoundary() throws {
        let template = try filled()
        let end = template.store.offset
        try template.store.close()
        var (served, expired) = (0, 0)
        for start in [nil, 3, 6] as [Int?] {
            for boundary in 0..<4 {
                for horizon in stride(from: UInt64(1), through: end + 4, by: 3) {
                    let disk = template.disk.afterPowerLoss(seed: 1, keeping: .everything)
                    let notes = try CompactedNotes(disk)
                    var device = Device()
                    // A device that has followed up to here, or is new.
                    var pages = start ?? 0
                    while pages > 0, try device.follow(notes, limit: 4) { pages -= 1 }
                    try notes.fill(2, bytes: 30)
                    for _ in 0..<boundary { _ = try device.follow(notes, limit: 3) }
                    let before = device.token?.position.offset
                    try notes.store.compact(before: horizon + 1)
                    var count = 0
                    while try device.follow(notes, limit: 3) {
                        count += 1
                        try #require(count < 100)
                    }
                    let wanted = try stored(notes)
                    try #require(device.records == wanted, "\(start ?? -1), \(boundary), \(horizon)")
                    if let before {
                        if before < horizon { #expect(device.expirations == 1) }
                        if before > horizon { #expect(device.expirations == 0) }
                    }
                    (served, expired) = (served + 1 - device.expirations, expired + device.expirations)
                    try notes.store.close()
                }
            }
        }
        #expect(served > 20 && expired > 5, "\(served), \(expired)")
    }

    @Test("The database's feed too, and what a token is told of itself")
    func databases() throws {
        let notes = try filled()
        func page(_ token: FeedToken?) throws -> DatabaseFeedPage {
            try notes.store.databaseChanges(in: NoteRequest.database, since: token, as: CompactedNotes.anna)
        }
        let old = try page(nil).token
        let zoneToken = try notes.page(since: nil).token
        try notes.fill(1)
        let new = try page(nil).token
        try notes.store.compact(before: new.position.offset + 1)
        for token in [old, zoneToken] {
            #expect(try notes.store.standing(of: token).refusal?.code == .changeTokenExpired)
        }
        #expect(try notes.store.standing(of: new).refusal == nil)
        try #expect(page(new).changed.isEmpty)
        #expect(throws: Refusal.self) { _ = try page(old) }
        try notes.save(["later"])
        try #expect(page(new).changed == [NoteRequest.zone])
        try #expect(page(nil).changed == [NoteRequest.zone])
        try notes.store.close()
    }
}
