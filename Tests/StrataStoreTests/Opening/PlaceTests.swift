import Foundation
import Glibc
import StrataLog
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

@Suite("A store and its directory")
struct PlaceTests {
    private static let anna = Actor(user: "anna")
    private let directory: TestDirectory
    private let path: String

    init() throws {
        directory = try TestDirectory()
        path = directory.path("Place.strata")
    }

    private static var options: StoreOptions {
        var options = StoreOptions.service
        options.segmentBytes = 64 << 10
        return options
    }

    private func open(_ path: String) throws -> Store {
        let store = try Store.open(at: path, options: Self.options)
        _ = try store.modify(NoteRequest.makingZones(), as: Self.anna)
        return store
    }

    /// Saves until something fails, or until all are saved; returns how many were.
    private func save(_ count: Int, _ prefix: String, in store: Store) -> (saved: Int, isGone: Bool) {
        for number in 0..<count {
            do { _ = try store.modify(NoteRequest.saving(["\(prefix)\(number)"]), as: Self.anna) } catch {
                return (number, "\(error)".contains(StrataError.Code.directoryGone.rawValue))
            }
        }
        return (count, false)
    }

    private func names(_ store: Store, _ prefix: String, _ count: Int) throws -> Int {
        let ids = (0..<count).map { NoteRequest.id("\(prefix)\($0)") }
        let found = try store.snapshot().records(ids, in: NoteRequest.database, as: Self.anna)
        return found.count { if case .success = $0 { true } else { false } }
    }

    @Test("One that is moved saves nothing more, and nothing of it gets into what takes its place")
    func moved() throws {
        let away = directory.path("Away.strata")
        let first = try open(path)
        #expect(save(400, "a", in: first).saved == 400)
        rename(path, away)
        #expect(save(1, "late", in: first).isGone)
        let second = try open(path)
        let (lost, isGone) = save(400, "late", in: first)
        #expect(lost == 0 && isGone)
        #expect(save(400, "b", in: second).saved == 400)
        try first.close()
        try second.close()
        for (path, prefix) in [(away, "a"), (path, "b")] {
            #expect(LogVerifier.verify(at: path).damage == nil)
            let store = try Store.open(at: path, options: Self.options)
            #expect(try names(store, prefix, 400) == 400 && names(store, "late", 400) == 0)
            try store.close()
        }
    }

    @Test("One that is removed and made again in one process keeps nothing of the old one, also when that is closed")
    func removed() throws {
        let (first, second) = try replaced()
        #expect(save(200, "b", in: second).saved == 200)
        let (saved, isGone) = save(1, "a", in: first)
        #expect(saved == 0 && isGone)
        _ = try? first.close()
        #expect(save(400, "c", in: second).saved == 400)
        try second.close()
        #expect(LogVerifier.verify(at: path).damage == nil)
        let again = try Store.open(at: path, options: Self.options)
        #expect(try names(again, "b", 200) == 200 && names(again, "c", 400) == 400 && names(again, "a", 300) == 0)
        try again.close()
    }

    @Test("A reader of a replaced store fails at its next refresh", arguments: [false, true])
    func read(isMadeAgain: Bool) async throws {
        let first = try open(path)
        #expect(save(10, "a", in: first).saved == 10)
        try first.close()
        let reader = try Store.open(at: path, access: .readOnly)
        let log = try LogReader.open(at: path)
        #expect(try !reader.refresh())
        try removeStore()
        if isMadeAgain {
            let second = try open(path)
            #expect(save(400, "b", in: second).saved == 400)
            try second.close()
        }
        let looks: [() throws -> Void] = [{ try reader.refresh() }, { try log.refresh() }]
        for look in looks {
            let error = #expect(throws: StrataError.self) { try look() }
            #expect(error?.code == .directoryGone && error?.context.path == path)
        }
        // Waiting readers are woken.
        let waits: [() async throws -> Void] = [
            { _ = try await reader.waitForChange(past: reader.offset) },
            { try await log.waitForEnd(past: log.end.offset) },
        ]
        for wait in waits {
            let error = await #expect(throws: StrataError.self) { try await wait() }
            #expect(error?.code == .directoryGone)
        }
        #expect(try names(reader, "a", 10) == 10 && names(reader, "b", 400) == 0)
        try reader.close()
    }

