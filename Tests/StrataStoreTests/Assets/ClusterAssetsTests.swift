import StrataLog
import StrataModel
import StrataReplication
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

@Suite("Assets that the servers of the log keep", .timeLimit(.minutes(3)))
struct ClusterAssetsTests {
    /// Calls a function before each entry.
    private final class WatchedSequencer: Sequencer {
        private let inner: MemorySequencer
        private let watch: @Sendable () -> Void

        init(_ sequence: MemorySequencer.Sequence, _ watch: @escaping @Sendable () -> Void) {
            (inner, self.watch) = (MemorySequencer(sequence), watch)
        }

        var maximumEntryBytes: Int { inner.maximumEntryBytes }

        func append(_ entry: [UInt8], id: Identifier, expecting: UInt64) -> SequencerAnswer {
            watch()
            return inner.append(entry, id: id, expecting: expecting)
        }

        func entries(after number: UInt64, waitingMilliseconds: Int) throws -> [[UInt8]] {
            try inner.entries(after: number, waitingMilliseconds: waitingMilliseconds)
        }

        func last() throws -> UInt64 { try inner.last() }
        func trim(through number: UInt64) throws -> UInt64 { try inner.trim(through: number) }
        func close() { inner.close() }
    }

    private let shared = SharedFiles()
    /// Pieces are shorter than the assets of the tests.
    private let messages = MemoryKeeper(maximumMessageBytes: 1_100)

    private func place(_ catchUp: (any MessageKeeper)? = nil) -> LogPlace {
        let catchUp = catchUp ?? messages
        return LogPlace(address: "memory") {
            catchUp
        } open: { [sequence = shared.sequence] _ in
            MemorySequencer(sequence)
        }
        .withAssets(in: .cluster)
    }

    private func open(_ name: String, _ place: LogPlace? = nil, access: AccessMode = .readWrite) throws -> Store {
        try shared.open(name, place ?? self.place(), access: access)
    }

    private func open(_ count: Int) throws -> [Store] {
        let stores = try (0..<count).map { try open("\($0)") }
        _ = try stores[0].modify(NoteRequest.makingZones(), as: AssetFixture.anna)
        for store in stores { try store.confirm() }
        return stores
    }

    private func cached(_ name: String) throws -> [String] {
        try AssetFixture.kept(on: shared.disk, at: "/\(name).strata")
    }

    private var whole: [String] { messages.names("*.whole") }

    @Test("An asset is read through every process, which then has its file; no directory is needed")
    func sharing() throws {
        let stores = try open(3)
        try shared.save("note", 1, in: stores[0])
        #expect(try cached("0").count == 1 && cached("1").isEmpty)
        for store in stores { #expect(try shared.bytes(of: "note", in: store) == AssetFixture.bytes(1)) }
        #expect(try cached("1") == cached("0") && whole.count == 1)
        // The file that a process has is enough.
        messages.tamper { $0 = [:] }
        #expect(try shared.bytes(of: "note", in: stores[1]) == AssetFixture.bytes(1))
        for store in stores { try store.close() }
        // Encrypted values still need a directory.
        let store = try open("0")
        #expect(thrownCode { _ = try shared.seal("1234", for: "note", in: store) } == .invalidArgument)
        try store.close()
    }

    @Test("An asset is whole before the entry that names it is sent", arguments: seeds(5))
    func order(_ seed: UInt64) throws {
        let counts = Lock<[Int]>([])
        let catchUp = HostileKeeper(messages, .everything, seed: seed)
        let place = LogPlace(address: "watched") {
            catchUp
        } open: { [sequence = shared.sequence, messages] _ in
            WatchedSequencer(sequence) {
                counts.withLock { $0.append(messages.names("*.whole").count) }
            }
        }
        let store = try ObjectContract.patiently { try open("0", place.withAssets(in: .cluster)) }
        _ = try store.modify(NoteRequest.makingZones(), as: AssetFixture.anna)
        for number in 0..<10 {
            let before = counts.withLock(\.count)
            try ObjectContract.patiently { try shared.save("note\(number)", number, in: store) }
            #expect(counts.withLock { $0.dropFirst(before).allSatisfy { $0 == number + 1 } && $0.count > before })
        }
        try store.close()
    }

    @Test("A copy keeps the files that its history names, and the cluster keeps all")
    func collecting() throws {
        let stores = try open(2)
        _ = try shared.drop(1, in: stores[0])
        #expect(try cached("0").isEmpty && whole.count == 1)
        try shared.save("note", 2, in: stores[0])
        #expect(try shared.bytes(of: "note", in: stores[1]) == AssetFixture.bytes(2))
        _ = try stores[0].modify(NoteRequest.deleting(["note"]), as: AssetFixture.anna)
        for number in 0..<3 {
            _ = try stores[0].modify(NoteRequest.saving(["other\(number)"]), as: AssetFixture.anna)
        }
        try stores[1].confirm()
        #expect(try stores[1].collectAssets() == 0 && cached("1").count == 1)
        try stores[1].compact(before: stores[1].offset)
        _ = try stores[1].collectAssets()
        #expect(try cached("1").isEmpty && cached("0").count == 1 && whole.count == 2)
        for store in stores { try store.close() }
    }

    @Test("A lost or damaged asset is not available, and saving the same bytes repairs it")
    func damage() throws {
        let stores = try open(3)
        for (name, number) in [("lost", 1), ("damaged", 2)] {
            try shared.save(name, number, in: stores[0])
            let hash = try ObjectContract.hash(AssetFixture.bytes(number))
            let piece = try #require(messages.names("\(hash).*.0").first)
            messages.tamper { kept in
                kept[piece] = number == 1 ? nil : KeptMessage(number: kept[piece]?.number ?? 0, bytes: [1, 2, 3])
            }
            #expect(thrownCode { _ = try shared.bytes(of: name, in: stores[1]) } == .assetNotAvailable)
            #expect(try cached("1").isEmpty)
            // The process that has the file notices nothing.
            #expect(try shared.bytes(of: name, in: stores[0]) == AssetFixture.bytes(number))
            _ = try shared.drop(number, in: stores[2])
            #expect(try shared.bytes(of: name, in: stores[1]) == AssetFixture.bytes(number))
            try stores[1].confirm()
            try shared.disk.remove(AssetPaths("/1.strata").file(of: hash))
        }
        for store in stores { try store.close() }
    }

    @Test("Servers that do not answer are another error than a lost asset")
    func silence() throws {
        try shared.disk.makeDirectory(TemporaryDirectory.path)
        let store = try open(1)[0]
        try shared.save("note", 1, in: store)
        var faults = HostileKeeper.FaultProfile()
        let good = try open("1", place(HostileKeeper(messages, faults, seed: 1)))
        faults.unreachable = 1_000
        try good.close()
        let reader = try open("1", place(HostileKeeper(messages, faults, seed: 1)), access: .readOnly)
        let asset = try #require(
            try reader.snapshot().record(
                NoteRequest.id("note"), in: NoteRequest.database, as: AssetFixture.anna
            ).assets.first)
        #expect(thrownCode { try reader.requireAsset(asset) } == .unreachable)
        try reader.close()
        try store.close()
    }

