import ModelComparison
import StrataModel
import StrataReplication
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

@Suite("Collecting from a directory that several processes share", .timeLimit(.minutes(3)))
struct SharedCollectionTests {
    private let shared = SharedFiles()

    @Test("A file that nothing names stays for a day and no longer, whoever let go of it")
    func age() throws {
        let stores = try shared.open(2)
        _ = try shared.drop(1, in: stores[0])
        #expect(try stores[0].collectAssets() == 0)
        shared.clock.advance(byMicroseconds: SharedFiles.day)
        #expect(try stores[0].collectAssets() == 0 && stores[1].collectAssets() == 0)
        #expect(try shared.kept.count == 1)
        shared.clock.advance(byMicroseconds: 1_000_000)
        #expect(try stores[1].collectAssets() == 1)
        #expect(try shared.kept.isEmpty)
        for store in stores { try store.close() }
    }

    @Test("The age is an option of the engine")
    func ageOption() throws {
        var options = StoreOptions.service
        options.place = shared.place
        options.unusedFileSeconds = 10
        let store = try Store.open(at: "/0.strata", options: options, platform: shared.platform)
        _ = try shared.drop(1, in: store)
        shared.clock.advance(byMicroseconds: 10_000_000)
        #expect(try store.collectAssets() == 0)
        shared.clock.advance(byMicroseconds: 1_000_000)
        #expect(try store.collectAssets() == 1)
        try store.close()
    }

    @Test("A file that is named by a commit that this engine has not folded yet stays")
    func lagging() throws {
        let place = LogPlace(address: "lagging") { [shared] _ in LaggingSequencer(shared.sequence) }
        let store = try shared.open(1)[0]
        let lagging = try shared.open("lagging", place.withFiles(in: SharedFiles.directory))
        try shared.save("note", 1, in: store)
        shared.clock.advance(byMicroseconds: 2 * SharedFiles.day)
        let hash = try #require(try AssetFixture.requireWhole(store, ["note"]).first).hash
        #expect(try lagging.snapshot().trees.assetRow(hash) == nil)
        #expect(try lagging.collectAssets() == 0)
        #expect(try shared.bytes(of: "note", in: lagging) == AssetFixture.bytes(1))
        try lagging.close()
        try store.close()
    }

    @Test("Nothing is removed while the end of the log cannot be confirmed")
    func unconfirmed() throws {
        let store = try shared.open(1)[0]
        _ = try shared.drop(1, in: store)
        shared.clock.advance(byMicroseconds: 2 * SharedFiles.day)
        shared.sequence.tamper { $0.removeLast() }
        #expect(throws: StrataError.self) { try store.collectAssets() }
        #expect(try shared.kept.count == 1)
        try? store.close()
    }

    @Test("A copy that has removed history removes no files: other copies may have it")
    func compacted() throws {
        let stores = try shared.open(2)
        try shared.save("note", 1, in: stores[0])
        _ = try stores[0].modify(NoteRequest.deleting(["note"]), as: AssetFixture.anna)
        for number in 0..<3 {
            _ = try stores[0].modify(NoteRequest.saving(["other\(number)"]), as: AssetFixture.anna)
        }
        shared.clock.advance(byMicroseconds: 2 * SharedFiles.day)
        try stores[0].compact(before: stores[0].offset)
        #expect(stores[0].log.floor.offset > 0)
        #expect(try stores[0].collectAssets() == 0)
        try stores[1].confirm()
        #expect(try stores[1].collectAssets() == 0)
        #expect(try shared.kept.count == 1)
        for store in stores { try store.close() }
    }

    @Test("The drafts of others are removed after a day, at opening too; one's own never")
    func drafts() throws {
        let stores = try shared.open(2)
        try shared.save("note", 1, in: stores[0])
        let draft = SharedFiles.directory + "/assets/new-00"
        try AssetFixture.write([1], to: draft, on: shared.disk)
        #expect(try stores[0].collectAssets() == 0)
        shared.clock.advance(byMicroseconds: SharedFiles.day)
        try shared.open("late").close()
        #expect(try shared.disk.exists(draft))
        shared.clock.advance(byMicroseconds: 1_000_000)
        stores[1].engine.assets.state.withLock { _ = $0.drafts.insert(draft) }
        #expect(try stores[1].collectAssets() == 0)
        let late = try shared.open("late")
        #expect(eventually { (try? shared.disk.exists(draft)) == false })
        for store in stores + [late] { try store.close() }
    }

