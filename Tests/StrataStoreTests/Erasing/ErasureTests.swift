import Glibc
import StrataLog
import StrataModel
import StrataSystem
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

@Suite("What is erased is in no file of the store any more", .timeLimit(.minutes(4)))
struct ErasureTests {
    private func code(_ body: () throws -> Void) -> Refusal.Code? {
        do { try body() } catch let refusal as Refusal { return refusal.code } catch { Issue.record(error) }
        return nil
    }

    @Test("Every version, in log and views; other records are as they were")
    func everywhere() throws {
        let fixture = try ErasureFixture()
        try fixture.fill(fillerBytes: 60_000)
        try fixture.store.close()
        let store = try ErasureFixture.open(fixture.disk, seed: 2)
        // The canary: the same search finds it in segments and in the views.
        let before = try ErasureFixture.files(with: fixture.secret, on: fixture.disk)
        #expect(before.count > 2 && before.contains { $0.hasPrefix(ErasureFixture.path + "/views/") })
        let version = try store.snapshot().record(
            NoteRequest.id("other"), in: NoteRequest.database, as: ErasureFixture.anna
        ).version
        let offset = store.offset
        try store.erase([NoteRequest.id("secret")], in: ErasureFixture.owner, reason: "asked for")
        #expect(try ErasureFixture.files(with: fixture.secret, on: fixture.disk) == [])
        #expect(store.offset == offset + 1)
        let kept = try store.snapshot().record(
            NoteRequest.id("other"), in: NoteRequest.database, as: ErasureFixture.anna)
        #expect(try kept.version == version && kept["text"] == .string("2 \(fixture.other)"))
        #expect(code { _ = try fixture.text("secret", in: store) } == .unknownItem)
        let digests = try store.views.trees.snapshot().digests()
        // What is erased stays so, also in the state that closing writes.
        try store.close()
        #expect(try ErasureFixture.files(with: fixture.secret, on: fixture.disk) == [])
        #expect(try ErasureFixture.files(with: fixture.other, on: fixture.disk).count > 2)
        #expect(LogVerifier.verify(at: ErasureFixture.path, platform: Platform(files: fixture.disk)).damage == nil)
        try fixture.disk.removeFiles(in: ErasureFixture.path + "/views")
        let again = try ErasureFixture.open(fixture.disk, seed: 3)
        #expect(try again.views.trees.snapshot().digests() == digests)
        try again.close()
    }

    @Test("It is an event, with its reason; feeds tell a deletion, and the same name can be used again")
    func event() throws {
        let fixture = try ErasureFixture()
        try fixture.fill()
        let store = fixture.store
        func page(_ token: FeedToken?) throws -> ZoneFeedPage {
            try store.zoneChanges(
                of: NoteRequest.zone, in: NoteRequest.database, since: token, limit: 0, as: ErasureFixture.anna)
        }
        let tokens = [try page(nil).token]
        try fixture.erase("secret", reason: "asked for on 4 May")
        let commit = try #require(try store.log.commit(at: store.offset))
        let event = try #require(try Envelope(decoding: commit.payload).events.last)
        let erased = try RecordErasedEvent(decoding: event.body)
        #expect(erased.reason == "asked for on 4 May" && erased.record.name == "secret" && erased.previous != nil)
        for token in tokens {
            let found = try page(token)
            #expect(found.deleted.map(\.id.name) == ["secret"] && found.changed.isEmpty)
        }
        #expect(try Set(page(nil).changed.map(\.id.name)) == ["other", "filler"])
        try fixture.save("secret", "new")
        #expect(try fixture.text("secret") == "new")
        #expect(try page(tokens[0]).changed.map(\.id.name) == ["secret"])
        try store.close()
    }

    @Test("Again: what was made since goes, what another erasure took stays gone; names in a list count once")
    func again() throws {
        let fixture = try ErasureFixture()
        try fixture.fill()
        try fixture.erase("secret")
        try fixture.save("secret", "second \(fixture.secret)")
        try fixture.erase("other", "other")
        #expect(try fixture.text("secret") == "second \(fixture.secret)")
        #expect(try ErasureFixture.files(with: fixture.other, on: fixture.disk) == [])
        #expect(try !ErasureFixture.files(with: fixture.secret, on: fixture.disk).isEmpty)
        try fixture.erase("secret")
        #expect(try ErasureFixture.files(with: fixture.secret, on: fixture.disk) == [])
        // Once more of what is gone: an event, and nothing else.
        try fixture.erase("secret")
        try fixture.store.close()
        #expect(LogVerifier.verify(at: ErasureFixture.path, platform: Platform(files: fixture.disk)).damage == nil)
    }