    @Test("A file of the copy that a loss of power tore is fetched again; a reader leaves the copy unchanged")
    func torn() throws {
        try shared.disk.makeDirectory(TemporaryDirectory.path)
        let stores = try open(2)
        try shared.save("note", 1, in: stores[0])
        #expect(try shared.bytes(of: "note", in: stores[1]) == AssetFixture.bytes(1))
        for store in stores { try store.close() }
        let path = AssetPaths("/1.strata").file(of: try ObjectContract.hash(AssetFixture.bytes(1)))
        let file = try shared.disk.open(path, .write)
        try file.truncate(to: 10)
        file.close()
        let reader = try open("1", access: .readOnly)
        _ = try AssetFixture.requireWhole(reader, ["note"])
        #expect(try shared.disk.open(path, .read).size() == 10)
        try reader.close()
        let store = try open("1")
        #expect(try shared.bytes(of: "note", in: store) == AssetFixture.bytes(1))
        #expect(try shared.disk.open(path, .read).size() == 3_000)
        try store.close()
    }

    @Test("A request gives the cluster what only this copy has, and is refused if neither has the file")
    func naming() throws {
        let store = try open(1)[0]
        try shared.save("note", 1, in: store)
        try store.close()
        messages.tamper { kept in kept = kept.filter { $0.key == "owner" } }
        let again = try open("0")
        let hash = try ObjectContract.hash(AssetFixture.bytes(1))
        let pin = try again.pinAsset(FieldValue.Asset(hash: hash, size: 3_000))
        #expect(whole == ["\(hash).whole"])
        withExtendedLifetime(pin) {}
        let unknown = FieldValue.Asset(hash: try ObjectContract.hash([7]), size: 1)
        let request = NoteRequest.saving(["other"], [(AssetFixture.field, .asset(unknown))])
        #expect(thrownCode { _ = try again.modify(request, as: AssetFixture.anna) } == .assetFileNotFound)
        try again.close()
    }

    @Test("All processes have one place for assets, of one store, and only where servers can keep them")
    func places() throws {
        let store = try open(1)[0]
        try shared.save("note", 1, in: store)
        let elsewhere = place().withAssets(in: .directory).withFiles(in: SharedFiles.directory)
        #expect(thrownCode { _ = try open("1", elsewhere) } == .invalidArgument)
        #expect(thrownCode { _ = try open("1", place().withAssets(in: .directory)) } == .invalidArgument)
        #expect(thrownCode { _ = try open("1", shared.place.withAssets(in: .cluster)) } == .unsuitable)
        #expect(thrownCode { _ = try open("alone", LogPlace.local.withAssets(in: .cluster)) } == .invalidArgument)
        let foreign = MemorySequencer.Sequence()
        let other = LogPlace(address: "other") { [messages] in
            messages
        } open: { _ in
            MemorySequencer(foreign)
        }
        #expect(thrownCode { _ = try open("2", other.withAssets(in: .cluster)) } == .invalidArgument)
        // The keys of a store may be in a directory all the same.
        let keyed = try open("1", place().withFiles(in: SharedFiles.directory))
        try shared.save("card", shared.seal("1234", for: "card", in: keyed), in: keyed)
        #expect(try shared.opened("card", in: keyed) == .string("1234"))
        #expect(try shared.bytes(of: "note", in: keyed) == AssetFixture.bytes(1) && shared.kept.isEmpty)
        try keyed.close()
        try store.close()
        #expect(place() != place().withAssets(in: .directory) && LogPlace.local.assets == .directory)
    }

    @Test("A store in memory, which has no directory for what it reads, is refused")
    func memory() throws {
        let log = try ReplicatedLog.open(
            at: "/Memory.strata", sequencer: MemorySequencer(shared.sequence), platform: shared.platform)
        var options = StoreOptions.service
        options.place = place()
        #expect(thrownCode { _ = try Store(on: log, options: options, platform: shared.platform) } == .invalidArgument)
        #expect(thrownCode { _ = try Store.inMemory(options: options, platform: shared.platform) } == .invalidArgument)
        options.place = options.place.withAssets(in: .directory)
        try Store(on: log, options: options, platform: shared.platform).close()
        #expect(messages.names("*").isEmpty)
    }
}
