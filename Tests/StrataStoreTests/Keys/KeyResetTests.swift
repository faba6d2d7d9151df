import Foundation
import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

@Suite("Resets of encrypted data (B38, B154)", .timeLimit(.minutes(2)))
struct KeyResetTests {
    private static let defaultZone = ZoneID("_defaultZone")

    private func reasons(_ secrets: SecretStore) throws -> [String: ZoneDeletedEvent.Reason] {
        let page = try secrets.store.databaseChanges(in: secrets.database, since: nil, limit: 0, as: secrets.anna)
        return Dictionary(uniqueKeysWithValues: page.deleted.map { ($0.zone.name, $0.reason) })
    }

    @Test("The zones with encrypted values go, the key goes, the next one is new; the default zone's do not open")
    func reset() throws {
        let secrets = try SecretStore()
        try secrets.makeZone()
        _ = try secrets.store.modify(.zones(saving: [ZoneID("Plain")]), as: secrets.anna)
        try secrets.saveSecret(secrets.id("a"), "1234")
        try secrets.saveSecret(secrets.id("kept", in: Self.defaultZone), "5678")
        let token = try secrets.store.databaseChanges(in: secrets.database, since: nil, limit: 0, as: secrets.anna)
            .token
        try secrets.store.resetEncryptedData(of: "anna")
        let page = try secrets.store.databaseChanges(in: secrets.database, since: token, limit: 0, as: secrets.anna)
        #expect(page.deleted.map(\.zone.name) == ["Secrets"])
        #expect(page.deleted.map(\.reason) == [.encryptedDataReset])
        #expect(
            try secrets.store.snapshot().zones(in: secrets.database, as: secrets.anna).map(\.id.name).contains("Plain"))
        #expect(secrets.openingCode(secrets.id("kept", in: Self.defaultZone)) == .keyDestroyed)
        #expect(try SecretStore.keys(secrets.disk).entries.map(\.key) == [nil])
        try secrets.makeZone()
        try secrets.saveSecret(secrets.id("a"), "new")
        #expect(try secrets.opened(secrets.id("a")) == .string("new"))
        #expect(try SecretStore.keys(secrets.disk).entries.map(\.id) == [1, 2])
        // Over the one that does not open a new one can be saved.
        try secrets.saveSecret(secrets.id("kept", in: Self.defaultZone), "again")
        #expect(try secrets.opened(secrets.id("kept", in: Self.defaultZone)) == .string("again"))
        try secrets.store.close()
    }

    @Test("A reset without zones to delete destroys the key, without a key it does nothing, and others keep theirs")
    func repeated() throws {
        let secrets = try SecretStore()
        try secrets.store.resetEncryptedData(of: "anna")
        #expect(try !secrets.disk.exists(SecretStore.path + "/keys"))
        let berta = Actor(user: "berta")
        let id = secrets.id("a", in: Self.defaultZone)
        try secrets.save(
            id, try secrets.store.seal(.int64(1), for: "pin", of: id, in: secrets.database, as: berta), as: berta)
        try secrets.saveSecret(id, "1234")
        let offset = secrets.store.offset
        try secrets.store.resetEncryptedData(of: "anna")
        #expect(secrets.store.offset == offset)
        #expect(secrets.openingCode(id) == .keyDestroyed)
        let kept = try secrets.store.snapshot().record(id, in: secrets.database, as: berta)
        #expect(try kept.opened("pin") == .int64(1))
        try secrets.store.resetEncryptedData(of: "anna")
        #expect(try SecretStore.keys(secrets.disk).nextID == 3)
        try secrets.store.close()
    }

    @Test("A commit that fails leaves the key")
    func failed() throws {
        struct Failure: Error {}
        let secrets = try SecretStore()
        let id = secrets.id("a", in: Self.defaultZone)
        try secrets.saveSecret(id, "1234")
        #expect(throws: Failure.self) {
            try secrets.store.engine.keys.destroyKey(of: "anna") { throw Failure() }
        }
        #expect(try secrets.opened(id) == .string("1234"))
        try secrets.saveSecret(id, "5678")
        #expect(try SecretStore.keys(secrets.disk).entries.map(\.id) == [1])
        try secrets.store.close()
    }

    @Test("What was sealed before a reset is not committed after it; who seals meanwhile waits for the next key")
    func overtaken() async throws {
        let secrets = try SecretStore()
        try secrets.makeZone()
        let id = secrets.id("a", in: Self.defaultZone)
        let early = try secrets.seal(.string("1234"), for: id)
        let ring = secrets.store.engine.keys
        let late = Reply<FieldValue>()
        try ring.destroyKey(of: "anna") {
            #expect(thrownCode { try secrets.save(id, early) } == .keyDestroyed)
            Task.detached { late.value.withLock { $0 = try? secrets.seal(.string("late"), for: id) } }
        }
        #expect(thrownCode { try secrets.save(id, early) } == .keyDestroyed)
        _ = try await awaited { late.value.withLock { $0 != nil } }
        guard case .sealed(let sealed)? = late.value.withLock({ $0 }) else {
            Issue.record("nothing was sealed")
            return
        }
        #expect(sealed.keyID == 2)
        try secrets.store.close()
    }

    private final class Reply<Value: Sendable>: Sendable {
        let value = Lock<Value?>(nil)
    }

    @Test("A reader in another process finds new keys, and after a look none that were destroyed")
    func followed() throws {
        let secrets = try SecretStore()
        let reader = KeyRing(KeyFile(in: SecretStore.path, secrets.disk), SeededRandom(seed: 9), isFollowed: true)
        let id = secrets.id("a")
        let place = SealedPlace("pin", of: id, in: DatabaseID(.private, owner: "anna"))
        guard case .sealed(let first) = try secrets.seal(.int64(1), for: id) else { return }
        #expect(try reader.open(first, at: place) == FieldValue.int64(1).encoded())
        try secrets.store.resetEncryptedData(of: "anna")
        guard case .sealed(let second) = try secrets.seal(.int64(2), for: id) else { return }
        #expect(try reader.open(second, at: place) == FieldValue.int64(2).encoded())
        reader.forget()
        #expect(thrownCode { _ = try reader.open(first, at: place) } == .keyDestroyed)
        try secrets.store.close()
    }

    // MARK: Power loss

    /// What a loss of power at each call of `work` leaves, at its least, its most and in between.
    private func survivors(of disk: SimulatedDisk, _ work: () throws -> Void) throws -> [SimulatedDisk] {
        let copies = Lock<[SimulatedDisk]>([])
        disk.beforeCall = { kind, _ in
            if [.exists, .open, .size, .read, .list, .lock, .map].contains(kind) { return }
            for keeping in SimulatedDisk.PowerLoss.allCases {
                let seed = UInt64(copies.withLock { $0.count })
                let copy = disk.afterPowerLoss(seed: seed, keeping: keeping)
                copies.withLock { $0.append(copy) }
            }
        }
        try work()
        disk.beforeCall = nil
        for keeping in SimulatedDisk.PowerLoss.allCases {
            copies.withLock { $0.append(disk.afterPowerLoss(seed: 99, keeping: keeping)) }
        }
        return copies.withLock { $0 }
    }

    @Test("Power lost at any step of making a key: what was committed opens")
    func powerLossMaking() throws {
        let secrets = try SecretStore()
        try secrets.makeZone()
        let copies = try survivors(of: secrets.disk) { try secrets.saveSecret(secrets.id("a"), "1234") }
        var found = 0
        for copy in copies {
            let again = try SecretStore(copy, seed: 5)
            if let record = try? again.store.snapshot().record(again.id("a"), in: again.database, as: again.anna) {
                #expect(try record.opened("pin") == .string("1234"))
                found += 1
            }
            try again.saveSecret(again.id("b"), "next")
            #expect(try again.opened(again.id("b")) == .string("next"))
            try again.store.close()
        }
        #expect(found > 0 && found < copies.count && copies.count > 15, "\(found) of \(copies.count)")
        try secrets.store.close()
    }

    @Test("Power lost at any step of a reset: what is there opens, and a reset that returned left no key")
    func powerLossDestroying() throws {
        let secrets = try SecretStore()
        try secrets.makeZone()
        try secrets.saveSecret(secrets.id("a"), "1234")
        let key = try #require(try SecretStore.keys(secrets.disk).entries.first?.key)
        // Canary: the search finds the key while it is there.
        #expect(try holds(secrets.disk, key))
        let copies = try survivors(of: secrets.disk) { try secrets.store.resetEncryptedData(of: "anna") }
        #expect(copies.count > 15)
        for (index, copy) in copies.enumerated() {
            let isDone = index >= copies.count - SimulatedDisk.PowerLoss.allCases.count
            if isDone { #expect(try !holds(copy, key)) }
            let again = try SecretStore(copy, seed: 5)
            if let record = try? again.store.snapshot().record(again.id("a"), in: again.database, as: again.anna) {
                #expect(!isDone)
                #expect(try record.opened("pin") == .string("1234"))
            }
            try again.store.resetEncryptedData(of: "anna")
            #expect(try again.store.snapshot().zones(in: again.database, as: again.anna).count == 1)
            try again.store.close()
            #expect(try !holds(copy, key))
        }
        try secrets.store.close()
    }

    @Test("A key whose destruction was done and reported as failed seals nothing any more")
    func reportedFailure() throws {
        let secrets = try SecretStore()
        try secrets.makeZone()
        try secrets.saveSecret(secrets.id("a"), "1234")
        secrets.disk.fail(.rename, at: 1, with: .doneThenErrno(EIO), on: "keys")
        #expect(throws: StrataError.self) { try secrets.store.resetEncryptedData(of: "anna") }
        secrets.disk.heal()
        try secrets.makeZone()
        try secrets.saveSecret(secrets.id("b"), "next")
        #expect(try secrets.opened(secrets.id("b")) == .string("next"))
        try secrets.store.close()
        let again = try SecretStore(secrets.disk, seed: 9)
        #expect(try again.opened(again.id("b")) == .string("next"))
        try again.store.close()
    }

    private func holds(_ disk: SimulatedDisk, _ key: [UInt8]) throws -> Bool {
        for directory in ["", "/log", "/views"].map({ SecretStore.path + $0 }) where try disk.exists(directory) {
            for name in try disk.list(directory) {
                guard let bytes = try? disk.readAll("\(directory)/\(name)", atMost: 64 << 20), !bytes.isEmpty else {
                    continue
                }
                if Data(bytes).range(of: Data(key)) != nil { return true }
            }
        }
        return false
    }
}
