import Foundation
import StrataLog
import StrataModel
import StrataSystem
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

/// The secret of a store, and the URLs of shares that rest on it (docs/security.md).
@Suite("The secret of a store")
struct SecretTests {
    private let anna = Actor(user: "anna", device: "phone")

    private func drawn(in store: Store) throws -> [UInt64] {
        var offsets: [UInt64] = []
        var cursor = try store.log.read(from: store.log.floor.offset + 1)
        while let commit = try cursor.next() {
            if try Envelope(decoding: commit.payload).events.contains(where: { $0.kind == .secretDrawn }) {
                offsets.append(commit.offset)
            }
        }
        return offsets
    }

    @Test("A new store uses its secret from the beginning, and records it once, in its first commit")
    func firstCommit() throws {
        let directory = try TestDirectory()
        let path = directory.path("Notes.strata")
        let store = try Store.open(at: path)
        let secret = try store.engine.secret()
        try store.modify(.zones(saving: [ZoneID("Notes")]), as: anna)
        try store.modify(.zones(saving: [ZoneID("More")]), as: anna)
        #expect(try store.engine.secret() == secret && store.snapshot().trees.secret() == secret)
        #expect(try drawn(in: store) == [1] && store.offset == 2)
        #expect(try store.asOf(0).engine.secret() == secret)
        try store.close()
        let again = try Store.open(at: path)
        #expect(try again.engine.secret() == secret && again.offset == 2)
        try again.close()
        let reader = try Store.open(at: path, access: .readOnly)
        #expect(try reader.engine.secret() == secret)
        try reader.close()
        #expect(try Store.inMemory().engine.secret() != secret)
    }

    @Test("A store that is only read and has no secret says so")
    func missing() throws {
        let directory = try TestDirectory()
        let path = directory.path("Old.strata")
        try OldStore().make(at: path)
        let store = try Store.open(at: path, access: .readOnly)
        let error = #expect(throws: StrataError.self) { try store.engine.secret() }
        let message = "The store has no secret yet, so it makes no change tokens. Open it once for writing."
        #expect(error?.message == message)
        try store.close()
    }

