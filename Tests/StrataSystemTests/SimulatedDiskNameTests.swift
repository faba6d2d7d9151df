import StrataSystem
import TestSupport
import Testing

@Suite("The simulated disk: what power loss leaves of names")
struct SimulatedDiskNameTests {
    private let disk = SimulatedDisk()

    init() throws {
        try disk.makeDirectory("/d")
        try disk.makeDirectory("/e")
    }

    /// All sets of names that seeds can bring about, with the first byte of each file.
    private func outcomes() throws -> Set<String> {
        var outcomes: Set<String> = []
        for seed in UInt64(1)...200 {
            let survivor = disk.afterPowerLoss(seed: seed)
            outcomes.insert(
                try survivor.paths.map { path in
                    "\(path)=\(try survivor.content(of: path).first ?? 0)"
                }.joined(separator: " "))
        }
        return outcomes
    }

    private func makeSyncedFile(_ path: String, _ byte: UInt8) throws {
        let file = try disk.open(path, .create)
        try file.write([byte], at: 0)
        try file.sync()
    }

    @Test("A new file needs a sync of its directory, not only one of its own")
    func creation() throws {
        try makeSyncedFile("/d/a", 1)
        #expect(disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced).paths.isEmpty)
        #expect(disk.afterPowerLoss(seed: 1, keeping: .everything).paths == ["/d/a"])
        #expect(try outcomes() == ["", "/d/a=1"])
        try disk.syncDirectory("/e")
        #expect(disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced).paths.isEmpty)
        try disk.syncDirectory("/d/")
        #expect(try outcomes() == ["/d/a=1"])
    }

    @Test("A synced directory does not make the content of its files durable")
    func contentOfNamedFile() throws {
        try disk.open("/d/a", .create).write([1], at: 0)
        try disk.syncDirectory("/d")
        #expect(try disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced).content(of: "/d/a").isEmpty)
    }

    @Test("A rename is done or not, never in part")
    func rename() throws {
        try makeSyncedFile("/d/a", 1)
        try disk.syncDirectory("/d")
        try disk.rename("/d/a", to: "/d/b")
        #expect(disk.paths == ["/d/b"])
        #expect(try outcomes() == ["/d/a=1", "/d/b=1"])
        try disk.syncDirectory("/d")
        #expect(try outcomes() == ["/d/b=1"])
    }

    @Test("A rename over a file leaves the old one or the new one")
    func renameOver() throws {
        try makeSyncedFile("/d/a", 1)
        try makeSyncedFile("/d/b", 2)
        try disk.syncDirectory("/d")
        try disk.rename("/d/b", to: "/d/a")
        #expect(try outcomes() == ["/d/a=1 /d/b=2", "/d/a=2"])
    }

    @Test("A new file that is renamed has no name, the first, or the second")
    func creationAndRename() throws {
        try makeSyncedFile("/d/a", 1)
        try disk.rename("/d/a", to: "/d/b")
        #expect(try outcomes() == ["", "/d/a=1", "/d/b=1"])
    }

    @Test("A rename between directories is durable in each by itself")
    func renameAcross() throws {
        try makeSyncedFile("/d/a", 1)
        try disk.syncDirectory("/d")
        try disk.rename("/d/a", to: "/e/a")
        #expect(disk.paths == ["/e/a"])
        #expect(try outcomes() == ["", "/d/a=1", "/d/a=1 /e/a=1", "/e/a=1"])
        try disk.syncDirectory("/e")
        #expect(try outcomes() == ["/d/a=1 /e/a=1", "/e/a=1"])
        try disk.syncDirectory("/d")
        #expect(try outcomes() == ["/e/a=1"])
    }

    @Test("A removed file may come back until its directory is synced, with what was synced of it")
    func removal() throws {
        try makeSyncedFile("/d/a", 1)
        try disk.syncDirectory("/d")
        try disk.remove("/d/a")
        #expect(try outcomes() == ["", "/d/a=1"])
        try disk.syncDirectory("/d")
        #expect(try outcomes() == [""])
    }

    @Test("A removal takes the file that it was for, never one that had the name before")
    func removalOfReplacement() throws {
        try makeSyncedFile("/d/a", 1)
        try makeSyncedFile("/d/b", 2)
        try disk.syncDirectory("/d")
        try disk.rename("/d/b", to: "/d/a")
        try disk.remove("/d/a")
        #expect(try outcomes() == ["", "/d/a=2", "/d/a=1 /d/b=2"])
    }

    @Test("Changes of the same directory are lost independently of each other")
    func independence() throws {
        try makeSyncedFile("/d/a", 1)
        try makeSyncedFile("/d/b", 2)
        #expect(try outcomes() == ["", "/d/a=1", "/d/b=2", "/d/a=1 /d/b=2"])
    }

    @Test("Directories are durable at once")
    func directories() throws {
        try disk.makeDirectory("/d/sub")
        #expect(try disk.afterPowerLoss(seed: 1, keeping: .nothingUnsynced).exists("/d/sub"))
    }

    @Test("However a path is spelled, it is the same file")
    func spellings() throws {
        try makeSyncedFile("/d//./a", 1)
        #expect(disk.paths == ["/d/a"])
        #expect(try disk.open("/./d/a", .read).size() == 1)
        try disk.open("here", .create).close()
        #expect(try disk.exists("./here"))
        #expect(try disk.list(".").contains("here"))
    }
}
