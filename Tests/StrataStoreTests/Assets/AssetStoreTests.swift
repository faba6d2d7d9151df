import Glibc
import StrataLog
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

@Suite("Files of assets", .timeLimit(.minutes(2)))
struct AssetStoreTests {
    private let disk = SimulatedDisk()

    @Test("Equal bytes are one file, named by their hash; other bytes another one")
    func names() throws {
        let fixture = try AssetFixture(disk)
        try fixture.makeZone()
        try fixture.save("a", AssetFixture.bytes(1))
        try fixture.save("b", AssetFixture.bytes(1))
        try fixture.save("c", AssetFixture.bytes(2))
        let kept = try AssetFixture.kept(on: disk)
        let named = try AssetFixture.requireWhole(fixture.store, ["a", "b", "c"])
        #expect(Set(kept) == Set(named.map { "\($0.hash)" }) && kept.count == 2 && named.count == 3)
        for hash in kept {
            #expect(ContentHash(hash)?.description == hash)
            let bytes = try disk.readAll("\(AssetFixture.path)/assets/\(hash.prefix(2))/\(hash)", atMost: 10_000)
            #expect(bytes == AssetFixture.bytes(1) || bytes == AssetFixture.bytes(2))
        }
        try fixture.store.close()
    }

    @Test("A file that is there and known to be whole is not written again")
    func knownFiles() throws {
        let fixture = try AssetFixture(disk)
        let source = try AssetFixture.write(AssetFixture.bytes(1), to: "/source", on: disk)
        let first = try fixture.store.importAsset(at: source)
        let (syncs, renames) = (disk.count(of: .syncData), disk.count(of: .rename))
        let second = try fixture.store.importAsset(at: source)
        #expect(first.value == second.value)
        #expect(disk.count(of: .syncData) == syncs && disk.count(of: .rename) == renames)
        try fixture.store.close()
    }

    @Test("A damaged file is mended when its bytes are saved again")
    func mended() throws {
        let fixture = try AssetFixture(disk)
        try fixture.makeZone()
        try fixture.save("a", AssetFixture.bytes(1))
        let hash = try AssetFixture.kept(on: disk)[0]
        let path = "\(AssetFixture.path)/assets/\(hash.prefix(2))/\(hash)"
        try fixture.store.close()
        try AssetFixture.write(AssetFixture.bytes(9), to: path, on: disk)
        let again = try AssetFixture(disk)
        let record = try again.store.snapshot().record(
            NoteRequest.id("a"), in: NoteRequest.database, as: AssetFixture.anna)
        #expect(thrownCode { try again.store.requireAssets(of: record) } == .assetNotAvailable)
        #expect(thrownCode { try again.store.copyAsset(try record.assets[0], to: "/copy") } == .assetNotAvailable)
        try again.save("b", AssetFixture.bytes(1))
        try again.store.requireAssets(of: record)
        try again.store.copyAsset(try record.assets[0], to: "/copy")
        #expect(try disk.readAll("/copy", atMost: 10_000) == AssetFixture.bytes(1))
        #expect(thrownCode { try again.store.copyAsset(try record.assets[0], to: "/copy") } == .alreadyExists)
        try again.store.close()
    }

    @Test("What cannot be imported has an error of its own, and leaves nothing")
    func mistakes() throws {
        var options = StoreOptions.service
        options.assetBytes = 100
        let fixture = try AssetFixture(disk, options: options)
        let large = try AssetFixture.write(AssetFixture.bytes(1, count: 101), to: "/large", on: disk)
        let most = try AssetFixture.write(AssetFixture.bytes(1, count: 100), to: "/most", on: disk)
        #expect(thrownCode { _ = try fixture.store.importAsset(at: large) } == .tooLarge)
        #expect(thrownCode { _ = try fixture.store.importAsset(at: "/nowhere") } == .assetFileNotFound)
        #expect(thrownCode { _ = try fixture.store.importAsset(at: AssetFixture.path) } == .assetFileNotFound)
        let strange = FieldValue.Asset(hash: ContentHash(first: 1, second: 2), size: 3)
        #expect(thrownCode { _ = try fixture.store.pinAsset(strange) } == .assetFileNotFound)
        #expect(thrownCode { try fixture.store.requireAsset(strange) } == .assetNotAvailable)
        #expect(try AssetFixture.kept(on: disk).isEmpty)
        let pin = try fixture.store.importAsset(at: most)
        #expect(pin.value.size == 100)
        let reader = try Store.open(at: AssetFixture.path, access: .readOnly, platform: Platform(files: disk))
        #expect(thrownCode { _ = try reader.importAsset(at: most) } == .onlyRead)
        #expect(thrownCode { try reader.collectAssets() } == .onlyRead)
        try reader.close()
        try fixture.store.close()
        #expect(thrownCode { _ = try fixture.store.importAsset(at: most) } == .closed)
        #expect(thrownCode { try fixture.store.requireAsset(pin.value) } == .closed)
    }

