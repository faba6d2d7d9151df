import StrataLog
import StrataModel
import StrataReplication
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

@Suite("Assets and keys in a directory that all processes share", .timeLimit(.minutes(2)))
struct SharedFilesTests {
    private let shared = SharedFiles()

    @Test("An asset that is saved through one engine is read through the others, from the one directory")
    func assets() throws {
        let stores = try shared.open(3)
        for (number, store) in stores.enumerated() { try shared.save("note\(number)", number, in: store) }
        let late = try shared.open("late")
        for store in stores + [late] {
            for number in 0..<3 {
                #expect(try shared.bytes(of: "note\(number)", in: store) == AssetFixture.bytes(number))
            }
        }
        #expect(try shared.kept.count == 3)
        for name in ["0", "1", "2", "late"] {
            #expect(try !shared.disk.exists("/\(name).strata/assets"))
        }
        for store in stores + [late] { try store.close() }
    }

    @Test("Who only reads a copy finds assets and values with its place, and without it has an error for each")
    func readers() throws {
        let stores = try shared.open(2)
        try shared.save("note", 1, in: stores[0])
        try shared.save("card", shared.seal("1234", for: "card", in: stores[0]), in: stores[0])
        try stores[1].confirm()
        for store in stores { try store.close() }
        let reader = try shared.open("1", access: .readOnly)
        #expect(try AssetFixture.requireWhole(reader, ["note"]).count == 1)
        let id = RecordID("card", zone: SharedFiles.defaultZone)
        func card(_ store: Store) throws -> Record {
            try store.snapshot().record(id, in: SharedFiles.database, as: AssetFixture.anna)
        }
        #expect(try card(reader).opened("pin") == .string("1234"))
        try reader.close()
        let blind = try shared.open("1", .local, access: .readOnly)
        #expect(thrownCode { _ = try AssetFixture.requireWhole(blind, ["note"]) } == .assetNotAvailable)
        #expect(thrownCode { _ = try card(blind).opened("pin") } == .keyMissing)
        try blind.close()
        // The files are not where a check of one directory looks.
        let report = try DeepVerifier.verify(at: "/1.strata", platform: shared.platform)
        #expect(report.isWhole && report.assetCount == 0)
    }

    @Test("The past of a store has its assets and values")
    func past() throws {
        let store = try shared.open(1)[0]
        try shared.save("note", 1, in: store)
        try shared.save("card", shared.seal("1234", for: "card", in: store), in: store)
        let past = try store.past.state(at: store.offset)
        _ = try store.modify(NoteRequest.deleting(["note"]), as: AssetFixture.anna)
        #expect(try AssetFixture.requireWhole(past, ["note"]).count == 1)
        let card = try past.snapshot().record(
            RecordID("card", zone: SharedFiles.defaultZone), in: SharedFiles.database, as: AssetFixture.anna)
        #expect(try card.opened("pin") == .string("1234"))
        try past.close()
        try store.close()
    }