    @Test("Compacting one that was removed leaves the store that took its place alone")
    func compacted() throws {
        let (first, second) = try replaced()
        #expect(save(100, "b", in: second).saved == 100)
        _ = try? first.compact(before: 200)
        #expect(try !RealFileSystem().exists(StorePaths(path).floor))
        _ = try? first.close()
        try second.close()
        #expect(LogVerifier.verify(at: path).damage == nil)
    }

    /// A store of 300 records that was removed while it was open, and the one that took its place.
    private func replaced() throws -> (Store, Store) {
        let first = try open(path)
        #expect(save(300, "a", in: first).saved == 300)
        try removeStore()
        return (first, try open(path))
    }

    private func removeStore() throws {
        let files = RealFileSystem()
        for folder in ["log", "assets", "views"].map({ "\(path)/\($0)" }) where try files.exists(folder) {
            for name in try files.list(folder) { unlink("\(folder)/\(name)") }
            rmdir(folder)
        }
        for name in try files.list(path) { unlink("\(path)/\(name)") }
        #expect(rmdir(path) == 0)
    }

    @Test("Who removes LOCK does not let a second writer in")
    func unlocked() throws {
        let log = try SegmentedLog.open(at: path)
        unlink(StorePaths(path).lock)
        let error = #expect(throws: StrataError.self) { try SegmentedLog.open(at: path) }
        #expect(error?.code == .locked)
        try log.close()
        try SegmentedLog.open(at: path).close()
    }

    @Test("A directory with other files is left as it is", arguments: ["notes.txt", ".git", "LOCK.old"])
    func foreign(name: String) throws {
        let files = RealFileSystem()
        try files.makeDirectory(path)
        files.make("\(path)/\(name)")
        let error = #expect(throws: StrataError.self) { try Store.open(at: path) }
        #expect(error?.code == .notAStore && error?.context.found == name)
        #expect(try files.list(path) == [name])
    }

    @Test("A store that lost its STORE file says so, also where other files are")
    func identityLost() throws {
        let store = try open(path)
        try store.close()
        unlink("\(path)/STORE")
        RealFileSystem().make("\(path)/notes.txt")
        let error = #expect(throws: StrataError.self) { try Store.open(at: path) }
        #expect(error?.code == .notAStore && error?.context.path == "\(path)/STORE")
    }

    @Test("A link in the place of the log's directory is refused")
    func linkedLog() throws {
        let store = try open(path)
        try store.close()
        let away = directory.path("log")
        rename("\(path)/log", away)
        symlink(away, "\(path)/log")
        let names = try RealFileSystem().list(away).sorted()
        let error = #expect(throws: StrataError.self) { try Store.open(at: path) }
        #expect(error?.code == .inputOutput && error?.context.path == "\(path)/log")
        #expect(try RealFileSystem().list(away).sorted() == names)
    }

    @Test("An empty directory becomes a store")
    func empty() throws {
        try RealFileSystem().makeDirectory(path)
        try open(path).close()
    }

    @Test("A link in the place of a file is refused, and its target stays", arguments: ["LOCK", "views"])
    func links(name: String) throws {
        let files = RealFileSystem()
        let victim = directory.path("victim")
        try files.open(victim, .create).write([1, 2, 3], at: 0)
        if name != "LOCK" { try open(path).close() }
        try files.makeDirectory(path)
        try? FileManager.default.removeItem(atPath: "\(path)/\(name)")
        symlink(victim, "\(path)/\(name)")
        _ = try? Store.open(at: path).close()
        #expect(try files.readAll(victim, atMost: 10) == [1, 2, 3])
    }

    @Test(
        "Files are their owner's alone, or may be read by those who may read the directory", arguments: [false, true])
    func rights(isShared: Bool) throws {
        if isShared { #expect(mkdir(path, 0o755) == 0 && chmod(path, 0o755) == 0) }
        let store = try open(path)
        #expect(save(300, "a", in: store).saved == 300)
        try store.close()
        let names = ["", "/STORE", "/LOCK", "/views", "/log"].map { path + $0 }
        let segments = try RealFileSystem().list(path + "/log").map { "\(path)/log/\($0)" }
        for name in names + segments {
            var status = stat()
            #expect(lstat(name, &status) == 0 && (status.st_mode & 0o044 == 0) != isShared, "\(name)")
            #expect(status.st_mode & 0o022 == 0, "\(name)")
        }
    }
}

extension RealFileSystem {
    fileprivate func make(_ path: String) { try? open(path, .create).close() }
}