    @Test("A record that is gone, or whose zone is, can be erased; one that never was cannot")
    func gone() throws {
        let fixture = try ErasureFixture()
        try fixture.fill()
        _ = try fixture.store.modify(NoteRequest.deleting(["secret"]), as: ErasureFixture.anna)
        try fixture.erase("secret")
        #expect(try ErasureFixture.files(with: fixture.secret, on: fixture.disk) == [])
        let offset = fixture.store.offset
        #expect(code { try fixture.erase("never") } == .unknownItem)
        let nowhere = RecordID("other", zone: ZoneID("Nowhere"))
        #expect(code { try fixture.store.erase([nowhere], in: ErasureFixture.owner, reason: "") } == .zoneNotFound)
        #expect(code { try fixture.erase("other", reason: String(repeating: "x", count: 4_097)) } == .invalidArguments)
        #expect(code { try fixture.erase() } == .invalidArguments)
        #expect(fixture.store.offset == offset && !fixture.disk.paths.contains { $0.hasSuffix("ERASING") })
        try fixture.store.purgeZone(NoteRequest.zone, of: "anna")
        try fixture.erase("other", reason: String(repeating: "x", count: 4_096))
        #expect(try ErasureFixture.files(with: fixture.other, on: fixture.disk) == [])
        try fixture.store.close()
    }

    @Test("What goes with it is deleted; who would lose a parent keeps it from being erased")
    func references() throws {
        let client = try Client().with { $0.zone = "Notes" }
        #expect(client.zones(save: ["Notes"]) == [nil])
        try client.save("list")
        let owned = FieldValue.reference(.init(RecordKey(zone: 0, name: "list"), action: .deleteSelf))
        try client.save("item", ["list": owned])
        let store = client.store
        try store.erase([client.id("list")], in: DatabaseID(.private, owner: "anna"), reason: "")
        #expect(!client.exists("list") && !client.exists("item"))
        try client.save("parent")
        #expect(client.codes([Client.Save("child", parent: "parent")]) == [nil])
        let anna = DatabaseID(.private, owner: "anna")
        #expect(code { try store.erase([client.id("parent")], in: anna, reason: "") } == .referenceViolation)
        try store.erase([client.id("parent"), client.id("child")], in: anna, reason: "")
        #expect(!client.exists("parent") && !client.exists("child"))
    }

    @Test("What was refused or left out of a request has it no more")
    func refusals() throws {
        let fixture = try ErasureFixture()
        try fixture.fill(rounds: 1)
        var builder = RequestBuilder(NoteRequest.database, isAtomic: false)
        // No tag, though the record is there: refused, and kept in the shape of the request beside one that is saved.
        builder.save(NoteRequest.id("secret"), type: "Note", fields: ["text": .string("refused \(fixture.secret)")])
        builder.save(NoteRequest.id("fine"), type: "Note", fields: ["text": .string("fine")])
        _ = try fixture.store.modify(builder.request, as: ErasureFixture.anna)
        var alone = RequestBuilder(NoteRequest.database)
        alone.save(NoteRequest.id("secret"), type: "Note", fields: ["text": .string("alone \(fixture.secret)")])
        _ = try? fixture.store.modify(alone.request, as: ErasureFixture.anna)
        try fixture.save("fine", "again")
        #expect(try ErasureFixture.files(with: "refused \(fixture.secret)", on: fixture.disk).count == 1)
        #expect(try ErasureFixture.files(with: "alone \(fixture.secret)", on: fixture.disk).count == 1)
        try fixture.erase("secret")
        #expect(try ErasureFixture.files(with: fixture.secret, on: fixture.disk) == [])
        // The rest of the requests stays, and so do their causes.
        let requests = try PastRequests(of: fixture.store)
        var kept: [AskedRequest] = []
        var cursor = try fixture.store.log.read(from: 5)
        while let commit = try cursor.next() {
            if let asked = try requests.asked(by: commit), asked.isNoted || commit.offset == 5 { kept.append(asked) }
        }
        #expect(kept.map(\.judgedOn) == [4, 5] && kept.map(\.isNoted) == [false, true])
        let hasFields = kept.map { asked -> [Bool] in
            guard case .modifyRecords(let body)? = asked.request?.content else { return [] }
            return body.saves.map { !$0.fields.isEmpty }
        }
        #expect(hasFields == [[false, true], [false]])
        try fixture.store.close()
        #expect(LogVerifier.verify(at: ErasureFixture.path, platform: Platform(files: fixture.disk)).damage == nil)
    }

