import Glibc
import StrataSystem
import Testing

@Suite("Reserved memory")
struct ReservedMemoryTests {
    private static let hugePageBytes = 2 << 20

    @Test("A byte in the first huge page of a large range takes one small page")
    func firstHugePage() throws {
        let memory = try ReservedMemory(byteCount: 64 << 20)
        let mask = UInt(Self.hugePageBytes - 1)
        // Huge pages begin at multiples of their size, wherever the range begins.
        let first = Int((0 &- UInt(bitPattern: memory.base)) & mask)
        memory.base.storeBytes(of: 1, toByteOffset: first, as: UInt8.self)
        var residents = [UInt8](repeating: 0, count: 2 * Self.hugePageBytes / Int(sysconf(Int32(_SC_PAGESIZE))))
        try #require(mincore(memory.base, 2 * Self.hugePageBytes, &residents) == 0)
        #expect(residents.count { $0 & 1 == 1 } == 1)
    }
}
