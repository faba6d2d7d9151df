import StrataLog
import StrataModel
import StrataRules
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

/// What the log says about why a request was accepted or refused: docs/format.md §20.
@Suite struct CauseTests {
    private func asked(_ store: Store, at offset: UInt64) throws -> AskedRequest {
        let commit = try #require(try store.log.commit(at: offset))
        return try #require(try PastRequests(of: store).asked(by: commit))
    }

    // MARK: The state and the actor

    @Test func `A note of a refusal says on which state it was judged, and for whom`() throws {
        let client = try Client(.notingRefusals)
        try client.save("a")
        #expect(client.codes([.init("a")]) == [.serverRecordChanged])
        try client.save("b")
        try client.save("c")
        #expect(client.store.offset == 4)
        let refused = try asked(client.store, at: 3)
        #expect(refused.isNoted && refused.judgedOn == 1 && refused.actor == client.actor)
        #expect(refused.request == client.request([.init("a")]) && refused.header.actorKind == nil)

        let request = client.request([.init("x")])
        for actor in [.service, Actor(user: ""), Actor(user: String(repeating: "x", count: 5_000))] {
            let before = client.store.offset
            #expect(client.ask(request, as: actor).refusal != nil)
            try client.save("after \(before)")
            let noted = try asked(client.store, at: before + 2)
            #expect(noted.judgedOn == before && noted.request == request && noted.header.user == 0)
            #expect(noted.header.actorKind == EnvelopeHeader.ActorKind(actor))
            let isUnnamed = noted.header.actorKind == .user
            #expect(noted.actor?.user == (isUnnamed ? nil : actor.user))
        }
    }

    @Test func `B91 a note of nothing to delete says the same`() throws {
        let client = try Client(.notingRefusals)
        try client.save("a")
        #expect(client.codes(deletes: ["x"]) == [nil])
        try client.save("b")
        let noted = try asked(client.store, at: 3)
        #expect(noted.isNoted && noted.judgedOn == 1 && noted.request == client.request([], deletes: ["x"]))
    }

    @Test func `A refusal after commits of its own batch was judged on the last of them`() throws {
        let client = try Client(.notingRefusals)
        #expect(client.zones(save: ["Notes"]) == [nil])
        let (store, actor) = (client.store, client.actor)
        let replies = (0..<3).map { _ in Ticket<Answer>() }
        let names = ["a", "b", "a"]
        store.pipeline.state.withLock { state in
            for (name, reply) in zip(names, replies) {
                state.queue.append(
                    Submission(client.request([.init(name)]), as: actor, OperationInfo(), reply: .ticket(reply)))
            }
        }
        store.pipeline.state.notifyAll()
        let answers = try replies.map { try $0.wait() }
        #expect(answers.map(\.offset) == [2, 3, nil])
        try client.save("c")
        #expect(try asked(store, at: 5).judgedOn == 3)
    }

    @Test func `A commit has no more bytes for it, and was judged on the one before`() throws {
        let client = try Client(.notingRefusals)
        try client.save("a")
        try client.save("b")
        let header = try client.envelope(2).header
        #expect(header.judgedOn == nil && header.actorKind == nil)
        let saved = try asked(client.store, at: 2)
        #expect(!saved.isNoted && saved.judgedOn == 1 && saved.actor == client.actor)
        #expect(saved.request == client.request([.init("b")]))
        try client.store.setQuota(bytes: 300, of: "anna")
        #expect(try client.envelope(3).header.actorKind == .service && asked(client.store, at: 3).actor == .service)
    }

    // MARK: Requests