    @Test("Compaction removes requests with their commits")
    func compacted() throws {
        let fixture = try ErasureFixture()
        let store = fixture.store
        func logFiles() throws -> [String] {
            try ErasureFixture.files(with: "\(fixture.secret)@x.org", on: fixture.disk).filter { $0.contains("/log/") }
        }
        var person = Person()
        person.emails = ["\(fixture.secret)@x.org"]
        try store.setPerson(person, of: "anna")
        #expect(throws: Refusal.self) { try store.setPerson(person, of: "ben") }
        try store.setPerson(Person(), of: "anna")
        try fixture.fill(rounds: 2, fillerBytes: 60_000)
        // In an event, in the request of its commit, and in a note of a refusal.
        #expect(try logFiles().count == 1)
        try store.compact(before: store.offset)
        #expect(try logFiles() == [])
        try store.close()
        #expect(LogVerifier.verify(at: ErasureFixture.path, platform: Platform(files: fixture.disk)).damage == nil)
    }

    @Test("Files of assets go with the last record that names them, also where the record had let them go")
    func assets() throws {
        let disk = SimulatedDisk()
        let fixture = try AssetFixture(disk)
        try fixture.makeZone()
        try fixture.save("a", AssetFixture.bytes(1))
        try fixture.save("a", AssetFixture.bytes(2))
        try fixture.save("b", AssetFixture.bytes(3))
        try fixture.save("both", AssetFixture.bytes(3))
        let kept = try AssetFixture.kept(on: disk).count
        try #require(kept == 3)
        try fixture.store.erase(
            [NoteRequest.id("a"), NoteRequest.id("b")], in: ErasureFixture.owner, reason: "asked for")
        #expect(try AssetFixture.kept(on: disk).count == 1)
        _ = try AssetFixture.requireWhole(fixture.store, ["both"])
        try fixture.store.close()
    }

    @Test("Encrypted values go as others do; the key stays")
    func encrypted() throws {
        let secrets = try SecretStore()
        try secrets.makeZone()
        let value = try secrets.seal(.string("1234"), for: secrets.id("a"))
        try secrets.save(secrets.id("a"), value)
        try secrets.saveSecret(secrets.id("b"), "5678")
        guard case .sealed(let sealed) = value else {
            Issue.record("it is not sealed")
            return
        }
        func isThere() throws -> Bool {
            try secrets.disk.paths.contains { isFound(sealed.nonce, in: try secrets.disk.content(of: $0)) }
        }
        #expect(try isThere())
        try secrets.store.erase(
            [secrets.id("a")], in: DatabaseID(.private, owner: "anna"), reason: "asked for")
        #expect(try !isThere())
        #expect(try secrets.opened(secrets.id("b")) == .string("5678"))
        #expect(try SecretStore.keys(secrets.disk).entries.map(\.id) == [1])
        try secrets.store.close()
    }

    @Test("A store in memory does the same")
    func memory() throws {
        let client = try Client().with { $0.zone = "Notes" }
        #expect(client.zones(save: ["Notes"]) == [nil])
        try client.save("a", ["text": .string("secret")])
        try client.save("b", ["text": .string("other")])
        let store = client.store
        try store.erase([client.id("a")], in: DatabaseID(.private, owner: "anna"), reason: "")
        var cursor = try store.log.read(from: 1)
        var payloads: [UInt8] = []
        while let commit = try cursor.next() { payloads += commit.payload }
        let text = String(decoding: payloads, as: UTF8.self)
        #expect(!text.contains("secret") && text.contains("other"))
        #expect(!client.exists("a") && client.exists("b"))
        try client.save("c")
        #expect(client.exists("c"))
    }

    @Test("Who reads a state from before goes on; who writes beside it loses nothing")
    func beside() async throws {
        let fixture = try ErasureFixture()
        try fixture.fill()
        let snapshot = fixture.store.snapshot()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<3 {
                group.addTask {
                    for number in 0..<20 {
                        let request = NoteRequest.saving(["w\(writer)-\(number)"])
                        _ = try await fixture.store.modify(request, as: ErasureFixture.anna)
                    }
                }
            }
            group.addTask {
                try fixture.erase("secret")
                try fixture.erase("other")
            }
            try await group.waitForAll()
        }
        let old = try snapshot.record(NoteRequest.id("secret"), in: NoteRequest.database, as: ErasureFixture.anna)
        #expect(try old["text"] == .string("2 \(fixture.secret)"))
        for writer in 0..<3 {
            for number in 0..<20 { #expect(try fixture.text("w\(writer)-\(number)") == nil) }
        }
        #expect(try ErasureFixture.files(with: fixture.secret, on: fixture.disk) == [])
        #expect(try ErasureFixture.files(with: fixture.other, on: fixture.disk) == [])
        let digests = try fixture.store.views.trees.snapshot().digests()
        try fixture.store.close()
        try fixture.disk.removeFiles(in: ErasureFixture.path + "/views")
        let again = try ErasureFixture.open(fixture.disk, seed: 3)
        #expect(try again.views.trees.snapshot().digests() == digests)
        try again.close()
    }

