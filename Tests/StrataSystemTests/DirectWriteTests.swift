import Glibc
import StrataSystem
import TestSupport
import Testing

/// Where the temporary directory takes no direct writes, or is in memory, there is nothing to compare.
@Suite("Writes past the system's cache")
struct DirectWriteTests {
    private static let pageCount = 64
    private static let byteCount = pageCount * DirectWrites.alignment

    private let directory: TestDirectory
    private let file: any File

    init() throws {
        directory = try TestDirectory()
        file = try RealFileSystem().open(directory.path("a"), .create)
    }

    /// Calls `body` with aligned bytes, and one more.
    private func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        let bytes = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Self.byteCount + 1, alignment: DirectWrites.alignment)
        defer { bytes.deallocate() }
        for place in bytes.indices { bytes[place] = UInt8(place / DirectWrites.alignment) }
        return try body(UnsafeRawBufferPointer(bytes))
    }

    private func writeAll() throws -> Bool {
        try withBytes { try file.writeDirectly(UnsafeRawBufferPointer(rebasing: $0[..<Self.byteCount]), at: 0) }
    }

    /// The number of pages of a map that are in memory.
    private func residents(_ map: any MappedMemory) throws -> Int {
        var pages = [UInt8](repeating: 0, count: Self.byteCount / Int(getpagesize()))
        let start = UnsafeMutableRawPointer(mutating: map.bytes.baseAddress)
        try #require(mincore(start, Self.byteCount, &pages) == 0)
        return pages.count { $0 & 1 != 0 }
    }

    @Test("Who maps a file that it wrote directly has all of it in memory; others see the bytes when they read them")
    func readIn() throws {
        guard try writeAll() else { return }
        let other = try RealFileSystem().open(directory.path("a"), .read).map(length: Self.byteCount)
        let all = Self.byteCount / Int(getpagesize())
        guard try residents(other) < all else { return }
        let map = try file.map(length: Self.byteCount)
        #expect(try residents(map) == all)
        let areSame = withBytes { bytes in [map, other].map { $0.bytes.elementsEqual(bytes.dropLast()) } }
        #expect(areSame == [true, true])
    }

    @Test("Of what is not aligned nothing is written directly", arguments: [(1, 0), (0, 1), (0, 512)])
    func unaligned(start: Int, position: Int) throws {
        let isWritten = try withBytes { bytes in
            let part = UnsafeRawBufferPointer(rebasing: bytes[start..<start + DirectWrites.alignment])
            return try file.writeDirectly(part, at: position)
        }
        #expect(try !isWritten && file.size() == 0)
    }

    @Test("A direct write replaces what is there, and the cache does not have the old bytes")
    func replaced() throws {
        try file.write([UInt8](repeating: 0xEE, count: Self.byteCount), at: 0)
        let map = try file.map(length: Self.byteCount)
        #expect(map.bytes.allSatisfy { $0 == 0xEE })
        guard try writeAll() else { return }
        let read = try file.read(count: Self.byteCount, at: 0)
        let areSame = withBytes { [map.bytes.elementsEqual($0.dropLast()), read.elementsEqual($0.dropLast())] }
        #expect(areSame == [true, true])
    }
}