    @Test func `Each request but one for records is kept as it was sent`() throws {
        let client = try Client(.notingRefusals)
        let store = client.store
        func check(_ request: Request, as actor: Actor) throws {
            let answer = try store.modify(request, as: actor)
            let offset = try #require(answer.offset)
            let found = try asked(store, at: offset)
            #expect(found.request == request && found.actor == actor && found.bytesNotKept == nil)
        }
        var names = RequestNames()
        let zones = ModifyZonesRequest(
            saves: [.init(names.ordinal(of: ZoneID("Notes"))), .init(names.ordinal(of: ZoneID("_x")))],
            deletes: [names.ordinal(of: ZoneID("Nowhere"))])
        try check(Request(database: client.database, names: names, .modifyZones(zones)), as: client.actor)
        let subscriptions = ModifySubscriptionsRequest(
            saves: [Subscription("all", .database, notification: NotificationInfo())], deletes: ["none"])
        try check(Request(database: client.database, .modifySubscriptions(subscriptions)), as: client.actor)
        names = RequestNames()
        let field = SchemaField(names.ordinal(ofKey: "text"), .string, indexes: .queryable)
        let schema = DeclareSchemaRequest([.init(names.ordinal(ofType: "Note"), fields: [field])])
        try check(Request(database: DatabaseID(.public), names: names, .declareSchema(schema)), as: .service)
        let bodies: [AdministerRequest] = [
            .setRole("Editors", users: ["ben", "anna"]), .addAddress("a@x.org", user: "anna"),
            .note(ConsoleNote("slow")), .expireTokens(before: 2, inAll: true),
        ]
        for body in bodies { try check(Request(database: client.database, .administer(body)), as: .service) }
        let notify = NotifyRequest(user: "anna", deliveries: [.init(device: "phone", through: 2, badge: 1)])
        try check(Request(database: client.database, .notify(notify)), as: .service)
    }

    @Test func `A request of more than 256 KiB leaves its length`() throws {
        var options = StoreOptions.embedded
        options.recordsRefusals = true
        let client = try Client(options)
        for (count, isKept) in [(900, true), (1_200, false)] {
            var names = RequestNames()
            let text = String(repeating: "z", count: 240)
            let body = ModifyZonesRequest(
                saves: (0..<count).map { .init(names.ordinal(of: ZoneID("\(count) \($0) \(text)"))) })
            let request = Request(database: client.database, names: names, .modifyZones(body))
            let size = try request.encoded().count
            #expect((size <= KeptRequest.maximumBytes) == isKept)
            let offset = try #require(client.ask(request).get().offset)
            let found = try asked(client.store, at: offset)
            #expect(found.request == (isKept ? request : nil) && found.bytesNotKept == (isKept ? nil : size))
            // Its outcome is known all the same.
            #expect(try RequestResult(of: client.commit(offset)).saves.count == count)
        }
    }

    @Test func `The bytes of a commit grow by its request, and by three if the service asks`() throws {
        let client = try Client()
        try client.save("first")
        func growth(_ request: Request, as actor: Actor) throws -> (found: Int, request: Int) {
            let offset = try #require(client.ask(request, as: actor).get().offset)
            let envelope = try client.envelope(offset)
            let shape = try RequestShape(decoding: envelope.header.requestShape)
            let bare = RequestShape(
                shape.kind, firstItemEvent: shape.firstItemEvent, saveCount: shape.saveCount,
                deleteCount: shape.deleteCount)
            var before = envelope
            before.header.requestShape = try bare.encoded()[...]
            before.header.actorKind = nil
            return (envelope.encoded().count - before.encoded().count, try request.encoded().count)
        }
        let zones = try growth(NoteRequest.makingZones(), as: client.actor)
        #expect(zones.found == zones.request)
        let quota = Request(database: client.database, .administer(.setQuota(bytes: 300, user: "anna")))
        let service = try growth(quota, as: .service)
        #expect(service.found == service.request + 3)
        // A save of records has exactly its events and its shape.
        try client.save("second")
        let saved = try client.envelope(client.store.offset)
        let shape = RequestShape(.modifyRecords, isAtomic: true, firstItemEvent: 0, saveCount: 1, deleteCount: 0)
        #expect(try Array(saved.header.requestShape) == shape.encoded())
        #expect(saved.events.map(\.kind) == [.recordSaved] && saved.header.user != 0)
    }

