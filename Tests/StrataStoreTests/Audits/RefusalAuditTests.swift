import StrataLog
import StrataModel
import StrataRules
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

/// What is kept of requests that came to nothing: docs/rules.md §14.
@Suite struct RefusalAuditTests {
    private static func lazy(_ log: any EventLog) throws -> [(offset: UInt64, envelope: Envelope)] {
        var found: [(UInt64, Envelope)] = []
        var cursor = try log.read(from: 1)
        while let commit = try cursor.next() {
            let envelope = try Envelope(decoding: commit.payload)
            if envelope.header.isLazy { found.append((commit.offset, envelope)) }
        }
        return found
    }

    private static func refusals(_ log: any EventLog) throws -> [RequestRefusedEvent] {
        try lazy(log).compactMap { $0.envelope.events.last { $0.kind == .requestRefused } }.map {
            try RequestRefusedEvent(decoding: $0.body)
        }
    }

    /// What a client asks that is refused, and the code of the request or of its first item.
    private static let refused: [(Refusal.Code, isWhole: Bool, @Sendable (Client) -> Request)] = [
        (.limitExceeded, true, { client in client.request((0..<401).map { .init("r\($0)") }) }),
        (.invalidArguments, true, { $0.request([.init("a"), .init("a")]) }),
        (
            .permissionFailure, true,
            { _ in
                Request(database: DatabaseID(.private), .administer(.note(ConsoleNote("x"))))
            }
        ),
        (
            .badDatabase, true,
            { client in
                var names = RequestNames()
                let body = ModifyZonesRequest(saves: [.init(names.ordinal(of: ZoneID("Z")))])
                return Request(database: DatabaseID(.public), names: names, .modifyZones(body))
            }
        ),
        (.notAuthenticated, true, { $0.request([.init("a")]) }),
        (.accountTemporarilyUnavailable, true, { $0.request([.init("a")]) }),
        (.serverRecordChanged, false, { $0.request([.init("there", ["n": .int64(2)])]) }),
        (.unknownItem, false, { $0.request([.init("gone", base: Version(offset: 1, eventIndex: 0))]) }),
        (.zoneNotFound, false, { $0.request([.init("a", in: "Nowhere")]) }),
        (.userDeletedZone, false, { $0.request([.init("a", in: "Purged")]) }),
        (.referenceViolation, false, { $0.request([.init("a", parent: "nobody")]) }),
        (
            .permissionFailure, false,
            { client in
                client.with { $0.scope = .public }.request([.init("ben's", ["n": .int64(2)])])
            }
        ),
        (
            .serverRejectedRequest, false,
            { client in
                let content = ModifySubscriptionsRequest(saves: [
                    Subscription("again", .database, notification: NotificationInfo())
                ])
                return Request(database: DatabaseID(.private), .modifySubscriptions(content))
            }
        ),
    ]

