import CloudKit
import Testing

@Suite("Errors as clients meet them")
struct MessageTests {
    private func error(of work: () async throws -> some Any) async -> CKError? {
        do {
            _ = try await work()
            return nil
        } catch {
            return error as? CKError
        }
    }

    @Test("A message is a sentence that says what is wrong, and with which item (B258)")
    func messages() async throws {
        let notes = try await NotesStore()
        let database = notes.database
        let stale = try await notes.staleNote("stale")
        let gone = try await database.save(notes.note("gone"))
        try await database.deleteRecord(withID: gone.recordID)
        gone["more"] = 1
        let orphan = notes.note("orphan")
        orphan.setParent(notes.id("nowhere"))
        let nowhere = CKRecord.ID(recordName: "a", zoneID: .init(zoneName: "Nowhere"))
        let strange = notes.note("strange")
        strange["text"] = 1
        let found: [(String, CKError.Code, CKError?)] = [
            ("missing", .unknownItem, await error { try await database.record(for: notes.id("missing")) }),
            ("Nowhere", .zoneNotFound, await error { try await database.record(for: nowhere) }),
            ("Nowhere", .zoneNotFound, await error { try await database.recordZone(for: nowhere.zoneID) }),
            ("Nowhere", .zoneNotFound, await error { try await database.deleteRecordZone(withID: nowhere.zoneID) }),
            ("Nowhere", .zoneNotFound, await error { try await database.deleteRecord(withID: nowhere) }),
            ("stale", .serverRecordChanged, await error { try await database.save(stale) }),
            ("stale", .serverRecordChanged, await error { try await database.save(notes.note("stale")) }),
            ("gone", .unknownItem, await error { try await database.save(gone) }),
            ("orphan", .referenceViolation, await error { try await database.save(orphan) }),
            ("text", .invalidArguments, await error { try await database.save(strange) }),
            ("_bad", .invalidArguments, await error { try await database.save(notes.note("_bad")) }),
            (
                "twice", .invalidArguments,
                await error {
                    try await database.modifyRecords(saving: [notes.note("twice"), notes.note("twice")], deleting: [])
                }
            ),
            (
                "400", .limitExceeded,
                await error { try await database.records(for: (0...400).map { notes.id("\($0)") }) }
            ),
        ]
        for (name, code, error) in found {
            #expect(error?.code == code, "\(name)")
            let message = error?.detail ?? ""
            #expect(message.contains(name), "\(code): \(message)")
            #expect(error.map { "\($0)" }?.contains("\(code)") == true)
            #expect(error.map { ($0 as NSError).detail } == message)
            #expect(error?.localizedDescription == message && error?.errorDescription == message)
            #expect((error as NSError?)?.localizedDescription == message)
            #expect((error as (any Error)?)?.localizedDescription == message)
        }
    }

    @Test("The message of an item names the record or zone, as Apple's do, wherever the error comes from")
    func items() async throws {
        let notes = try await NotesStore()
        let database = notes.database
        let (missing, zone) = (notes.id("missing"), CKRecordZone.ID(zoneName: "Nowhere"))
        let stale = try await notes.staleNote("stale")
        let mistaken = notes.note("mistaken")
        mistaken["_reserved"] = 1
        let lost = CKRecord.ID(recordName: "lost", zoneID: zone)
        let results = try await database.modifyRecords(
            saving: [stale, mistaken], deleting: [lost], atomically: false)
        func message(_ result: Result<some Any, any Error>?) -> String? {
            if case .failure(let error)? = result { error.localizedDescription } else { nil }
        }
        let found: [(String?, String)] = [
            (message(try await database.records(for: [missing])[missing]), "Error fetching record \(missing) from"),
            (
                await error { try await database.record(for: missing) }?.localizedDescription,
                "Error fetching record \(missing) from server: Record not found"
            ),
            (message(results.saveResults[stale.recordID]), "Error saving record \(stale.recordID) to server: "),
            (message(results.saveResults[mistaken.recordID]), "Error saving record \(mistaken.recordID) to server: "),
            (message(results.deleteResults[lost]), "Error deleting record \(lost) from server: Zone 'Nowhere' "),
            (message(try await database.recordZones(for: [zone])[zone]), "Error fetching record zone \(zone) from"),
            (
                message(try await database.modifyRecordZones(saving: [], deleting: [zone]).deleteResults[zone]),
                "Error deleting record zone \(zone) from server: "
            ),
            (
                await error { try await database.recordZoneChanges(inZoneWith: zone, since: nil) }?
                    .localizedDescription,
                "Error fetching record zone \(zone) from server: "
            ),
        ]
        for (message, start) in found { #expect(message?.hasPrefix(start) == true, "\(message ?? "no error")") }
        try notes.store.console.failNext(of: .modifyRecords, with: .zoneBusy, scope: .item)
        let busy = await error { try await database.save(notes.note("busy")) }
        #expect(busy?.localizedDescription.hasPrefix("Error saving record \(notes.id("busy")) to server: ") == true)
    }

    @Test("A bystander's message names it; a partial failure has every item that failed (B81, B258)")
    func partial() async throws {
        let notes = try await NotesStore()
        let stale = try await notes.staleNote("stale")
        let error = try #require(
            await error {
                try await notes.database.modifyRecords(
                    saving: [stale, notes.note("bystander")], deleting: [notes.id("other")])
            })
        #expect(error.code == .partialFailure && !error.detail.isEmpty)
        let parts = try #require(error.userInfo[CKPartialErrorsByItemIDKey] as? [CKRecord.ID: any Error])
        for (id, part) in parts {
            #expect((part as? CKError)?.detail.contains(id.recordName) == true)
        }
        #expect(Set(parts.keys.map(\.recordName)) == ["stale", "bystander", "other"])
        // The same through NSError, as programs pass errors on.
        let passed = (error as NSError).userInfo[CKPartialErrorsByItemIDKey] as? [CKRecord.ID: NSError]
        #expect(passed?[notes.id("stale")]?.code == CKError.Code.serverRecordChanged.rawValue)
        #expect((passed?[notes.id("stale")] as? CKError)?.serverRecord?["text"] as? String == "second")
    }

    @Test("An error that comes along as an NSError is a CKError still, and one of another domain is none")
    func bridged() async throws {
        let notes = try await NotesStore()
        let error = try #require(await error { try await notes.database.record(for: notes.id("missing")) })
        let object = error as NSError
        #expect(object.domain == CKErrorDomain && object.code == 11)
        #expect((object as? CKError)?.code == .unknownItem)
        #expect((object as any Error as? CKError)?.detail == error.detail)
        do { throw object } catch CKError.unknownItem {} catch { Issue.record("\(error)") }
        do { throw object } catch let caught as CKError { #expect(caught == error) }
        #expect((NSError(domain: NSCocoaErrorDomain, code: 11) as? CKError) == nil)
        #expect((CocoaError(.fileNoSuchFile) as NSError as? CKError) == nil)
        #expect((NSError(domain: CKErrorDomain, code: 6) as any Error as? CKError)?.code == .serviceUnavailable)
        let any: Any = object
        #expect((any as? CKError)?.errorCode == 11)
    }

    @Test("What the engine met with is the underlying error")
    func causes() async throws {
        let notes = try await NotesStore()
        try notes.store.close()
        let error = try #require(await error { try await notes.database.record(for: notes.id("a")) })
        #expect(error.code == .serviceUnavailable && error.detail.contains("reopen it"))
        #expect(error.userInfo[NSUnderlyingErrorKey] != nil)
    }
}