    @Test func `Of a log of before, only requests for records are known`() throws {
        let client = try Client()
        #expect(client.zones(save: ["Notes"]) == [nil])
        try client.save("a", in: "Notes")
        try client.store.setQuota(bytes: 300, of: "anna")
        let log = MemoryLog()
        var cursor = try client.store.log.read(from: 1)
        while let commit = try cursor.next() {
            let payload = try Envelope(decoding: commit.payload).ofBefore.encoded()
            _ = try log.append([NewCommit(id: commit.id, time: commit.time, payload: payload[...])], expecting: log.end)
        }
        let store = try Store(on: log)
        defer { try? store.close() }
        for offset in 1...3 as ClosedRange<UInt64> {
            let found = try asked(store, at: offset)
            #expect(found.judgedOn == nil && found.bytesNotKept == nil)
            #expect(found.actor == (offset == 3 ? .service : client.actor))
            #expect(found.request == (offset == 2 ? client.request([.init("a", in: "Notes")]) : nil))
            #expect(
                try RequestResult(of: #require(try log.commit(at: offset))) == RequestResult(of: client.commit(offset)))
        }
        #expect(try RulesHistory(of: store).rules(at: 3) == nil)
        // From the first commit of this release on, causes are recorded.
        let offset = try #require(try store.modify(NoteRequest.saving(["b"]), as: client.actor).offset)
        #expect(try offset == 4 && asked(store, at: 4).judgedOn == 3 && RulesHistory(of: store).rules(at: 4) != nil)
        #expect(try asked(store, at: 2).judgedOn == nil)
    }

    // MARK: The limit of what is kept

    private func audit(_ user: String, bytes: Int, at time: Int64 = 0) throws -> Audit {
        let empty = try RequestRefusedEvent(code: 1, request: Array(repeating: 7, count: 200_000)).event().body.count
        let request = [UInt8](repeating: 7, count: 200_000 + bytes - empty)
        return Audit(
            actor: Actor(user: user), operation: OperationInfo(), kind: .modifyRecords, time: time,
            event: try RequestRefusedEvent(code: 1, request: request).event())
    }

    private func admitted(_ audit: Audit, by kept: inout KeptRequests) throws -> Event {
        let admitted = kept.admit(audit)
        return try #require(admitted).event
    }

    @Test func `Refused requests of a user are kept up to 8 MiB in an hour`() throws {
        let part = KeptRequests.maximumBytes / 32
        let hour: Int64 = 3_600_000_000
        func isKept(_ audit: Audit, _ kept: inout KeptRequests) throws -> Bool {
            let event = try RequestRefusedEvent(decoding: admitted(audit, by: &kept).body)
            let request = try #require(try RequestRefusedEvent(decoding: audit.event.body).request)
            #expect(event.code == 1 && (event.request == request) == (event.kept.byteCount == 0))
            #expect(event.request != nil || event.kept.byteCount == UInt64(request.count))
            return event.request != nil
        }
        var kept = KeptRequests()
        for _ in 0..<31 { #expect(try isKept(audit("anna", bytes: part, at: hour), &kept)) }
        // One byte too many, and then exactly as many as there is room for.
        #expect(try !isKept(audit("anna", bytes: part + 1, at: hour), &kept))
        #expect(try isKept(audit("anna", bytes: part, at: hour), &kept))
        #expect(try !isKept(audit("anna", bytes: 150_000, at: hour), &kept))
        #expect(try isKept(audit("ben", bytes: part, at: hour), &kept))
        #expect(try !isKept(audit("anna", bytes: part, at: 2 * hour - 1), &kept))
        #expect(try isKept(audit("anna", bytes: part, at: 2 * hour), &kept))
        // A clock that goes back begins another hour.
        #expect(try isKept(audit("anna", bytes: part, at: 0), &kept))
    }

    @Test func `Notes without requests are kept up to 16 MiB of a user in an hour`() throws {
        var kept = KeptRequests()
        let message = String(repeating: "m", count: 4_000)
        let note = Audit(
            actor: Actor(user: "anna"), operation: OperationInfo(), kind: .modifyRecords, time: 1,
            event: try RequestRefusedEvent(code: 1, message: message).event())
        let size = note.event.body.count
        var count = 0
        while count < 8_000, kept.admit(note) != nil { count += 1 }
        #expect(count == KeptRequests.maximumBytes / size * 2)
        #expect(try !admitted(audit("ben", bytes: 200_000, at: 1), by: &kept).body.isEmpty)
    }

    @Test func `Users beyond a number share the room of one, so that names cannot fill the memory`() throws {
        var kept = KeptRequests()
        func isKept(_ user: String, bytes: Int) throws -> Bool {
            try RequestRefusedEvent(decoding: admitted(audit(user, bytes: bytes, at: 1), by: &kept).body).request != nil
        }
        for user in 0..<KeptRequests.maximumUsers { #expect(try isKept("user \(user)", bytes: 100)) }
        let part = KeptRequests.maximumBytes / 40 + 1
        for user in 0..<39 { #expect(try isKept("late \(user)", bytes: part)) }
        #expect(try !isKept("late", bytes: part) && !isKept("", bytes: part))
        #expect(try isKept("user 0", bytes: part) && isKept("late", bytes: 100))
    }

    @Test func `Requests that had nothing to delete count, too`() throws {
        var kept = KeptRequests()
        let request = [UInt8](repeating: 1, count: 250_000)
        let nothing = try NothingToDeleteEvent(count: 1, request: request).event()
        let audit = Audit(
            actor: Actor(user: "anna"), operation: OperationInfo(), kind: .modifyRecords, time: 1, event: nothing)
        let events = try (0..<40).map { _ in try NothingToDeleteEvent(decoding: admitted(audit, by: &kept).body) }
        #expect(events.count { $0.request != nil } == KeptRequests.maximumBytes / nothing.body.count)
        #expect(events.last?.kept.byteCount == 250_000 && events.last?.count == 1)
    }

    @Test func `A log has at most that much of them`() throws {
        let client = try Client(.notingRefusals)
        try client.save("a")
        let text = String(repeating: "x", count: 200_000)
        for _ in 0..<50 { #expect(client.codes([.init("a", ["t": .string(text)])]) == [.serverRecordChanged]) }
        try client.save("b")
        var (kept, lengths, bytes) = (0, 0, 0)
        var cursor = try client.store.log.read(from: 1)
        while let commit = try cursor.next() {
            guard let noted = try PastRequests(of: client.store).asked(by: commit), noted.isNoted else { continue }
            if noted.request != nil { kept += 1 } else { lengths += 1 }
            bytes += commit.payload.count
            #expect(noted.request != nil || noted.bytesNotKept ?? 0 > 200_000)
            #expect(noted.judgedOn ?? .max < noted.offset)
        }
        #expect(kept > 30 && lengths > 5 && bytes < KeptRequests.maximumBytes + 50 * 500)
    }
}

extension Envelope {
    /// The envelope as a release without causes wrote it.
    fileprivate var ofBefore: Envelope {
        get throws {
            var envelope = self
            envelope.events.removeAll { $0.kind == .rulesStated }
            (envelope.header.actorKind, envelope.header.judgedOn) = (nil, nil)
            guard !header.requestShape.isEmpty else { return envelope }
            let shape = try RequestShape(decoding: header.requestShape)
            var bare = RequestShape(
                shape.kind, policy: shape.policy, isAtomic: shape.isAtomic, firstItemEvent: shape.firstItemEvent,
                saveCount: shape.saveCount, deleteCount: shape.deleteCount)
            if let request = shape.request { bare.leaveOut(shape.leftOut, request: request) }
            envelope.header.requestShape = try bare.encoded()[...]
            return envelope
        }
    }
}