    @Test(arguments: refused.indices)
    func `Each refusal is kept complete, behind the next commit`(_ index: Int) throws {
        let (code, isWhole, make) = Self.refused[index]
        let client = try Client(.notingRefusals)
        #expect(client.zones(save: ["Purged"]) == [nil])
        let there = try client.save("there")
        try client.store.purgeZone(ZoneID("Purged"), of: "anna")
        let other = client.with {
            $0.user = "ben"
            $0.scope = .public
            $0.policy = .allKeys
        }
        try other.save("ben's")
        let first = ModifySubscriptionsRequest(saves: [
            Subscription("first", .database, notification: NotificationInfo())
        ])
        try client.store.modify(Request(database: DatabaseID(.private), .modifySubscriptions(first)), as: client.actor)
        var actor = client.actor
        if code == .notAuthenticated { actor.user = "" }
        if code == .accountTemporarilyUnavailable {
            try client.store.setAccountStatus(.temporarilyUnavailable, of: "anna")
        }
        let before = client.store.offset
        let request = make(client)
        let answer = Result { () throws -> Answer in
            try client.store.modify(request, as: actor, operation: OperationInfo(id: "op", groupName: "group"))
        }
        #expect(try client.store.offset == before && Self.lazy(client.store.log).isEmpty)
        try client.store.noteConsole(ConsoleNote("something that is written"))
        let lazy = try Self.lazy(client.store.log)
        #expect(lazy.map(\.offset) == [before + 2] && client.store.offset == before + 2)
        let header = try #require(lazy.first?.envelope.header)
        #expect(header.operationID == "op" && header.groupName == "group" && header.requestShape.isEmpty)
        #expect((header.user == 0) == actor.user.isEmpty && (header.device == 0) == actor.user.isEmpty)
        // Only a commit is an operation's outcome: a request that came to nothing is judged again.
        #expect(try client.store.answer(toOperation: "op", after: 0) == nil)
        let kept = try #require(try Self.refusals(client.store.log).first)
        #expect(try Request(decoding: try #require(kept.request)[...]) == request)
        switch answer {
        case .failure(let error):
            let refusal = try #require(error as? Refusal)
            #expect(isWhole && refusal.code == code && kept.code == code.rawValue && kept.message == refusal.message)
            #expect(kept.culprits.isEmpty)
        case .success(let answer):
            #expect(!isWhole && answer.offset == nil && kept.code == Refusal.Code.partialFailure.rawValue)
            #expect(kept.culprits.map(\.code) == [code.rawValue])
            if code == .serverRecordChanged { #expect(kept.culprits.first?.version == there) }
        }
    }

    @Test func `B91 deleting what is not there is kept as such`() throws {
        let client = try Client(.notingRefusals)
        try client.save("a")
        #expect(client.codes(deletes: ["x", "y"]) == [nil, nil])
        try client.save("b")
        let lazy = try Self.lazy(client.store.log)
        let event = try #require(lazy.first?.envelope.events.last)
        let kept = try NothingToDeleteEvent(decoding: event.body)
        #expect(kept.count == 2 && lazy.count == 1)
        #expect(try Request(decoding: try #require(kept.request)[...]) == client.request([], deletes: ["x", "y"]))
    }

    @Test func `What comes to something is not kept twice, and nothing where it is not asked for`() throws {
        for records in [true, false] {
            var options = StoreOptions.notingRefusals
            options.recordsRefusals = records
            let client = try Client(options)
            try client.save("a")
            // Refused in part: the commit's shape has it.
            #expect(
                client.with { $0.isAtomic = false }.codes([.init("a"), .init("b")]) == [.serverRecordChanged, nil])
            #expect(client.codes([]) == [])
            if !records { #expect(client.codes([.init("a")]) == [.serverRecordChanged]) }
            try client.save("c")
            #expect(try Self.lazy(client.store.log).isEmpty)
        }
    }

    @Test func `Who was never seen is named, and comes as anybody else later`() throws {
        let client = try Client(.notingRefusals)
        let request = Request(database: DatabaseID(.private), .administer(.note(ConsoleNote("x"))))
        #expect(client.with { $0.user = "carl" }.ask(request).refusal?.code == .permissionFailure)
        try client.save("a")
        let lazy = try #require(try Self.lazy(client.store.log).first).envelope
        #expect(
            lazy.events.map(\.kind) == [.nameInterned, .nameInterned, .userRecordNamed, .deviceSeen, .requestRefused])
        let name = client.store.recordName(of: "carl")
        #expect(try client.store.snapshot().recordedName(of: "carl") == name)
        let carl = client.with { $0.user = "carl" }
        try carl.save("b")
        #expect(carl.exists("b"))
    }

    @Test func `They are written when there are too many, when their time has come, and when the store is closed`()
        throws
    {
        var options = StoreOptions.notingRefusals
        let client = try Client(options)
        try client.save("a")
        let request = client.request([.init("a", ["t": .string(text(100_000))])])
        for _ in 0..<12 { _ = try client.store.modify(request, as: client.actor) }
        let isWritten = try eventually { try Self.refusals(client.store.log).count >= 10 }
        #expect(isWritten)
        #expect(client.store.pipeline.audits.byteCount <= AuditPolicy.maximumWaitingBytes)

        let log = MemoryLog()
        let store = try Store(on: log, options: options)
        #expect(throws: Refusal.self) { try store.modify(client.request([.init("a")]), as: Actor(user: "")) }
        let before = log.end
        try store.close()
        log.reopen()
        #expect(try before == .start && Self.refusals(log).count == 1)

        options.auditDelayMilliseconds = 30
        let soon = try Client(options)
        for round in 1...3 {
            #expect(soon.with { $0.user = "" }.codes([.init("x")]) == [.notAuthenticated])
            let isWritten = try eventually { try Self.refusals(soon.store.log).count == round }
            #expect(isWritten)
        }
    }