    @Test("An old file is touched by whoever names it again, and stays; the other's pin need not be seen")
    func reused() throws {
        for isImported in [true, false] {
            let shared = SharedFiles()
            let stores = try shared.open(3)
            let asset = try shared.drop(1, in: stores[0])
            shared.clock.advance(byMicroseconds: 2 * SharedFiles.day)
            let pin = try isImported ? stores[1].importAsset(at: shared.source(1)) : stores[1].pinAsset(asset)
            #expect(try stores[0].collectAssets() == 0 && stores[2].collectAssets() == 0)
            try AssetFixture.save("note", [pin], in: stores[1])
            shared.clock.advance(byMicroseconds: 2 * SharedFiles.day)
            #expect(try stores[0].collectAssets() == 0)
            #expect(try shared.bytes(of: "note", in: stores[2]) == AssetFixture.bytes(1))
            for store in stores { try store.close() }
        }
    }

    @Test("A request touches its files when they are half a day old; if it comes too late, it is refused as a whole")
    func longPins() throws {
        let stores = try shared.open(2)
        let pin = try stores[0].importAsset(at: shared.source(1))
        let request = NoteRequest.saving(["note"], [(AssetFixture.field, .asset(pin.value))])
        let path = AssetPaths(SharedFiles.directory).file(of: pin.value.hash)
        func modified() throws -> Int64 { try shared.disk.open(path, .read).status().modified }
        let before = try modified()
        shared.clock.advance(byMicroseconds: SharedFiles.day / 2)
        try stores[0].engine.assets.requireAssets(of: request)
        #expect(try modified() == before)
        shared.clock.advance(byMicroseconds: 1_000_000)
        try stores[0].engine.assets.requireAssets(of: request)
        #expect(try modified() == shared.clock.nowMicroseconds() * 1_000)
        shared.clock.advance(byMicroseconds: SharedFiles.day)
        #expect(try stores[1].collectAssets() == 0)
        shared.clock.advance(byMicroseconds: SharedFiles.day)
        // Its own engine knows the pin, the other does not.
        #expect(try stores[0].collectAssets() == 0)
        #expect(try stores[1].collectAssets() == 1)
        let offset = stores[0].offset
        #expect(thrownCode { _ = try stores[0].modify(request, as: AssetFixture.anna) } == .assetFileNotFound)
        #expect(stores[0].offset == offset)
        try shared.save("note", 1, in: stores[0])
        #expect(try shared.bytes(of: "note", in: stores[1]) == AssetFixture.bytes(1))
        for store in stores { try store.close() }
    }

    @Test("A file that a collector left aside is read, and linked back if it is needed, else removed")
    func leftAside() throws {
        let stores = try shared.open(2)
        try shared.save("note", 1, in: stores[0])
        let paths = AssetPaths(SharedFiles.directory)
        let named = try #require(try AssetFixture.requireWhole(stores[0], ["note"]).first).hash
        let dropped = try shared.drop(2, in: stores[0]).hash
        for hash in [named, dropped] { try shared.disk.rename(paths.file(of: hash), to: paths.aside(of: hash)) }
        #expect(try shared.bytes(of: "note", in: stores[1]) == AssetFixture.bytes(1))
        // The one that nothing names is not old yet.
        #expect(try stores[0].collectAssets() == 0)
        #expect(try Set(shared.kept) == [named.description, dropped.description])
        try shared.disk.rename(paths.file(of: dropped), to: paths.aside(of: dropped))
        shared.clock.advance(byMicroseconds: 2 * SharedFiles.day)
        #expect(try stores[1].collectAssets() == 1)
        #expect(try shared.kept == [named.description])
        for store in stores { try store.close() }
    }

    // MARK: Interleavings

    private enum Naming: CaseIterable {
        case importing, pinning, importingAndCollecting, collectingAndImporting
    }

    /// Names an old file by a record; returns false if the file was gone.
    private static func name(
        _ asset: FieldValue.Asset, _ way: Naming, _ shared: SharedFiles, _ stores: [Store]
    ) throws -> Bool {
        if way == .collectingAndImporting { _ = try stores[2].collectAssets() }
        do {
            let pin = try way == .pinning ? stores[1].pinAsset(asset) : stores[1].importAsset(at: shared.source(1))
            try AssetFixture.save("note", [pin], in: stores[1])
        } catch let error as StrataError where way == .pinning && error.code == .assetFileNotFound { return false }
        if way == .importingAndCollecting { _ = try stores[2].collectAssets() }
        return true
    }

