import Foundation
import ModelComparison
import StrataModel
import StrataReplication
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

@Suite("Keys in a directory that several processes share", .timeLimit(.minutes(2)))
struct SharedKeyTests {
    private let shared = SharedFiles()
    private static let secrets = ZoneID("Secrets")
    private static let keys = SharedFiles.directory + "/keys"

    private func file() -> SharedKeyFile { SharedKeyFile(in: SharedFiles.directory, shared.platform) }

    private func names(_ disk: SimulatedDisk) throws -> [String] { try disk.list(Self.keys).sorted() }

    @Test("A value that is sealed through one engine opens at the others, with one key for each user")
    func opened() throws {
        let stores = try shared.open(3)
        for (number, store) in stores.enumerated() {
            for user in ["anna", "berta"] {
                let value = try shared.seal("\(number)", for: "\(number)", in: store, user: user)
                try shared.save("\(number)", value, in: store, user: user)
            }
        }
        for store in stores + [try shared.open("late")] {
            for number in 0..<3 {
                for user in ["anna", "berta"] {
                    #expect(try shared.opened("\(number)", in: store, user: user) == .string("\(number)"))
                }
            }
            try store.close()
        }
        let book = try file().read()
        #expect(book.entries.map(\.user) == ["anna", "berta"])
        // The generation before the newest one is empty, and keeps its name.
        #expect(try names(shared.disk) == ["00000000000000000001", "00000000000000000002"])
        #expect(try shared.disk.readAll(Self.keys + "/00000000000000000001", atMost: 1_000) == [])
        for name in try names(shared.disk) { #expect(shared.disk.isPrivate(Self.keys + "/" + name) == true) }
        for name in ["0", "1", "2", "late"] { #expect(try !shared.disk.exists("/\(name).strata/keys")) }
    }

    @Test("Two engines that make a user's first key at once get the same one, whichever step the other comes before")
    func simultaneous() throws {
        var (call, isInterrupted) = (1, true)
        while isInterrupted {
            let shared = SharedFiles()
            let stores = try shared.open(2)
            var left: FieldValue?
            let right = Lock<FieldValue?>(nil)
            isInterrupted = try shared.interleave(call) {
                left = try shared.seal("left", for: "left", in: stores[0])
            } _: {
                let value = try? shared.seal("right", for: "right", in: stores[1])
                right.withLock { $0 = value }
            }
            try shared.save("left", #require(left), in: stores[0])
            if isInterrupted { try shared.save("right", #require(right.withLock { $0 }), in: stores[1]) }
            for store in stores {
                #expect(try shared.opened("left", in: store) == .string("left"), "\(call)")
                if isInterrupted { #expect(try shared.opened("right", in: store) == .string("right"), "\(call)") }
                try store.close()
            }
            #expect(try SharedKeyFile(in: SharedFiles.directory, shared.platform).read().entries.count == 1)
            call += 1
        }
        #expect(call > 8)
    }

    @Test("Many threads of three engines that need the keys of many users get one for each")
    func concurrent() throws {
        let stores = try shared.open(3)
        let failures = Lock<[String]>([])
        let threads = try (0..<6).map { thread in
            try WorkerThread(name: "sealer") { [shared] in
                for user in 0..<8 {
                    do {
                        let (store, name) = (stores[thread % 3], "\(thread)-\(user)")
                        let value = try shared.seal(name, for: name, in: store, user: "user-\(user)")
                        try shared.save(name, value, in: store, user: "user-\(user)")
                    } catch { failures.withLock { $0.append("\(error)") } }
                }
            }
        }
        for thread in threads { thread.join() }
        #expect(failures.withLock { $0 } == [])
        for store in stores {
            for thread in 0..<6 {
                for user in 0..<8 {
                    let name = "\(thread)-\(user)"
                    #expect(try shared.opened(name, in: store, user: "user-\(user)") == .string(name))
                }
            }
        }
        #expect(try Set(file().read().entries.map(\.user)).count == 8 && file().read().entries.count == 8)
        for store in stores { try store.close() }
    }

    @Test("A key that one engine destroyed opens and seals nothing at another, which had it in memory")
    func destroyed() throws {
        let stores = try shared.open(2)
        try shared.save("old", shared.seal("old", for: "old", in: stores[1]), in: stores[1])
        let early = try shared.seal("early", for: "early", in: stores[1])
        let key = try #require(try file().read().entries.first?.key)
        #expect(try holds(key, shared.disk))
        // There is no zone to delete, so nothing of it is in the log.
        let offset = stores[0].offset
        for store in stores { try store.confirm() }
        try stores[0].resetEncryptedData(of: "anna")
        #expect(stores[0].offset <= offset + 1)
        #expect(try !holds(key, shared.disk))
        #expect(thrownCode { _ = try shared.opened("old", in: stores[1]) } == .keyDestroyed)
        #expect(thrownCode { try shared.save("early", early, in: stores[1]) } == .keyDestroyed)
        let late = try shared.seal("late", for: "late", in: stores[1])
        guard case .sealed(let sealed) = late else { throw Divergence(description: "nothing was sealed") }
        #expect(sealed.keyID == 2)
        try shared.save("late", late, in: stores[1])
        for store in stores {
            #expect(try shared.opened("late", in: store) == .string("late"))
            try store.close()
        }
    }

    @Test("While one engine resets, another commits nothing with the old key, and seals with a new one")
    func resetting() throws {
        let stores = try shared.open(2)
        let early = try shared.seal("early", for: "early", in: stores[1])
        try stores[0].engine.keys.destroyKey(of: "anna") {
            #expect(thrownCode { try shared.save("early", early, in: stores[1]) } == .keyDestroyed)
            try shared.save("new", shared.seal("new", for: "new", in: stores[1]), in: stores[1])
        }
        for store in stores { #expect(try shared.opened("new", in: store) == .string("new")) }
        #expect(try file().read().entries.map { $0.key == nil } == [true, false])
        // After a reset that failed, the old key opens values, and the next reset destroys it.
        struct Failure: Error {}
        #expect(throws: Failure.self) { try stores[0].engine.keys.destroyKey(of: "anna") { throw Failure() } }
        #expect(try shared.opened("new", in: stores[1]) == .string("new"))
        #expect(try file().read().entries.map(\.isRetired) == [false, true])
        try shared.save("newer", shared.seal("newer", for: "newer", in: stores[1]), in: stores[1])
        try stores[1].resetEncryptedData(of: "anna")
        #expect(try file().read().entries.allSatisfy { $0.key == nil })
        for store in stores { try store.close() }
    }

    @Test("Whenever another engine saves during a reset: what it saves after the commit of the reset opens")
    func savedDuringReset() throws {
        var (call, isInterrupted, lateCount) = (1, true, 0)
        while isInterrupted {
            let shared = SharedFiles()
            let stores = try shared.open(2)
            _ = try stores[0].modify(.zones(saving: [Self.secrets]), as: AssetFixture.anna)
            let secret = try shared.seal("secret", for: "secret", in: stores[0], Self.secrets)
            try shared.save("secret", secret, in: stores[0], Self.secrets)
            let early = try shared.seal("card", for: "card", in: stores[1])
            let (isLate, failure) = (Lock(false), Lock<String?>(nil))
            isInterrupted = try shared.interleave(call) {
                try stores[0].resetEncryptedData(of: "anna")
            } _: {
                try? stores[1].confirm()
                let zones = try? stores[1].snapshot().zones(in: SharedFiles.database, as: AssetFixture.anna)
                let isReset = zones?.contains { $0.id == Self.secrets } == false
                isLate.withLock { $0 = isReset }
                // As a client does: what is refused is sealed again.
                do {
                    do { try shared.save("card", early, in: stores[1]) } catch let error as StrataError
                        where error.code == .keyDestroyed
                    {
                        try shared.save("card", shared.seal("card", for: "card", in: stores[1]), in: stores[1])
                    }
                } catch { if isReset { failure.withLock { $0 = "\(error)" } } }
            }
            #expect(failure.withLock { $0 } == nil, "\(call)")
            if isLate.withLock({ $0 }) {
                lateCount += 1
                for store in stores { #expect(try shared.opened("card", in: store) == .string("card"), "\(call)") }
            }
            for store in stores { try store.close() }
            call += 1
        }
        #expect(lateCount > 2 && call > lateCount + 2)
    }

    // MARK: Files

    @Test("A process that slept while others changed the keys several times does not change an old generation")
    func slept() throws {
        let (sleeper, other) = (file(), file())
        var book = try sleeper.read()
        _ = try other.read()
        try shared.disk.makeDirectory(SharedFiles.directory)
        _ = book.add([UInt8](repeating: 1, count: 32), of: "anna")
        #expect(try sleeper.replace(with: book))
        for number in 2...4 as ClosedRange<UInt8> {
            book = try other.read()
            _ = book.add([UInt8](repeating: number, count: 32), of: "user-\(number)")
            #expect(try other.replace(with: book))
            #expect(try !sleeper.isCurrent() && other.isCurrent())
        }
        #expect(try names(shared.disk) == ["00000000000000000003", "00000000000000000004"])
        var stale = KeyBook()
        _ = stale.add([UInt8](repeating: 9, count: 32), of: "anna")
        // The number 2 is free again.
        #expect(try !sleeper.replace(with: stale))
        #expect(try sleeper.read() == book && sleeper.isCurrent())
        _ = book.add([UInt8](repeating: 5, count: 32), of: "carla")
        #expect(try sleeper.replace(with: book))
        #expect(try names(shared.disk) == ["00000000000000000004", "00000000000000000005"])
        #expect(try other.read() == book)
    }

    @Test("The draft of a process that died is overwritten and removed after a day, by the next change too")
    func drafts() throws {
        try shared.disk.makeDirectory(SharedFiles.directory)
        let file = file()
        var book = try file.read()
        _ = book.add([UInt8](repeating: 1, count: 32), of: "anna")
        #expect(try file.replace(with: book))
        let (draft, linked) = (Self.keys + "/new-00", Self.keys + "/new-01")
        try AssetFixture.write([1, 2, 3], to: draft, on: shared.disk)
        // This process died after it had linked its draft.
        try shared.disk.hardLink(Self.keys + "/00000000000000000001", to: linked)
        let left = try shared.disk.open(draft, .read)
        shared.clock.advance(byMicroseconds: SharedFiles.day)
        try file.clean()
        #expect(try shared.disk.exists(draft) && shared.disk.exists(linked))
        shared.clock.advance(byMicroseconds: 1_000_000)
        try file.clean()
        #expect(try names(shared.disk) == ["00000000000000000001"])
        #expect(try left.read(count: 9, at: 0) == [0, 0, 0])
        #expect(try file.read() == book)
    }

    @Test("A damaged file is not replaced, and strange names are ignored")
    func damaged() throws {
        try shared.disk.makeDirectory(SharedFiles.directory)
        let ring = KeyRing(file(), SeededRandom(seed: 1))
        let place = SealedPlace(document: "a", of: "anna")
        let sealed = try ring.seal([1], at: place)
        try AssetFixture.write([1], to: Self.keys + "/99999999999999999999", on: shared.disk)
        try AssetFixture.write([1], to: Self.keys + "/7", on: shared.disk)
        let path = Self.keys + "/00000000000000000001"
        let whole = try shared.disk.readAll(path, atMost: 1_000)
        try AssetFixture.write(whole.dropLast() + [whole[whole.count - 1] ^ 1], to: path, on: shared.disk)
        let other = KeyRing(file(), SeededRandom(seed: 2))
        #expect(thrownCode { _ = try other.open(sealed, at: place) } == .badChecksum)
        #expect(thrownCode { _ = try other.seal([2], at: SealedPlace(document: "b", of: "berta")) } == .badChecksum)
        try AssetFixture.write(whole, to: path, on: shared.disk)
        #expect(try other.open(sealed, at: place) == [1])
    }

    @Test("Power lost at any step of making and destroying a key: what was sealed opens, what was destroyed is gone")
    func powerLoss() throws {
        try shared.disk.makeDirectory(SharedFiles.directory)
        let ring = KeyRing(file(), SystemRandom())
        let place = SealedPlace(document: "a", of: "anna")
        var sealed: FieldValue.Sealed?
        let making = try shared.survivors { sealed = try ring.seal([1], at: place) }
        let key = try #require(try file().read().entries.first?.key)
        let destroying = try shared.survivors { try ring.destroyKey(of: "anna") {} }
        #expect(making.count > 15 && destroying.count > 15)
        let last = SimulatedDisk.PowerLoss.allCases.count
        for (index, disk) in making.enumerated() {
            let again = KeyRing(SharedKeyFile(in: SharedFiles.directory, Platform(files: disk)), SystemRandom())
            if index >= making.count - last { #expect(try again.open(#require(sealed), at: place) == [1]) }
            let next = try again.seal([2], at: place)
            #expect(try again.open(next, at: place) == [2])
        }
        for (index, disk) in destroying.enumerated() {
            let again = KeyRing(SharedKeyFile(in: SharedFiles.directory, Platform(files: disk)), SystemRandom())
            if index >= destroying.count - last { #expect(try !holds(key, disk)) }
            try again.destroyKey(of: "anna") {}
            #expect(thrownCode { _ = try again.open(#require(sealed), at: place) } == .keyDestroyed)
            // A draft stays for a day.
            for name in try disk.list(Self.keys) where name.hasPrefix("new-") {
                try disk.remove(Self.keys + "/" + name)
            }
            #expect(try !holds(key, disk))
        }
    }

    private func holds(_ key: [UInt8], _ disk: SimulatedDisk) throws -> Bool {
        try disk.list(Self.keys).contains { name in
            let bytes = try disk.readAll("\(Self.keys)/\(name)", atMost: 1 << 20)
            return Data(bytes).range(of: Data(key)) != nil
        }
    }
}