    @Test func `Alone they are not synced; a loss of power may take them, and no commit`() throws {
        for seed in 0..<10 as Range<UInt64> {
            let disk = SimulatedDisk()
            var options = StoreOptions.notingRefusals
            options.auditDelayMilliseconds = 20
            // Or zeros ahead of the log were synced beside it.
            options.spaceStepBytes = 0
            let client = Client(of: try Store.open(at: "/s", options: options, platform: Platform(files: disk)))
            #expect(client.zones(save: ["Notes"]) == [nil])
            let accepted = client.store.offset
            let syncs = disk.count(of: .syncData)
            #expect(client.with { $0.user = "carl" }.codes([.init("x", in: "Nowhere")]) == [.zoneNotFound])
            try #require(eventually { client.store.log.end.offset > accepted })
            #expect(disk.count(of: .syncData) == syncs && client.store.durableOffset == accepted)
            // What a device is given now must hold afterwards.
            let token = try client.store.databaseChanges(in: client.database, as: client.actor).token
            #expect(token.position.offset == accepted)
            let after = Client(
                of: try Store.open(
                    at: "/s", options: options, platform: Platform(files: disk.afterPowerLoss(seed: seed))))
            #expect(after.store.offset >= accepted && after.store.offset <= accepted + 1)
            let page = try after.store.databaseChanges(in: after.database, since: token, as: after.actor)
            #expect(page.changed.isEmpty)
            try after.save("a", in: "Notes")
            #expect(after.store.durableOffset == after.store.offset && after.exists("a", in: "Notes"))
            #expect(
                try after.store.databaseChanges(in: after.database, since: token, as: after.actor).changed.count == 1)
        }
    }

    @Test func `With a batch they share its write and its sync`() throws {
        let disk = SimulatedDisk()
        var options = StoreOptions.notingRefusals
        // Or zeros ahead of the log were synced beside it.
        options.spaceStepBytes = 0
        let client = Client(of: try Store.open(at: "/s", options: options, platform: Platform(files: disk)))
        try client.save("a")
        func syncs(_ body: () throws -> Void) throws -> Int {
            let before = disk.count(of: .syncData)
            try body()
            return disk.count(of: .syncData) - before
        }
        let plain = try syncs { try client.save("b") }
        let refused = try syncs {
            for _ in 0..<100 { #expect(client.codes([.init("a")]) == [.serverRecordChanged]) }
        }
        let next = try syncs { try client.save("c") }
        // A flush may come in between.
        #expect(refused == 0 && next <= plain + 1)
        #expect(try Self.refusals(client.store.log).count == 100)
        #expect(client.store.durableOffset == client.store.offset)
    }

    @Test func `What is fetched is kept with what was asked, and how far it got`() throws {
        var options = StoreOptions.notingRefusals
        options.recordsRefusals = false
        options.recordsFetches = true
        let client = try Client(options)
        let (store, actor, own) = (client.store, client.actor, client.database)
        #expect(client.zones(save: ["Notes"]) == [nil])
        for name in ["a", "b", "c"] { try client.save(name, in: "Notes") }
        let offset = store.offset
        let ids = [client.id("a", in: "Notes"), client.id("x", in: "Notes")]
        _ = try store.fetch(ids, in: own, desiredKeys: ["k"], as: actor)
        let first = try store.query(.new(.init("Note")), in: own, limit: 2, as: actor)
        let cursor = try #require(first.cursor)
        _ = try store.query(.continued(cursor), in: own, limit: 2, as: actor)
        let changes = try store.databaseChanges(in: own, as: actor)
        let page = try store.zoneChanges(of: ZoneID("Notes"), in: own, since: nil, limit: 1, as: actor)
        try store.noteConsole(ConsoleNote("something that is written"))
        let lazy = try Self.lazy(store.log)
        #expect(lazy.map(\.envelope.header.operationKind) == [.fetch, .query, .query, .feed, .feed])
        let kept = try lazy.map { try FetchedEvent(decoding: try #require($0.envelope.events.last).body) }
        #expect(kept.map(\.resultCount) == [1, 2, 1, 1, 1] && kept.allSatisfy { $0.offset == offset })
        #expect(try kept[0].ids() == ids && kept[0].desiredKeys == ["k"])
        #expect(kept[1].query == cursor.query.encoded() && kept[1].moreComing && !kept[1].isContinued)
        #expect(kept[2].query == cursor.query.encoded() && !kept[2].moreComing && kept[2].isContinued)
        // A cursor has values of the last match, which an erasure would have to find here.
        #expect(kept[1...2].allSatisfy { $0.givenToken == nil && $0.returnedToken == nil })
        #expect(try kept[3].returnedToken == store.bytes(of: changes.token) && kept[3].givenToken == nil)
        #expect(try kept[4].returnedToken == store.bytes(of: page.token))
        #expect(kept[4].zone == ZoneID("Notes") && kept[4].moreComing)
    }
}