    @Test("A file that changes while it is read is not imported")
    func modified() throws {
        let fixture = try AssetFixture(disk)
        let size = 3 << 20
        let source = try AssetFixture.write(AssetFixture.bytes(1, count: size), to: "/source", on: disk)
        for change in [0, size / 2, size - 1, size + 1] {
            let reads = Lock(0)
            let isSecondRead: @Sendable () -> Bool = {
                reads.withLock { reads in
                    reads += 1
                    return reads == 2
                }
            }
            let writer = try disk.open(source, .write)
            disk.beforeCall = { kind, path in
                // What is done below asks the hook as well.
                guard kind == .read, path == source, isSecondRead() else { return }
                if change < size {
                    try? writer.truncate(to: change)
                } else {
                    try? writer.write([1, 2], at: size)
                }
            }
            #expect(thrownCode { _ = try fixture.store.importAsset(at: source) } == .assetFileModified)
            disk.beforeCall = nil
            writer.close()
            try AssetFixture.write(AssetFixture.bytes(1, count: size), to: source, on: disk)
        }
        #expect(try AssetFixture.kept(on: disk).isEmpty)
        _ = try fixture.store.importAsset(at: source)
        try fixture.store.close()
    }

    @Test("Bytes that are written over while a file is read are noticed by the time of the change")
    func overwritten() throws {
        let directory = try TestDirectory()
        let path = directory.path + "/source"
        let size = 8 << 20
        try AssetFixture.write(AssetFixture.bytes(1, count: size), to: path, on: RealFileSystem())
        let before = try RealFileSystem().open(path, .read)
        let old = try before.status()
        usleep(20_000)
        try RealFileSystem().open(path, .write).write([0], at: 5)
        let new = try before.status()
        #expect(new.identity == old.identity && new.size == old.size && new.modified > old.modified)
    }

    @Test("64 MB take a few pieces of memory")
    func constantMemory() throws {
        let directory = try TestDirectory()
        let files = RealFileSystem()
        let (source, copy) = (directory.path + "/large", directory.path + "/copy")
        let piece = AssetFixture.bytes(3, count: 1 << 20)
        let file = try files.open(source, .create)
        for number in 0..<64 { try file.write(piece, at: number << 20) }
        file.close()
        // In a process of its own: others use memory here.
        let child = try ChildProcess(
            ChildProcess.product("store-child"), [directory.path + "/Large.strata", "asset", source, copy])
        let kibibytes = try #require(child.lines().first.flatMap { Int($0) })
        #expect(kibibytes < 16 << 10)
        #expect(try files.open(copy, .read).size() == 64 << 20)
    }

    @Test("A store in memory keeps assets in files without names, and lets them go")
    func inMemory() throws {
        let directory = try TestDirectory()
        let files = RealFileSystem()
        let store = try Store.inMemory()
        let source = try AssetFixture.write(AssetFixture.bytes(1), to: directory.path + "/source", on: files)
        _ = try store.modify(NoteRequest.makingZones(), as: AssetFixture.anna)
        var pin: PinnedAsset? = try store.importAsset(at: source)
        let value = try #require(pin?.value)
        try AssetFixture.save("a", [try #require(pin)], in: store)
        pin = nil
        #expect(try store.collectAssets() == 0)
        try store.copyAsset(value, to: directory.path + "/copy")
        #expect(try files.readAll(directory.path + "/copy", atMost: 10_000) == AssetFixture.bytes(1))
        let other = try AssetFixture.write(AssetFixture.bytes(2), to: source, on: files)
        var dropped: PinnedAsset? = try store.importAsset(at: other)
        let lost = try #require(dropped?.value)
        dropped = nil
        #expect(thrownCode { try store.requireAsset(lost) } == .assetNotAvailable)
        try store.close()
    }

    @Test("Who only reads a store finds its assets, and removes none")
    func readers() throws {
        let fixture = try AssetFixture(disk)
        try fixture.makeZone()
        try fixture.save("a", AssetFixture.bytes(1))
        let source = try AssetFixture.write(AssetFixture.bytes(2), to: "/source", on: disk)
        let pin = try fixture.store.importAsset(at: source)
        let copy = disk.afterPowerLoss(seed: 1)
        copy.isReadOnly = true
        let reader = try Store.open(at: AssetFixture.path, access: .readOnly, platform: Platform(files: copy))
        #expect(try AssetFixture.requireWhole(reader, ["a"]).count == 1)
        try reader.requireAsset(pin.value)
        try reader.close()
        #expect(try AssetFixture.kept(on: copy).count == 2)
        try fixture.store.close()
    }
}