    @Test("The past: a version that was erased leads nowhere, and its request cannot be made again")
    func past() throws {
        let fixture = try ErasureFixture()
        try fixture.fill(rounds: 1)
        let id = NoteRequest.id("secret")
        let record = try fixture.store.snapshot().record(id, in: NoteRequest.database, as: ErasureFixture.anna)
        let old = record.version
        try fixture.erase("secret")
        try fixture.save("secret", "new")
        var builder = RequestBuilder(NoteRequest.database, isAtomic: false)
        builder.save(id, type: "Note", base: old, fields: ["text": .string("late")])
        let answer = try fixture.store.modify(builder.request, as: ErasureFixture.anna)
        guard case .failure(let refusal) = try #require(answer.result.saves.first) else {
            Issue.record("the tag of an erased version went through")
            return
        }
        #expect(refusal.code == .serverRecordChanged && refusal.baseVersion == old)
        let trees = fixture.store.views.trees.snapshot()
        let history = fixture.store.engine.reader.context.history
        let commit = try #require(try fixture.store.log.commit(at: old.offset))
        let events = try Envelope(decoding: commit.payload).events
        let zone = try RecordSavedEvent(decoding: events[Int(old.eventIndex)].body).record.zone
        #expect(try history.state(of: RecordKey(zone: zone, name: "secret"), at: old, trees) == nil)
        #expect(thrownCode { _ = try RequestRebuilder.requests(of: fixture.store.log) } == .erased)
        try fixture.store.close()
    }

    @Test("From a base too: it is written anew, and of the record's past nothing is shown")
    func base() throws {
        let fixture = try ErasureFixture()
        try fixture.fill(fillerBytes: 60_000)
        let store = fixture.store
        func past(_ version: Version) throws -> Record? {
            try store.snapshot().record(
                NoteRequest.id("secret"), at: version, in: NoteRequest.database, as: ErasureFixture.anna)
        }
        let version = try store.snapshot().record(
            NoteRequest.id("secret"), in: NoteRequest.database, as: ErasureFixture.anna
        ).version
        try store.compact(before: store.offset + 1)
        try fixture.save("secret", "later \(fixture.secret)")
        #expect(try past(version)?["text"] == .string("2 \(fixture.secret)"))
        #expect(try ErasureFixture.files(with: fixture.secret, on: fixture.disk).contains { $0.hasSuffix(".base") })
        try fixture.erase("secret")
        #expect(try ErasureFixture.files(with: fixture.secret, on: fixture.disk) == [])
        #expect(try past(version) == nil)
        #expect(try fixture.text("other") == "2 \(fixture.other)")
        try fixture.save("secret", "new")
        #expect(try past(version) == nil)
        let digests = try store.views.trees.snapshot().digests()
        try store.close()
        #expect(LogVerifier.verify(at: ErasureFixture.path, platform: Platform(files: fixture.disk)).damage == nil)
        try fixture.disk.removeFiles(in: ErasureFixture.path + "/views")
        let again = try ErasureFixture.open(fixture.disk, seed: 3)
        #expect(try again.views.trees.snapshot().digests() == digests)
        try again.compact(before: again.offset + 1)
        #expect(try again.views.trees.snapshot().digests() == digests)
        try again.close()
        #expect(try ErasureFixture.files(with: fixture.secret, on: fixture.disk) == [])
    }

    @Test("A store that is closed meanwhile waits for it")
    func closing() throws {
        for delay in stride(from: 0, to: 6_000, by: 250) as StrideTo<UInt32> {
            let fixture = try ErasureFixture()
            try fixture.fill()
            let thread = try WorkerThread(name: "eraser") { try? fixture.erase("secret") }
            usleep(delay)
            try fixture.store.close()
            let paths = fixture.disk.paths
            thread.join()
            #expect(fixture.disk.paths == paths, "nobody works in the files of a store that is closed")
            let store = try ErasureFixture.open(fixture.disk, seed: 2)
            let isErased = code { _ = try fixture.text("secret", in: store) } == .unknownItem
            #expect(try ErasureFixture.files(with: fixture.secret, on: fixture.disk).isEmpty == isErased)
            try store.close()
        }
    }
}
