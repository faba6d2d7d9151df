import CloudKit
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import CloudKit

@Suite("Stores and named containers", .timeLimit(.minutes(2)))
struct CloudStoreTests {
    private func url(_ directory: TestDirectory) -> URL { URL(fileURLWithPath: directory.path("Notes.strata")) }

    @Test("What was saved is there after closing and opening again")
    func reopened() async throws {
        let directory = try TestDirectory()
        let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "note"))
        note["text"] = "Buy milk"
        let store = try CloudStore(at: url(directory))
        let saved = try await store.container(user: "anna").privateCloudDatabase.save(note)
        #expect(store.offset > 0)
        #expect(store.durableOffset == store.offset)
        try store.sync()
        try store.close()
        try store.close()
        let closed = store.container(user: "anna").privateCloudDatabase
        #expect(await code { try await closed.record(for: note.recordID) } == .serviceUnavailable)
        #expect(await code { try await closed.save(note) } == .serviceUnavailable)

        let again = try CloudStore(at: url(directory))
        let read = try await again.container(user: "anna", device: "other").privateCloudDatabase.record(
            for: note.recordID)
        #expect(read["text"] as? String == "Buy milk")
        #expect(read.recordChangeTag == saved.recordChangeTag)
        try again.close()
    }

    @Test("A store that was closed and let go leaves no file open and none mapped")
    func release() async throws {
        let directory = try TestDirectory()
        for round in 0..<5 {
            let store = try CloudStore(at: url(directory))
            let database = store.container(user: "anna").privateCloudDatabase
            let record = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "\(round)"))
            await CKModifyRecordsOperation(recordsToSave: [record]).finish { database.add($0) }
            try await database.record(for: record.recordID)
            await withCheckedContinuation { continuation in
                database.fetchAllRecordZones { _, _ in continuation.resume() }
            }
            try store.close()
        }
        // What calls a handler or finishes an operation may hold the store a moment longer.
        _ = try await awaited { try Self.openFiles(in: directory).isEmpty }
        #expect(try Self.openFiles(in: directory) == [])
    }

    @Test("A store that is released without closing it is closed, once nothing uses it")
    func releasedOpen() async throws {
        let directory = try TestDirectory()
        let id = CKRecord.ID(recordName: "note")
        func use(_ id: CKRecord.ID) async throws -> (database: CKDatabase, asset: CKAsset?) {
            let store = try CloudStore(at: url(directory))
            let database = store.container(user: "anna").privateCloudDatabase
            let note = CKRecord(recordType: "Note", recordID: id)
            let source = URL(fileURLWithPath: directory.path("source"))
            try Data("hello".utf8).write(to: source)
            note["file"] = CKAsset(fileURL: source)
            try await database.save(note)
            return (database, try await database.record(for: id)["file"] as? CKAsset)
        }
        var database: CKDatabase?
        var asset: CKAsset?
        (database, asset) = try await use(id)
        // A database keeps its store open, and so does an asset whose file was not made yet.
        #expect(try await database?.record(for: id).recordID == id)
        database = nil
        let file = try #require(asset?.fileURL)
        #expect(try Data(contentsOf: file) == Data("hello".utf8))
        asset = nil
        #expect(try eventually { try Self.openFiles(in: directory).isEmpty })
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
        for number in 0..<10 { _ = try await use(CKRecord.ID(recordName: "\(number)")) }
        #expect(try eventually { try Self.openFiles(in: directory).isEmpty })
        #expect(
            try eventually {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count < threads + 40
            })
    }

    @Test("A program's clock that goes back delays nothing: engines and playbacks go on from where they were")
    func clockBack() async throws {
        final class Hands: CloudStore.Clock {
            let time = Lock(Date(timeIntervalSince1970: 1_000_000_000))
            var now: Date { time.withLock { $0 } }
            func move(_ seconds: Double) { time.withLock { $0 += seconds } }
        }
        let hands = Hands()
        var options = CloudStore.Options.service
        options.clock = hands
        let clock = options.syncClock
        let start = clock.nowMicroseconds()
        hands.move(-3_600)
        #expect(clock.nowMicroseconds() == start)
        hands.move(5)
        #expect(clock.nowMicroseconds() == start + 5_000_000)
        let waiting = Task { try await clock.sleep(untilMicroseconds: start + 8_000_000) }
        hands.move(-7_200)
        _ = clock.nowMicroseconds()
        hands.move(3)
        try await waiting.value
        #expect(clock.nowMicroseconds() == start + 8_000_000)
    }

    /// Files of a directory that this process has open or mapped.
    private static func openFiles(in directory: TestDirectory) throws -> [String] {
        let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8).split(separator: "\n")
        let mapped = maps.filter { $0.contains(directory.path) }.map { String($0) }
        let files = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        }
        return mapped + files.filter { $0.hasPrefix(directory.path) }
    }

    @Test("Two devices of one user see each other's writes, other users do not")
    func devices() async throws {
        let notes = try await NotesStore()
        let tablet = notes.store.container(user: "anna", device: "tablet").privateCloudDatabase
        try await notes.database.save(notes.note("a", "from the phone"))
        let seen = try await tablet.record(for: notes.id("a"))
        #expect(seen["text"] as? String == "from the phone")
        seen["text"] = "from the tablet"
        try await tablet.save(seen)
        let back = try await notes.database.record(for: notes.id("a"))
        #expect(back["text"] as? String == "from the tablet")
        let other = notes.store.container(user: "bert").privateCloudDatabase
        #expect(await code { try await other.record(for: notes.id("a")) } == .zoneNotFound)
    }

    @Test("Dates come from the store's clock")
    func clock() async throws {
        let clock = CloudStore.ManualClock(Date(timeIntervalSince1970: 1_000))
        var options = CloudStore.Options.service
        options.clock = clock
        options.random = CloudStore.SeededRandomNumbers(seed: 1)
        let notes = try await NotesStore(options)
        clock.advance(by: .seconds(60))
        let saved = try await notes.database.save(notes.note("a"))
        #expect(saved.modificationDate == Date(timeIntervalSince1970: 1_060))
        #expect(clock.now == Date(timeIntervalSince1970: 1_060))
    }

    @Test("A clock that is moved too far stands at its end")
    func endOfTime() {
        for (step, isLater) in [(Duration.seconds(9_223_372_036_854.9), true), (.seconds(-9_223_372_036_854.9), false)]
        {
            let clock = CloudStore.ManualClock()
            let start = clock.now
            for _ in 0..<3 { clock.advance(by: step) }
            #expect((clock.now > start) == isLater)
        }
        let clock = CloudStore.ManualClock()
        clock.advance(by: .seconds(Int64.max))
        #expect(clock.now > Date(timeIntervalSinceReferenceDate: 0))
    }

    @Test("A user or device whose name no log takes is refused, not fatal")
    func longNames() async throws {
        let long = String(repeating: "a", count: 100_000)
        for actor in [(long, "phone"), ("anna", long)] {
            let container = try CloudStore.inMemory().container(user: actor.0, device: actor.1)
            let failure = await code { try await container.privateCloudDatabase.save(CKRecord(recordType: "Note")) }
            #expect(failure == .limitExceeded || failure == .invalidArguments)
        }
    }

    @Test("A URL that is no file's is refused")
    func refusedURL() async throws {
        let remote = try #require(URL(string: "https://example.com/notes"))
        #expect(await code { try CloudStore(at: remote) } == .invalidArguments)
    }

    // MARK: Named containers

    private func containers(_ directory: TestDirectory, user: String = "anna") -> NamedContainers {
        NamedContainers(["STRATA_HOME": directory.path, "STRATA_USER": user, "HOME": "/nowhere"])
    }

    @Test("A name is one container, in the directory, of the user and device that the environment names")
    func named() async throws {
        let directory = try TestDirectory()
        let named = containers(directory)
        let container = named.container("iCloud.test")
        #expect(named.container("iCloud.test") === container)
        #expect(container.containerIdentifier == "iCloud.test")
        try await container.privateCloudDatabase.save(CKRecord(recordType: "Note"))
        #expect(try directory.holds("iCloud.test.strata"))
        // The device keeps its name.
        #expect(!container.client.actor.device.isEmpty)
        #expect(containers(directory).container("iCloud.other").client.actor.device == container.client.actor.device)
        #expect(container.client.actor.user == "anna")
    }

    @Test("A container that has no store answers every call with the reason")
    func unusableName() async throws {
        let directory = try TestDirectory()
        for name in ["", "../escape", "a/b", ".hidden"] {
            let container = containers(directory).container(name)
            #expect(await code { try await container.accountStatus() } == .badContainer)
            #expect(await code { try await container.publicCloudDatabase.allRecordZones() } == .badContainer)
        }
        let file = directory.path("file")
        #expect(FileManager.default.createFile(atPath: file, contents: nil))
        let container = NamedContainers(["STRATA_HOME": file]).container("iCloud.test")
        let database = container.privateCloudDatabase
        #expect(await code { try await database.save(CKRecord(recordType: "Note")) } != nil)
    }

    @Test("A second writer is told who has the store and what to do, by every call, until the other has ended")
    func secondWriter() async throws {
        let directory = try TestDirectory()
        let child = try ChildProcess(
            ChildProcess.product("store-child"), [directory.path("iCloud.test.strata"), "1"])
        #expect(child.waitForLine())
        let named = containers(directory)
        let container = named.container("iCloud.test")
        let database = container.privateCloudDatabase
        var message = ""
        do {
            try await database.save(CKRecord(recordType: "Note"))
        } catch let error as CKError {
            message = error.detail
            #expect(error.code == .serviceUnavailable)
            #expect((error.userInfo[NSUnderlyingErrorKey] as? StrataError)?.code == .locked)
        }
        #expect(message.contains("store-child") && message.contains("STRATA_HOME"))
        #expect(await code { try await database.allRecordZones() } == .serviceUnavailable)
        let operation = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "x")])
        let journal = Journal()
        operation.fetchRecordsResultBlock = { journal.add("result", $0) }
        await operation.finish { database.add($0) }
        #expect(journal.entries == ["result serviceUnavailable"])
        #expect(
            await code { try CloudStore(at: URL(fileURLWithPath: directory.path("iCloud.test.strata"))) }
                == .serviceUnavailable)
    }
}

extension TestDirectory {
    fileprivate func holds(_ name: String) throws -> Bool { FileManager.default.fileExists(atPath: path(name)) }
}