    @Test("Without such a directory each use of an asset or an encrypted value is refused before anything is written")
    func refusals() throws {
        let other = try AssetFixture(shared.disk)
        let foreign = try other.store.importAsset(at: shared.source(1))
        let bare = LogPlace(address: "memory") { [shared] _ in MemorySequencer(shared.sequence) }
        let store = try shared.open("bare", bare)
        _ = try store.modify(NoteRequest.makingZones(), as: AssetFixture.anna)
        let offset = store.offset
        let asset = foreign.value
        let fields: [FieldValue] = [.asset(asset), .list(try FieldList([.asset(asset)]))]
        #expect(thrownCode { _ = try store.importAsset(at: shared.source(1)) } == .assetNotAvailable)
        #expect(thrownCode { _ = try store.importAsset(asset, from: other.store) } == .assetNotAvailable)
        #expect(thrownCode { try store.requireAsset(asset) } == .assetNotAvailable)
        for value in fields {
            let request = NoteRequest.saving(["a"], [(AssetFixture.field, value)])
            #expect(thrownCode { _ = try store.modify(request, as: AssetFixture.anna) } == .assetNotAvailable)
        }
        #expect(thrownCode { _ = try store.pinAsset(asset) } == .assetNotAvailable)
        #expect(thrownCode { _ = try shared.seal("1234", for: "card", in: store) } == .invalidArgument)
        let sealed = FieldValue.Sealed(keyID: 1, nonce: [UInt8](repeating: 0, count: 24), ciphertext: [1])
        #expect(thrownCode { try shared.save("card", .sealed(sealed), in: store) } == .invalidArgument)
        let place = SealedPlace(document: "operation", of: "anna")
        #expect(thrownCode { _ = try store.open(sealed, at: place) } == .invalidArgument)
        #expect(thrownCode { try store.resetEncryptedData(of: "anna") } == .invalidArgument)
        #expect(try store.offset == offset && MemorySequencer(shared.sequence).last() == 2)
        #expect(try store.collectAssets() == 0)
        for name in ["assets", "keys"] { #expect(try !shared.disk.exists("/bare.strata/\(name)")) }
        _ = try store.modify(NoteRequest.saving(["a"]), as: AssetFixture.anna)
        #expect(store.offset == offset + 1)
        try store.close()
        try other.store.close()
    }

    @Test("A directory belongs to one store, and a store without a sequencer takes none")
    func owners() throws {
        let store = try shared.open("0")
        let foreign = SharedFiles().place
        #expect(thrownCode { _ = try shared.open("foreign", foreign) } == .invalidArgument)
        let local = LogPlace.local.withFiles(in: SharedFiles.directory)
        #expect(thrownCode { _ = try shared.open("local", local) } == .invalidArgument)
        #expect(try !shared.disk.exists("/local.strata/STORE"))
        try store.close()
        try shared.open("1").close()
    }

    @Test("Places are equal if their sequencers and their directories are; a directory has one inside")
    func places() {
        let place = LogPlace.directory("/Notes.sequence")
        #expect(place.filesDirectory == "/Notes.sequence/files" && LogPlace.local.filesDirectory == nil)
        #expect(place == LogPlace.directory("/Notes.sequence"))
        #expect(place == place.withFiles(in: "/Notes.sequence/files"))
        #expect(place != place.withFiles(in: "/elsewhere") && place != LogPlace.directory("/Other.sequence"))
        var options = StoreOptions.service
        options.place = place
        var other = options
        other.place = place.withFiles(in: "/elsewhere")
        #expect(options.differences(from: other) == ["place"])
    }

    @Test("At every step of a save: what the log names is whole on the disk that a loss of power leaves")
    func powerLoss() throws {
        let store = try shared.open(1)[0]
        let steps = try shared.survivors { try shared.save("note", 1, in: store) }
        #expect(steps.count > 15)
        // The request is sent after the last step in the directory, so only the last survivors have a commit.
        let asset = try #require(try AssetFixture.requireWhole(store, ["note"]).first)
        for disk in steps.suffix(SimulatedDisk.PowerLoss.allCases.count) {
            let paths = AssetPaths(SharedFiles.directory)
            let bytes = try disk.readAll(paths.file(of: asset.hash), atMost: 10_000)
            #expect(bytes == AssetFixture.bytes(1))
        }
        try store.close()
    }

    @Test("A failed call at any step fails the import or the save, and the next one succeeds")
    func faults() throws {
        for kind in [SimulatedDisk.CallKind.create, .write, .syncData, .rename, .syncDirectory] {
            let shared = SharedFiles()
            let stores = try shared.open(2)
            shared.disk.fail(kind, at: 1, with: .errno(5), on: SharedFiles.directory + "/assets")
            #expect(throws: StrataError.self, "\(kind)") { try shared.save("note", 1, in: stores[0]) }
            shared.disk.heal()
            try shared.save("note", 1, in: stores[0])
            #expect(try shared.bytes(of: "note", in: stores[1]) == AssetFixture.bytes(1))
            for store in stores { try store.close() }
        }
    }
}
