import StrataLog
import StrataModel
import StrataSystem
import Synchronization
import TestSupport
import Testing

@testable import StrataStore

@Suite("One process has one engine for each store")
struct SharedStoreTests {
    private let anna = Actor(user: "anna")
    private let disk = SimulatedDisk()
    private var platform: Platform { Platform(files: disk) }
    private let path = "/Shared.strata"

    private func open(_ options: StoreOptions = .service) throws -> Store {
        try Store.open(at: path, options: options, platform: platform)
    }

    @Test("What one handle saves the other reads, by whatever path it came")
    func twoHandles() throws {
        let (first, second) = (try open(), try Store.open(at: "/./Shared.strata/", platform: platform))
        #expect(first.engine === second.engine)
        _ = try first.modify(NoteRequest.makingZones(), as: anna)
        _ = try first.modify(NoteRequest.saving(["a"]), as: anna)
        let note = try second.snapshot().record(NoteRequest.id("a"), in: NoteRequest.database, as: anna)
        #expect(try note["title"] == .string("x"))
        try first.close()
        try second.close()
    }

    @Test("Closing one handle ends that one alone; the last one ends the store")
    func closing() throws {
        let (first, second) = (try open(), try open())
        _ = try first.modify(NoteRequest.makingZones(), as: anna)
        let kept = first.snapshot()
        try first.close()
        try first.close()
        func isClosed(_ body: () throws -> Void) -> Bool { thrownCode(body) == .closed }
        #expect(isClosed { _ = try first.modify(NoteRequest.saving(["a"]), as: anna) })
        #expect(isClosed { _ = try first.snapshot().zones(in: NoteRequest.database, as: anna) })
        #expect(isClosed { try first.sync() })
        #expect(isClosed { try first.declareIndex(type: "Note", field: "title") })
        // The state that it gave out is there as long as the store is.
        #expect(try kept.zones(in: NoteRequest.database, as: anna).count == 2)
        _ = try second.modify(NoteRequest.saving(["a"]), as: anna)
        let last = second.snapshot()
        try second.close()
        #expect(isClosed { _ = try kept.zones(in: NoteRequest.database, as: anna) })
        #expect(isClosed { _ = try last.record(NoteRequest.id("a"), in: NoteRequest.database, as: anna) })
        #expect(isClosed { _ = try last.digests() })
        let again = try open()
        #expect(again.engine !== second.engine)
        _ = try again.snapshot().record(NoteRequest.id("a"), in: NoteRequest.database, as: anna)
        try again.close()
    }

    @Test("No other file can take a store's identity before the store is closed")
    func identityWhileClosing() throws {
        let ends = Mutex<[String]>([])
        let files = WatchedFiles(files: disk) { name in ends.withLock { $0.append(name) } }
        let store = try Store.open(at: path, platform: Platform(files: files))
        _ = try store.modify(NoteRequest.makingZones(), as: anna)
        ends.withLock { $0 = [] }
        try store.close()
        #expect(ends.withLock { $0 }.suffix(2) == ["LOCK", "STORE"])
    }

    @Test("Options that differ are an error that names them, and leave the store as it is")
    func differences() throws {
        let first = try open()
        var options = StoreOptions.service
        options.touchesParents = false
        options.limits.itemsPerRequest = 7
        let error = #expect(throws: StrataError.self) { _ = try open(options) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.context.found?.contains("limits, touchesParents") == true)
        #expect(options.differences(from: .service) == ["limits", "touchesParents"])
        _ = try first.modify(NoteRequest.makingZones(), as: anna)
        try first.close()
        try open(options).close()
    }

    @Test("Disks are told apart, and so are stores")
    func others() throws {
        let first = try open()
        let copy = disk.afterPowerLoss(seed: 1)
        let second = try Store.open(at: path, platform: Platform(files: copy))
        let third = try Store.open(at: "/Other.strata", platform: platform)
        #expect(first.engine !== second.engine && first.engine !== third.engine)
        for store in [first, second, third] { try store.close() }
    }

    @Test("An opening that fails leaves nothing behind")
    func failedOpening() throws {
        try open().close()
        var options = StoreOptions.service
        options.createsStore = false
        #expect(
            thrownCode { _ = try Store.open(at: "/None.strata", options: options, platform: platform) } == .notAStore)
        var survived: [Int] = []
        for call in 1...6 {
            disk.fail(.open, at: call, with: .errno(5))
            if thrownCode({ try open().close() }) == nil { survived.append(call) }
            disk.heal()
            try open().close()
        }
        // The hint page may be unreadable; nothing else may. Without commits there is no state.
        #expect(survived == [3])
    }

    @Test("Files of this machine are known by device and inode")
    func realFiles() throws {
        let directory = try TestDirectory()
        let path = directory.path("Real.strata")
        let (first, second) = (try Store.open(at: path), try Store.open(at: directory.path + "/./Real.strata"))
        #expect(first.engine === second.engine)
        _ = try first.modify(NoteRequest.makingZones(), as: anna)
        try first.close()
        #expect(try second.snapshot().zones(in: NoteRequest.database, as: anna).count == 2)
        try second.close()
    }
}

@Suite("Concurrent openings of one store")
struct ConcurrentOpeningTests {
    @Test("Whoever opens a store that is being made, opened or closed gets one that works")
    func openAndClose() throws {
        let disk = SimulatedDisk()
        let threads = try (0..<8).map { number in
            try WorkerThread(name: "opener") {
                for round in 0..<6 {
                    #expect(throws: Never.self) {
                        let store = try Store.open(at: "/Shared.strata", platform: Platform(files: disk))
                        let user = Actor(user: "user-\(number)")
                        if round == 0 { _ = try store.modify(NoteRequest.makingZones(), as: user) }
                        _ = try store.modify(NoteRequest.saving(["\(round)"]), as: user)
                        try store.close()
                    }
                }
            }
        }
        for thread in threads { thread.join() }
        let store = try Store.open(at: "/Shared.strata", platform: Platform(files: disk))
        for number in 0..<8 {
            let ids = (0..<6).map { NoteRequest.id("\($0)") }
            let found = try store.snapshot().records(
                ids, in: NoteRequest.database, as: Actor(user: "user-\(number)"))
            #expect(found.allSatisfy { (try? $0.get()) != nil })
        }
        try store.close()
    }
}

/// Files that report their names when they are closed.
private struct WatchedFiles: FileSystem {
    let files: any FileSystem
    let onClose: @Sendable (String) -> Void

    func open(_ path: String, _ mode: OpenMode) throws -> any File {
        WatchedFile(try files.open(path, mode), onClose)
    }

    func exists(_ path: String) throws -> Bool { try files.exists(path) }
    func list(_ directory: String) throws -> [String] { try files.list(directory) }
    func makeDirectory(_ path: String) throws { try files.makeDirectory(path) }
    func rename(_ source: String, to target: String) throws { try files.rename(source, to: target) }
    func remove(_ path: String) throws { try files.remove(path) }
    func syncDirectory(_ directory: String) throws { try files.syncDirectory(directory) }
}

private final class WatchedFile: ForwardingFile {
    let file: any File
    private let onClose: @Sendable (String) -> Void
    private let isClosed = Atomic(false)

    init(_ file: any File, _ onClose: @escaping @Sendable (String) -> Void) {
        self.file = file
        self.onClose = onClose
    }

    deinit { close() }

    func close() {
        guard !isClosed.exchange(true, ordering: .relaxed) else { return }
        onClose(String(path.split(separator: "/").last ?? ""))
        file.close()
    }
}
