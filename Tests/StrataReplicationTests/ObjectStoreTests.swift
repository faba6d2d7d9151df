import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataReplication

@Suite("Objects in the messages of servers", .timeLimit(.minutes(3)))
struct ObjectStoreTests {
    private static let pieceBytes = 1_024
    private let messages = MemoryKeeper(maximumMessageBytes: pieceBytes + WholeObject.headerBytes)
    private let random = SeededRandom(seed: 1)

    private var store: ObjectStore { ObjectStore(messages, random, outcomeMilliseconds: 50) }

    private func hostile(_ faults: HostileKeeper.FaultProfile, seed: UInt64 = 1) -> ObjectStore {
        ObjectStore(HostileKeeper(messages, faults, seed: seed), random, outcomeMilliseconds: 5_000)
    }

    @Test("The contract over memory, over a hostile keeper, and by several processes at once", arguments: seeds(8))
    func contract(_ seed: UInt64) throws {
        let plain = MemoryKeeper(maximumMessageBytes: Self.pieceBytes + WholeObject.headerBytes)
        try ObjectContract { plain }.run(seed: seed, pieceBytes: Self.pieceBytes)
        let random = SeededRandom(seed: seed)
        let hostile = { HostileKeeper(messages, .everything, seed: random.next()) }
        try ObjectContract(hostile).run(seed: seed + 1_000, pieceBytes: Self.pieceBytes)
        try ObjectContract(hostile).race(seed: seed, byteCount: Self.pieceBytes * 9 / 2)
        try ObjectContract(hostile).race(seed: seed, byteCount: 100)
    }

    @Test("Canary: a keeper that acknowledges what it does not keep breaks the contract")
    func canary() throws {
        var faults = HostileKeeper.FaultProfile()
        faults.lies = 700
        let caught = seeds(8).filter { seed in
            let messages = MemoryKeeper(maximumMessageBytes: Self.pieceBytes + WholeObject.headerBytes)
            let contract = ObjectContract { HostileKeeper(messages, faults, seed: seed) }
            return (try? contract.run(seed: seed, pieceBytes: Self.pieceBytes)) == nil
        }
        #expect(caught == seeds(8))
    }

    @Test("An upload that is cut off after any message is no object, and a later one makes it whole")
    func cutOff() throws {
        let bytes = random.nextBytes(count: 4 * Self.pieceBytes + 10)
        let (hash, file) = try ObjectContract.file(bytes)
        for count in 1...5 {
            var faults = HostileKeeper.FaultProfile()
            faults.lastCall = count
            let cut = hostile(faults)
            #expect(failureCode { try cut.put(hash, file, byteCount: bytes.count) } == .inputOutput)
            #expect(try !store.contains(hash) && store.list().isEmpty)
            #expect(failureCode { try store.fetch(hash) { _, _ in } } == .notFound)
            #expect(messages.names("*.*.*").count == count - 1)
            try store.put(hash, file, byteCount: bytes.count)
            #expect(try ObjectContract.fetch(hash, from: store) == bytes)
            #expect(try store.removeLeftovers() == (count == 1 ? 0 : 1))
            #expect(try ObjectContract.fetch(hash, from: store) == bytes && messages.names("*.*.*").count == 4)
            try store.remove(hash)
            #expect(messages.names("*.*.*").isEmpty && messages.names("*.whole").isEmpty)
        }
    }

    @Test("Lost and changed messages are noticed, and the next upload takes their place")
    func damage() throws {
        let bytes = random.nextBytes(count: 2 * Self.pieceBytes + 10)
        let (hash, file) = try ObjectContract.file(bytes)
        try store.put(hash, file, byteCount: bytes.count)
        for index in 0..<3 {
            for isLost in [true, false] {
                let name = try #require(
                    (messages.names("*.*.*") + messages.names("*.whole")).sorted().dropFirst(index).first)
                messages.tamper { kept in
                    var bytes = kept[name]?.bytes ?? []
                    bytes[bytes.count / 2] ^= 1
                    kept[name] = isLost ? nil : KeptMessage(number: kept[name]?.number ?? 0, bytes: bytes)
                }
                let code = failureCode { try store.fetch(hash) { _, _ in } }
                #expect(code == (isLost ? .notFound : .badChecksum))
                #expect(try !store.contains(hash))
                try store.put(hash, file, byteCount: bytes.count)
                #expect(try ObjectContract.fetch(hash, from: store) == bytes)
                _ = try store.removeLeftovers()
                #expect(messages.names("*.*.*").count == 2)
            }
        }
    }

    @Test("A file that has other bytes than its hash says becomes no object")
    func otherBytes() throws {
        let (_, file) = try ObjectContract.file(random.nextBytes(count: 3_000))
        let hash = try ObjectContract.hash([1])
        #expect(failureCode { try store.put(hash, file, byteCount: 3_000) } == .badChecksum)
        #expect(try store.list().isEmpty)
    }

    @Test("Another store's objects are refused, whoever comes first")
    func owners() throws {
        let ids = (0..<2).map { _ in random.nextIdentifier() }
        #expect(try !store.belongs(to: ids[0]))
        try hostile(.everything, seed: 3).claim(for: ids[0])
        try store.claim(for: ids[0])
        #expect(try store.belongs(to: ids[0]) && !store.belongs(to: ids[1]))
        #expect(failureCode { try store.claim(for: ids[1]) } == .invalidArgument)
    }

    @Test("Servers that do not confirm in time are an error, and the object is there or not")
    func silence() throws {
        var faults = HostileKeeper.FaultProfile()
        faults.lostAnswers = 1_000
        let deaf = ObjectStore(HostileKeeper(messages, faults, seed: 1), random, outcomeMilliseconds: 50)
        let bytes = random.nextBytes(count: 2 * Self.pieceBytes)
        let (hash, file) = try ObjectContract.file(bytes)
        #expect(failureCode { try deaf.put(hash, file, byteCount: bytes.count) } == .unreachable)
        #expect(try !store.contains(hash))
        // A whole that is found needs no answer.
        let short = try ObjectContract.file([1, 2, 3])
        try deaf.put(short.hash, short.file, byteCount: 3)
        #expect(try ObjectContract.fetch(short.hash, from: store) == [1, 2, 3])
    }

    @Test("Every changed bit of a whole's header, and every other length, is noticed")
    func header() throws {
        let bytes = random.nextBytes(count: 20)
        let hash = try ObjectContract.put(bytes, in: store)
        let whole = try #require(messages.message("\(hash).whole"))
        let header = try WholeObject(decoding: whole.bytes)
        #expect(header.hash == hash && header.byteCount == 20 && header.lastBytes == bytes && header.pieceCount == 0)
        for bit in 0..<8 * WholeObject.headerBytes {
            var changed = whole.bytes
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(failureCode { _ = try WholeObject(decoding: changed) } == .badChecksum)
        }
        for count in 0..<whole.bytes.count {
            #expect(throws: StrataError.self) { try WholeObject(decoding: Array(whole.bytes.prefix(count))) }
        }
        #expect(throws: StrataError.self) { try WholeObject(decoding: whole.bytes + [0]) }
    }
}