    @Test("The first opening for writing gives all shares new URLs, and draws the secret")
    func migration() throws {
        let directory = try TestDirectory()
        let path = directory.path("Old.strata")
        let old = try OldStore()
        try old.make(at: path)
        let store = try Store.open(at: path)
        let end = UInt64(old.commits.count) + 1
        #expect(try drawn(in: store) == [end] && store.offset == end)
        let state = store.snapshot().trees
        #expect(try state.secret() == store.engine.secret())
        for (number, token) in old.tokens {
            let share = try #require(try state.share(number))
            #expect(share.urlToken != token && share.urlToken.utf8.count == 25, "share \(number)")
            #expect(try state.share(ofToken: token) == nil, "share \(number)")
            #expect(try (state.share(ofToken: share.urlToken)?.share == number) != share.isEnded, "share \(number)")
        }
        let oneTime = try #require(try state.share(2)?.oneTimeTokens.first).token
        #expect(try state.share(ofToken: old.oneTimeToken) == nil)
        #expect(try state.share(ofToken: oneTime)?.participant == "once")
        let record = try store.snapshot().record(
            RecordID("Share-2", zone: ZoneID("Notes")), in: DatabaseID(.private), as: anna)
        let shown = try #require(try record.shareState)
        #expect(try shown.urlToken == state.share(2)?.urlToken && shown.participants.last?.oneTimeToken == oneTime)
        let joining = Request(
            database: SharedDoor.shared,
            .joinShares(JoinSharesRequest(.accept, tokens: [try #require(old.tokens[1])])))
        let result = try store.modify(joining, as: Actor(user: "cleo", device: "phone")).result
        #expect(Result<RequestResult, Refusal>.success(result).codes.map { $0?.rawValue } == [11])
        try store.close()
        let again = try Store.open(at: path)
        #expect(try drawn(in: again) == [end])
        try again.close()
    }

    @Test("The shares whose URLs changed appear in the feeds of their owner and of their members")
    func feeds() throws {
        let store = try OldStore().inMemory()
        let ben = Actor(user: "ben", device: "phone")
        let places: [(zone: ZoneID, database: DatabaseID, actor: Actor, changed: [String])] = [
            (ZoneID("Notes"), DatabaseID(.private), anna, ["Share-1", "Share-2"]),
            (SharedDoor.zone, SharedDoor.shared, ben, ["Share-1"]),
        ]
        let tokens = try places.map {
            let zone = try store.zoneChanges(of: $0.zone, in: $0.database, as: $0.actor).token
            return (zone, try store.databaseChanges(in: $0.database, as: $0.actor).token)
        }
        try store.engine.drawMissingSecret()
        for (place, (zoneToken, databaseToken)) in zip(places, tokens) {
            let page = try store.zoneChanges(of: place.zone, in: place.database, since: zoneToken, as: place.actor)
            #expect(page.changed.map(\.id.name).sorted() == place.changed && page.deleted.isEmpty)
            let zones = try store.databaseChanges(in: place.database, since: databaseToken, as: place.actor).changed
            #expect(zones.count == 1)
        }
    }

    @Test("Many shares take several commits, of which the last draws the secret; an interrupted run is repeated")
    func severalCommits() throws {
        let old = try OldStore()
        let store = try old.inMemory()
        let end = store.offset
        try store.engine.drawMissingSecret(maximumBytes: 1)
        #expect(store.offset == end + 4)
        #expect(try drawn(in: store) == [end + 4])
        let state = store.snapshot().trees
        #expect(try (1...3).allSatisfy { try state.share($0)?.urlToken != old.tokens[$0] })

        // Without the last commit.
        let log = MemoryLog()
        var cursor = try store.log.read(from: 1)
        while let commit = try cursor.next(), commit.offset < store.offset {
            _ = try log.append(
                [NewCommit(id: commit.id, time: commit.time, payload: commit.payload)], expecting: log.end)
        }
        let interrupted = try Store(on: log)
        try interrupted.engine.drawMissingSecret()
        #expect(try drawn(in: interrupted) == [end + 4])
        let repeated = interrupted.snapshot().trees
        #expect(try (1...3).allSatisfy { try repeated.share($0)?.urlToken != state.share($0)?.urlToken })
    }

    @Test("The requests that draw the secret are rebuilt from their commits")
    func rebuilding() throws {
        let store = try OldStore().inMemory()
        let end = store.offset
        try store.engine.drawMissingSecret(maximumBytes: 1)
        let rebuilder = try RequestRebuilder()
        var requests: [Request.Content] = []
        var cursor = try store.log.read(from: 1)
        while let commit = try cursor.next() {
            let asked = try rebuilder.next(commit)
            if commit.offset > end { requests.append(try #require(asked).request.content) }
        }
        let expected: [AdministerRequest] = [
            .drawSecret(from: 1, before: 2), .drawSecret(from: 2, before: 3), .drawSecret(from: 3, before: 4),
            .drawSecret(from: 4, before: 0),
        ]
        #expect(requests == expected.map { .administer($0) })
    }

    @Test("B317 a root that is shared again after its share ended has the new URL of that share")
    func sharedAgain() throws {
        let store = try OldStore().inMemory()
        try store.engine.drawMissingSecret()
        let token = try #require(try store.snapshot().trees.share(3)).urlToken
        var names = RequestNames()
        let zone = names.ordinal(of: ZoneID("Notes"))
        var body = ModifyRecordsRequest(policy: .allKeys)
        var root = ModifyRecordsRequest.Save(RecordKey(zone: zone, name: "third"), type: names.ordinal(ofType: "Note"))
        root.share = .set(RecordKey(zone: zone, name: "Share-4"))
        let share = ModifyRecordsRequest.Save(
            RecordKey(zone: zone, name: "Share-4"), type: names.ordinal(ofType: ShareState.recordType),
            sharing: ShareChange(root: "third"))
        body.saves = [root, share]
        try store.modify(Request(database: DatabaseID(.private), names: names, .modifyRecords(body)), as: anna)
        #expect(try store.snapshot().trees.share(4)?.urlToken == token)
    }
}
