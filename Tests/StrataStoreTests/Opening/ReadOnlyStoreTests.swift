import Glibc
import StrataLog
import StrataModel
import StrataSystem
import StrataViews
import TestSupport
import Testing

@testable import StrataStore

@Suite("A store that is only read")
struct ReadOnlyStoreTests {
    private let anna = Actor(user: "anna")
    private let path = "/Read.strata"

    /// A disk with a store that nobody closed.
    private func written(_ options: StoreOptions = .service) throws -> (disk: SimulatedDisk, digests: Digests) {
        let disk = SimulatedDisk()
        let store = try Store.open(at: path, options: options, platform: Platform(files: disk))
        _ = try store.modify(NoteRequest.makingZones(), as: anna)
        for number in 0..<20 { _ = try store.modify(NoteRequest.saving(["\(number)"]), as: anna) }
        _ = try store.modify(NoteRequest.deleting(["3"]), as: anna)
        let digests = try store.snapshot().digests()
        let left = disk.afterPowerLoss(seed: 1)
        try store.close()
        return (left, digests)
    }

    private func open(_ disk: SimulatedDisk) throws -> Store {
        try Store.open(at: path, access: .readOnly, platform: Platform(files: disk))
    }

    @Test("A medium that cannot be written serves the same reads, and writes are refused")
    func readOnlyMedium() throws {
        let (disk, digests) = try written()
        disk.isReadOnly = true
        let store = try open(disk)
        #expect(try store.snapshot().digests() == digests)
        #expect(try store.snapshot().record(NoteRequest.id("7"), in: NoteRequest.database, as: anna)["title"] != nil)
        #expect(thrownCode { _ = try store.modify(NoteRequest.saving(["x"]), as: anna) } == .onlyRead)
        #expect(thrownCode { try store.declareIndex(type: "Note", field: "title") } == .onlyRead)
        #expect(try store.refresh() == false)
        try store.close()
        #expect(thrownCode { _ = try store.refresh() } == .closed)
    }

    @Test("A copy without views, with damaged views, or with half a commit at the end is read as far as it goes")
    func damagedCopies() throws {
        let (disk, digests) = try written()
        disk.isReadOnly = true
        func check(_ copy: SimulatedDisk) throws {
            copy.isReadOnly = true
            let store = try open(copy)
            #expect(try store.snapshot().digests() == digests)
            try store.close()
        }
        let views = disk.afterPowerLoss(seed: 2)
        views.isReadOnly = false
        for file in views.paths where file.hasPrefix(path + "/views/") {
            try views.overwrite(file, at: 0, with: [UInt8](repeating: 0xA5, count: 16_384))
        }
        try check(views)
        let without = disk.afterPowerLoss(seed: 2)
        without.isReadOnly = false
        try without.removeFiles(in: path + "/views")
        try check(without)
    }

    @Test("What is no store is an error, and is not made")
    func noStore() throws {
        let disk = SimulatedDisk()
        #expect(thrownCode { _ = try open(disk) } != nil)
        #expect(try !disk.exists(path))
    }

    @Test("Where this process writes the store, the same engine serves the reader")
    func besideOwnWriter() throws {
        let disk = SimulatedDisk()
        let writer = try Store.open(at: path, platform: Platform(files: disk))
        let reader = try open(disk)
        #expect(reader.engine === writer.engine)
        _ = try writer.modify(NoteRequest.makingZones(), as: anna)
        #expect(try reader.snapshot().zones(in: NoteRequest.database, as: anna).count == 2)
        #expect(thrownCode { _ = try reader.modify(NoteRequest.saving(["x"]), as: anna) } == .onlyRead)
        try writer.close()
        // The reader holds it open.
        #expect(try reader.snapshot().zones(in: NoteRequest.database, as: anna).count == 2)
        try reader.close()
    }

    @Test("Beside another process that writes: a second writer is told who it is, and a reader follows")
    func besideAnotherProcess() throws {
        let directory = try TestDirectory()
        let path = directory.path("Busy.strata")
        let child = try ChildProcess(ChildProcess.product("store-child"), [path, "1"])
        #expect(child.waitForLine())
        let error = #expect(throws: StrataError.self) { _ = try Store.open(at: path) }
        #expect(error?.code == .locked)
        #expect(error?.context.found?.contains("pid \(child.identifier) (store-child)") == true)
        let store = try Store.open(at: path, access: .readOnly)
        let first = store.offset
        #expect(first > 0)
        let hasMore = try eventually {
            // One that nobody reads stands still once its pipe is full.
            child.readWhatIsThere()
            return try store.refresh() && store.offset > first
        }
        #expect(hasMore)
        child.kill()
        while try store.refresh() {}
        // What the child had acknowledged is there, and its end is that of the log.
        for line in child.lines() {
            let words = line.split(separator: " ")
            let id = NoteRequest.id("\(words[0])-0")
            _ = try store.snapshot().record(id, in: NoteRequest.database, as: Actor(user: "user-\(words[1])"))
        }
        let writer = try Store.open(at: path)
        #expect(try writer.snapshot().digests() == store.snapshot().digests())
        try writer.close()
        try store.close()
    }
}