    private static func check(_ shared: SharedFiles, _ stores: [Store], isNamed: Bool) throws {
        for store in stores {
            let bytes = try shared.bytes(of: "note", in: store)
            guard bytes == (isNamed ? AssetFixture.bytes(1) : nil) else {
                throw Divergence(description: "the asset of the record is not there")
            }
        }
        shared.clock.advance(byMicroseconds: 2 * SharedFiles.day)
        for store in stores { _ = try store.collectAssets() }
        guard try shared.kept.count == (isNamed ? 1 : 0) else {
            throw Divergence(description: "\(try shared.kept) is kept")
        }
    }

    /// Runs `collect` on an old file that is named before its call with a number; returns false if there are fewer.
    private static func run(_ call: Int, _ way: Naming, _ collect: (SharedFiles, Store) throws -> Void) throws -> Bool {
        let shared = SharedFiles()
        let stores = try shared.open(3)
        let asset = try shared.drop(1, in: stores[0])
        shared.clock.advance(byMicroseconds: 2 * SharedFiles.day)
        let result = Lock<Result<Bool, any Error>?>(nil)
        let wasInterrupted = try shared.interleave(call) {
            try collect(shared, stores[0])
        } _: {
            let named = Result { try name(asset, way, shared, stores) }
            result.withLock { $0 = named }
        }
        if let named = try result.withLock({ $0 })?.get() { try check(shared, stores, isNamed: named) }
        for store in stores { try store.close() }
        return wasInterrupted
    }

    @Test(
        "Whenever another engine names an old file that is being collected, its record has it",
        arguments: Naming.allCases)
    private func named(way: Naming) throws {
        var call = 1
        while try Self.run(call, way, { _ = try $1.collectAssets() }) { call += 1 }
        #expect(call > 8)
    }

    @Test("Canary: a collector that does not look again is noticed")
    func canary() throws {
        let careless: (SharedFiles, Store) throws -> Void = { shared, _ in
            for name in try shared.kept {
                let path = SharedFiles.directory + "/assets/\(name.prefix(2))/\(name)"
                guard try shared.disk.open(path, .read).status().isOlder(than: 86_400, at: shared.clock) else {
                    continue
                }
                try shared.disk.remove(path)
            }
        }
        #expect(throws: (any Error).self) {
            var call = 1
            while try Self.run(call, .importing, careless) { call += 1 }
        }
    }

    @Test("Whenever a collector comes while an old file is named, the record has it", arguments: [true, false])
    func collected(isImported: Bool) throws {
        var (call, isInterrupted) = (1, true)
        while isInterrupted {
            let shared = SharedFiles()
            let stores = try shared.open(3)
            let asset = try shared.drop(1, in: stores[0])
            shared.clock.advance(byMicroseconds: 2 * SharedFiles.day)
            var isNamed = false
            isInterrupted = try shared.interleave(call) {
                isNamed = try Self.name(asset, isImported ? .importing : .pinning, shared, stores)
            } _: {
                _ = try? stores[2].collectAssets()
            }
            try Self.check(shared, stores, isNamed: isNamed)
            for store in stores { try store.close() }
            call += 1
        }
        #expect(call > 8)
    }

    @Test("A file that is linked back stays on the disk that a loss of power leaves")
    func linkedBack() throws {
        let store = try shared.open(1)[0]
        let asset = try shared.drop(1, in: store)
        let paths = AssetPaths(SharedFiles.directory)
        try shared.disk.rename(paths.file(of: asset.hash), to: paths.aside(of: asset.hash))
        try shared.disk.syncDirectory(paths.folder(of: asset.hash))
        var isKept = false
        let steps = try shared.survivors { isKept = try store.engine.assets.keepYoung(asset.hash, paths) }
        #expect(isKept)
        let last = try #require(steps.suffix(SimulatedDisk.PowerLoss.allCases.count).first)
        #expect(try last.exists(paths.file(of: asset.hash)))
        for disk in try steps + shared.survivors({ _ = try store.collectAssets() }) {
            let names = [paths.file(of: asset.hash), paths.aside(of: asset.hash)]
            #expect(try names.contains { try disk.exists($0) })
        }
        try store.close()
    }
}
