import StrataModel
import StrataSystem
import TestSupport
import Testing

@Suite("File systems, the real and the simulated one: files that grow in memory, and locks of bytes")
struct GrowingMapContractTests {
    typealias Kind = FileSystemFixture.Kind

    @Test("A map grows with its file and never moves", arguments: Kind.allCases)
    func grows(kind: Kind) throws {
        let file = try FileSystemFixture(kind).makeFile("a", [UInt8](repeating: 1, count: 4_096))
        let map = try file.mapGrowing(reserving: 1 << 24)
        let base = map.base
        #expect(map.byteCount == 0)
        try map.extend(to: 4_096)
        #expect(base.load(as: UInt8.self) == 1)
        #expect(thrownCode { try map.extend(to: 8_192) } == .outOfRange)
        try file.allocate(4_096..<1 << 20)
        try map.extend(to: 1 << 20)
        try map.extend(to: 4_096)
        #expect(map.byteCount == 1 << 20 && map.base == base)
        #expect(base.load(fromByteOffset: 500_000, as: UInt8.self) == 0)
        try file.write([7], at: 500_000)
        try file.write([8], at: 3)
        #expect(base.load(fromByteOffset: 500_000, as: UInt8.self) == 7)
        #expect(base.load(fromByteOffset: 3, as: UInt8.self) == 8)
        map.release()
        #expect(base.load(fromByteOffset: 500_000, as: UInt8.self) == 7, "it comes back")
        try file.write([9], at: 3)
        #expect(base.load(fromByteOffset: 3, as: UInt8.self) == 9 && map.byteCount == 1 << 20)
    }

    @Test("A map outlives its file's name and closing", arguments: Kind.allCases)
    func outlives(kind: Kind) throws {
        let fixture = try FileSystemFixture(kind)
        let file = try fixture.makeFile("a", [UInt8](repeating: 1, count: 4_096))
        let map = try file.mapGrowing(reserving: 1 << 20)
        try map.extend(to: 4_096)
        try fixture.files.remove(fixture.path("a"))
        file.close()
        #expect(map.base.load(fromByteOffset: 4_095, as: UInt8.self) == 1)
    }

    @Test("What is missing of a file that is cut short reads as zeros, and the map says so")
    func cutShort() throws {
        let file = try FileSystemFixture(.real).makeFile("a", [UInt8](repeating: 1, count: 3 * 4_096))
        let map = try file.mapGrowing(reserving: 1 << 24)
        try map.extend(to: 3 * 4_096)
        let guarded = try #require(map.guarded)
        #expect(map.base.load(fromByteOffset: 2 * 4_096, as: UInt8.self) == 1 && guarded.missingByte == nil)
        try file.truncate(to: 4_096)
        #expect(map.base.load(fromByteOffset: 4_095, as: UInt8.self) == 1 && guarded.missingByte == nil)
        #expect(map.base.load(fromByteOffset: 2 * 4_096 + 9, as: UInt8.self) == 0)
        #expect(guarded.missingByte == 2 * 4_096)
        #expect(map.base.load(fromByteOffset: 4_096, as: UInt8.self) == 0 && guarded.missingByte == 2 * 4_096)
    }

    @Test("A part of a file in place of reserved memory is written through it", arguments: Kind.allCases)
    func over(kind: Kind) throws {
        let file = try FileSystemFixture(kind).makeFile("a")
        let memory = try ReservedMemory(byteCount: 1 << 20)
        #expect(thrownCode { try file.map(0..<8_192, over: memory.base + 4_096) } == .outOfRange)
        try file.allocate(0..<8_192)
        try file.map(0..<8_192, over: memory.base + 4_096)
        memory.base.storeBytes(of: 5, toByteOffset: 4_096 + 8_191, as: UInt8.self)
        #expect(memory.base.load(fromByteOffset: 4_096 + 8_191, as: UInt8.self) == 5)
        #expect(memory.base.load(fromByteOffset: 0, as: UInt8.self) == 0)
    }

    @Test("A byte's lock is one opening's alone until it is let go or the file closed", arguments: Kind.allCases)
    func byteLocks(kind: Kind) throws {
        let fixture = try FileSystemFixture(kind)
        let first = try fixture.makeFile("readers")
        let second = try fixture.files.open(fixture.path("readers"), .write)
        #expect(try first.tryLock(byte: 16))
        #expect(try first.tryLock(byte: 16), "taking it again is fine")
        #expect(try !second.tryLock(byte: 16))
        #expect(try second.tryLock(byte: 17))
        #expect(try second.isLockedElsewhere(byte: 16) && !second.isLockedElsewhere(byte: 17))
        #expect(try !first.isLockedElsewhere(byte: 16) && first.isLockedElsewhere(byte: 17))
        #expect(try !first.isLockedElsewhere(byte: 18))
        try first.unlock(byte: 16)
        #expect(try !second.isLockedElsewhere(byte: 16))
        #expect(try second.tryLock(byte: 16))
        second.close()
        #expect(try first.tryLock(byte: 16) && first.tryLock(byte: 17))
    }
}
