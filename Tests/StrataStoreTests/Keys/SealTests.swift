import Glibc
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

/// A store on a simulated disk with a zone, and short ways to save encrypted values.
struct SecretStore {
    static let path = "/Secrets.strata"
    static let zone = ZoneID("Secrets")
    let store: Store
    let disk: SimulatedDisk
    let anna = Actor(user: "anna")
    let database = DatabaseID(.private)

    init(_ disk: SimulatedDisk = SimulatedDisk(), seed: UInt64 = 1) throws {
        self.disk = disk
        // Small, since some tests copy the disk many times.
        let options = StoreOptions(segmentBytes: 64 << 10)
        store = try Store.open(
            at: Self.path, options: options, platform: Platform(files: disk, random: SeededRandom(seed: seed)))
    }

    func makeZone() throws { _ = try store.modify(.zones(saving: [Self.zone]), as: anna) }

    func id(_ name: String, in zone: ZoneID = zone) -> RecordID { RecordID(name, zone: zone) }

    func seal(_ value: FieldValue, for id: RecordID, _ key: String = "pin") throws -> FieldValue {
        try store.seal(value, for: key, of: id, in: database, as: anna)
    }

    func save(_ id: RecordID, _ value: FieldValue, as actor: Actor? = nil) throws {
        var builder = RequestBuilder(database, policy: .allKeys)
        builder.save(id, type: "Card", fields: ["pin": value])
        let answer = try store.modify(builder.request, as: actor ?? anna)
        _ = try answer.result.saves.first?.get()
    }

    func saveSecret(_ id: RecordID, _ text: String) throws { try save(id, try seal(.string(text), for: id)) }

    func opened(_ id: RecordID) throws -> FieldValue? {
        try store.snapshot().record(id, in: database, as: anna).opened("pin")
    }

    func openingCode(_ id: RecordID) -> StrataError.Code? { thrownCode { _ = try opened(id) } }

    static func keys(_ disk: SimulatedDisk) throws -> KeyBook { try KeyFile(in: path, disk).read() }
}

@Suite("Seals and keys", .timeLimit(.minutes(1)))
struct SealTests {
    @Test("A value opens again, here and after the store was opened anew; the file is its owner's alone")
    func reopened() throws {
        let secrets = try SecretStore()
        try secrets.makeZone()
        #expect(try !secrets.disk.exists(SecretStore.path + "/keys"))
        try secrets.saveSecret(secrets.id("a"), "1234")
        #expect(try secrets.opened(secrets.id("a")) == .string("1234"))
        try secrets.store.close()
        #expect(secrets.disk.isPrivate(SecretStore.path + "/keys") == true)
        #expect(secrets.disk.isPrivate(SecretStore.path + "/STORE") == false)
        let again = try SecretStore(secrets.disk, seed: 2)
        #expect(try again.opened(again.id("a")) == .string("1234"))
        try again.saveSecret(again.id("b"), "5678")
        #expect(try SecretStore.keys(again.disk).entries.map(\.id) == [1])
        try again.store.close()
    }

    @Test("On a real disk the file has mode 0600, whatever the process lets others do")
    func mode() throws {
        let directory = try TestDirectory()
        let store = try Store.open(at: directory.path("Real.strata"))
        let anna = Actor(user: "anna")
        let id = RecordID("a", zone: ZoneID("_defaultZone"))
        _ = try store.seal(.int64(1), for: "pin", of: id, in: DatabaseID(.private), as: anna)
        var status = stat()
        #expect(stat(directory.path("Real.strata/keys"), &status) == 0 && status.st_mode & 0o777 == 0o600)
        try store.resetEncryptedData(of: "anna")
        #expect(stat(directory.path("Real.strata/keys"), &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(try KeyFile(in: directory.path("Real.strata"), RealFileSystem()).read().entries.map(\.key) == [nil])
        try store.close()
    }

    @Test("Equal values have different seals, and a seal is as long as its value and 17 bytes")
    func nonces() throws {
        let secrets = try SecretStore()
        let seals = try (0..<100).map { _ in try secrets.seal(.string("same"), for: secrets.id("a")) }
        #expect(Set(seals).count == 100)
        for case .sealed(let sealed) in seals { #expect(sealed.ciphertext.count == 4 + 17 && sealed.keyID == 1) }
        try secrets.store.close()
    }

    @Test("A ciphertext opens at its own place only")
    func moved() throws {
        let secrets = try SecretStore()
        try secrets.makeZone()
        let id = secrets.id("a")
        let value = try secrets.seal(.string("1234"), for: id)
        guard case .sealed(let sealed) = value else { return #expect(Bool(false)) }
        let ring = secrets.store.engine.keys
        func code(_ key: String, _ id: RecordID, _ scope: InternedName.Scope = .private, _ owner: String = "anna")
            -> StrataError.Code?
        {
            let place = SealedPlace(key, of: id, in: DatabaseID(scope, owner: owner))
            return thrownCode { _ = try ring.open(sealed, at: place) }
        }
        #expect(code("pin", id) == nil)
        let elsewhere: [StrataError.Code?] = [
            code("pi", id), code("npin", id), code("pin", secrets.id("b")), code("pin", id, .shared),
            code("pin", RecordID("a", zone: ZoneID("Other"))), code("pin", id, .private, "berta"),
        ]
        #expect(elsewhere.allSatisfy { $0 == .sealBroken }, "\(elsewhere)")
        #expect(thrownCode { _ = try ring.open(sealed, at: SealedPlace(document: "a", of: "anna")) } == .sealBroken)
        try secrets.save(secrets.id("thief"), value)
        #expect(secrets.openingCode(secrets.id("thief")) == .sealBroken)
        // Names that run into each other are still two places.
        let left = SealedPlace("ab", of: secrets.id("c"), in: DatabaseID(.private, owner: "anna"))
        let right = SealedPlace("b", of: secrets.id("ca"), in: DatabaseID(.private, owner: "anna"))
        #expect(left.bytes != right.bytes)
        try secrets.store.close()
    }

    @Test("Every flipped bit of a seal is noticed")
    func flipped() throws {
        let secrets = try SecretStore()
        let id = secrets.id("a")
        guard case .sealed(let sealed) = try secrets.seal(.string("12"), for: id) else { return }
        let place = SealedPlace("pin", of: id, in: DatabaseID(.private, owner: "anna"))
        for bit in 0..<8 * (sealed.nonce.count + sealed.ciphertext.count) {
            var changed = sealed
            if bit / 8 < sealed.nonce.count {
                changed.nonce[bit / 8] ^= 1 << UInt8(bit % 8)
            } else {
                changed.ciphertext[bit / 8 - sealed.nonce.count] ^= 1 << UInt8(bit % 8)
            }
            #expect(thrownCode { _ = try secrets.store.open(changed, at: place) } == .sealBroken)
        }
        var short = sealed
        short.ciphertext.removeLast(short.ciphertext.count - 3)
        #expect(thrownCode { _ = try secrets.store.open(short, at: place) } == .sealBroken)
        #expect(try secrets.store.open(sealed, at: place) == FieldValue.string("12").encoded())
        try secrets.store.close()
    }

    @Test("B21 references, assets and what is encrypted are not; nor is anything in the public database, or nobody's")
    func refused() throws {
        let secrets = try SecretStore()
        let (store, id) = (secrets.store, secrets.id("a"))
        let link = FieldValue.reference(.init(RecordKey(zone: 1, name: "b")))
        let asset = FieldValue.asset(.init(hash: ContentHash(first: 1, second: 2), size: 3))
        let sealed = FieldValue.sealed(.init(keyID: 1, nonce: [UInt8](repeating: 0, count: 24), ciphertext: []))
        for value in [link, asset, sealed, .list(try FieldList([link])), .list(try FieldList([asset]))] {
            let refusal = #expect(throws: Refusal.self) { _ = try secrets.seal(value, for: id) }
            #expect(refusal?.code == .invalidArguments && refusal?.rule == .encryptedValues)
        }
        #expect(throws: Refusal.self) {
            _ = try store.seal(.int64(1), for: "pin", of: id, in: DatabaseID(.public), as: secrets.anna)
        }
        #expect(throws: Refusal.self) {
            _ = try store.seal(
                .int64(1), for: "pin", of: id, in: DatabaseID(.private, owner: "berta"), as: secrets.anna)
        }
        #expect(throws: Refusal.self) {
            _ = try store.seal(.int64(1), for: "pin", of: id, in: DatabaseID(.private), as: Actor(user: ""))
        }
        #expect(try !secrets.disk.exists(SecretStore.path + "/keys"))
        try store.close()
    }

    @Test("A lost file, another key, a damaged file: each has its error, and a damaged file is left alone")
    func lost() throws {
        var secrets = try SecretStore()
        try secrets.makeZone()
        try secrets.saveSecret(secrets.id("a"), "1234")
        try secrets.store.close()
        let (disk, file) = (secrets.disk, SecretStore.path + "/keys")
        let whole = try disk.readAll(file, atMost: 1 << 20)

        var other = KeyBook()
        _ = other.add([UInt8](repeating: 1, count: 32), of: "anna")
        try KeyFile(in: SecretStore.path, disk).replace(with: other)
        secrets = try SecretStore(disk)
        #expect(secrets.openingCode(secrets.id("a")) == .sealBroken)
        try secrets.store.close()

        var damaged = whole
        damaged[30] ^= 1
        try disk.replace(file, in: SecretStore.path, with: damaged)
        secrets = try SecretStore(disk)
        #expect(secrets.openingCode(secrets.id("a")) == .badChecksum)
        #expect(thrownCode { try secrets.saveSecret(secrets.id("b"), "5") } == .badChecksum)
        #expect(try disk.readAll(file, atMost: 1 << 20) == damaged)
        try disk.replace(file, in: SecretStore.path, with: whole)
        #expect(try secrets.opened(secrets.id("a")) == .string("1234"))
        try secrets.store.close()

        try disk.remove(file)
        secrets = try SecretStore(disk, seed: 3)
        #expect(secrets.openingCode(secrets.id("a")) == .keyMissing)
        try secrets.saveSecret(secrets.id("b"), "5678")
        #expect(try secrets.opened(secrets.id("b")) == .string("5678"))
        #expect(secrets.openingCode(secrets.id("a")) == .sealBroken)
        try secrets.store.close()
    }

    @Test("Many tasks and handles that need a user's first key at once get the same one")
    func concurrent() async throws {
        let disk = SimulatedDisk()
        let stores = try (0..<4).map { _ in try SecretStore(disk) }
        try stores[0].makeZone()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<32 {
                group.addTask {
                    let secrets = stores[number % 4]
                    let user = Actor(user: number % 2 == 0 ? "anna" : "berta", device: "\(number)")
                    let id = RecordID("r\(number)", zone: ZoneID("_defaultZone"))
                    let value = try secrets.store.seal(
                        .int64(Int64(number)), for: "pin", of: id, in: secrets.database, as: user)
                    try secrets.save(id, value, as: user)
                    let record = try secrets.store.snapshot().record(id, in: secrets.database, as: user)
                    #expect(try record.opened("pin") == .int64(Int64(number)))
                }
            }
            try await group.waitForAll()
        }
        #expect(try Set(SecretStore.keys(disk).entries.map(\.user)) == ["anna", "berta"])
        #expect(try SecretStore.keys(disk).entries.count == 2)
        for secrets in stores { try secrets.store.close() }
    }
}
