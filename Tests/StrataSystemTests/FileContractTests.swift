import Foundation
import StrataModel
import StrataSystem
import TestSupport
import Testing

@Suite("File systems, the real and the simulated one: files")
struct FileContractTests {
    typealias Kind = FileSystemFixture.Kind

    @Test("Reading ends where the file ends", arguments: Kind.allCases)
    func readPastEnd(kind: Kind) throws {
        let file = try FileSystemFixture(kind).makeFile("a", [1, 2, 3, 4])
        #expect(try file.read(count: 3, at: 0) == [1, 2, 3])
        #expect(try file.read(count: 3, at: 2) == [3, 4])
        #expect(try file.read(count: 3, at: 4).isEmpty)
        #expect(try file.read(count: 3, at: 5_000).isEmpty)
        #expect(try file.read(count: 0, at: 0).isEmpty)
    }

    @Test("Writing extends the file, with zeros in the gap", arguments: Kind.allCases)
    func writeExtends(kind: Kind) throws {
        let fixture = try FileSystemFixture(kind)
        let file = try fixture.makeFile("a", [7])
        try file.write([8, 9], at: 1_500)
        #expect(try file.size() == 1_502)
        #expect(try fixture.content("a") == [7] + [UInt8](repeating: 0, count: 1_499) + [8, 9])
        try file.write([], at: 9_000)
        #expect(try file.size() == 1_502)
    }

    @Test("What one opening writes, another one sees", arguments: Kind.allCases)
    func sharing(kind: Kind) throws {
        let fixture = try FileSystemFixture(kind)
        let writer = try fixture.makeFile("a", [1, 1, 1])
        let reader = try fixture.files.open(fixture.path("a"), .read)
        try writer.write([2], at: 1)
        #expect(try reader.read(count: 9, at: 0) == [1, 2, 1])
    }

    @Test("A file cut short and grown again has zeros there", arguments: Kind.allCases)
    func truncate(kind: Kind) throws {
        let file = try FileSystemFixture(kind).makeFile("a", [UInt8](repeating: 0xAA, count: 3_000))
        try file.truncate(to: 700)
        #expect(try file.size() == 700)
        try file.truncate(to: 3_000)
        let rest = try file.read(count: 9_000, at: 0)
        #expect(rest == [UInt8](repeating: 0xAA, count: 700) + [UInt8](repeating: 0, count: 2_300))
        #expect(thrownCode { try file.truncate(to: -1) } == .inputOutput)
    }

    @Test("Allocating extends with zeros, keeps what is there and never cuts", arguments: Kind.allCases)
    func allocate(kind: Kind) throws {
        let file = try FileSystemFixture(kind).makeFile("a", [1, 2, 3])
        try file.allocate(0..<5_000)
        #expect(try file.size() == 5_000)
        #expect(try file.read(count: 9_000, at: 0) == [1, 2, 3] + [UInt8](repeating: 0, count: 4_997))
        try file.allocate(0..<100)
        #expect(try file.size() == 5_000)
        #expect(thrownCode { try file.allocate(10..<10) } == .inputOutput)
    }

    @Test("A file that is open for reading cannot be changed", arguments: Kind.allCases)
    func readOnlyFiles(kind: Kind) throws {
        let fixture = try FileSystemFixture(kind)
        try fixture.makeFile("a", [1, 2])
        let file = try fixture.files.open(fixture.path("a"), .read)
        #expect(thrownCode { try file.write([3], at: 0) } == .inputOutput)
        #expect(thrownCode { try file.truncate(to: 0) } == .inputOutput)
        #expect(thrownCode { try file.allocate(0..<100) } == .inputOutput)
        try file.sync()
        #expect(try fixture.content("a") == [1, 2])
    }

    @Test("Touching a file gives it a later time and leaves its bytes, also through a reader", arguments: Kind.allCases)
    func touching(kind: Kind) throws {
        let fixture = try FileSystemFixture(kind)
        try fixture.makeFile("a", [1, 2])
        let file = try fixture.files.open(fixture.path("a"), .read)
        let before = try file.status()
        #expect(eventually { (try? file.touch()) != nil && (try? file.status().modified) ?? 0 > before.modified })
        #expect(try file.status().identity == before.identity && fixture.content("a") == [1, 2])
    }

    @Test("A file is older than some seconds from the next second on")
    func ages() {
        let status = FileStatus(
            identity: FileIdentity(device: 1, inode: 1), size: 0, modified: 5_000_000_000)
        #expect(!status.isOlder(than: 10, at: ManualTime(microseconds: 15_999_999)))
        #expect(status.isOlder(than: 10, at: ManualTime(microseconds: 16_000_000)))
        #expect(!status.isOlder(than: 10, at: ManualTime(microseconds: 0)))
    }

    @Test("Of two processes that create a file as a whole one does, and no draft is left", arguments: Kind.allCases)
    func creating(kind: Kind) throws {
        let fixture = try FileSystemFixture(kind)
        let (files, directory) = (fixture.files, fixture.directory)
        func create(_ bytes: [UInt8], _ draft: String) throws -> Bool {
            try files.create(
                fixture.path("a"), in: directory, with: bytes, draft: fixture.path(draft), isPrivate: true)
        }
        #expect(try create([1, 2], "b"))
        #expect(try !create([3], "c"))
        #expect(try fixture.content("a") == [1, 2] && files.list(directory) == ["a"])
    }

    @Test("The lock is one opening's alone until that is closed", arguments: Kind.allCases)
    func locks(kind: Kind) throws {
        let fixture = try FileSystemFixture(kind)
        let first = try fixture.makeFile("LOCK")
        let second = try fixture.files.open(fixture.path("LOCK"), .write)
        #expect(try first.tryLock())
        #expect(try first.tryLock(), "taking it again is fine")
        #expect(try !second.tryLock())
        first.close()
        #expect(try second.tryLock())
    }

    @Test("An opening that nobody holds any more lets its lock go", arguments: Kind.allCases)
    func lockOfLostFile(kind: Kind) throws {
        let fixture = try FileSystemFixture(kind)
        #expect(try fixture.makeFile("LOCK").tryLock())
        #expect(try fixture.files.open(fixture.path("LOCK"), .read).tryLock())
    }

    @Test("Closing releases the lock though a child that is just starting has the descriptor too")
    func lockSharedWithChild() throws {
        let fixture = try FileSystemFixture(.real)
        let file = try fixture.makeFile("LOCK")
        #expect(try file.tryLock())
        let copies = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { name in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
            return target == fixture.path("LOCK") ? Int32(name).map { dup($0) } : nil
        }
        defer { for copy in copies { close(copy) } }
        #expect(!copies.isEmpty)
        file.close()
        #expect(try fixture.files.open(fixture.path("LOCK"), .write).tryLock())
    }

    @Test("The lock belongs to the file, not to its name", arguments: Kind.allCases)
    func lockOfReplacedFile(kind: Kind) throws {
        let fixture = try FileSystemFixture(kind)
        let first = try fixture.makeFile("LOCK")
        #expect(try first.tryLock())
        try fixture.files.remove(fixture.path("LOCK"))
        #expect(try fixture.makeFile("LOCK").tryLock())
    }

    @Test("A mapping shows later writes, through any opening", arguments: Kind.allCases)
    func mapping(kind: Kind) throws {
        let fixture = try FileSystemFixture(kind)
        let file = try fixture.makeFile("a", [1, 2, 3, 4])
        try file.allocate(0..<1 << 20)
        let memory = try file.map(length: 1 << 20)
        #expect(memory.bytes.count == 1 << 20)
        #expect(Array(memory.bytes[0..<5]) == [1, 2, 3, 4, 0])
        try fixture.files.open(fixture.path("a"), .write).write([9, 9], at: 1 << 19)
        try file.write([8], at: 0)
        try file.truncate(to: 4 << 20)
        #expect(Array(memory.bytes[0..<2]) == [8, 2])
        #expect(Array(memory.bytes[(1 << 19)..<(1 << 19) + 3]) == [9, 9, 0])
    }

    @Test("A mapping outlives the closed, removed file", arguments: Kind.allCases)
    func mappingOfRemovedFile(kind: Kind) throws {
        let fixture = try FileSystemFixture(kind)
        let file = try fixture.makeFile("a", [1, 2, 3, 4])
        let memory = try file.map(length: 4)
        file.close()
        try fixture.files.remove(fixture.path("a"))
        #expect(Array(memory.bytes) == [1, 2, 3, 4])
    }

    @Test("What is missing of a file that is cut short reads as zeros, and the mapping says so")
    func mappingCutShort() throws {
        let file = try FileSystemFixture(.real).makeFile("a", [UInt8](repeating: 1, count: 3 * 4_096))
        let memory = try file.map(length: 3 * 4_096)
        let guarded = try #require(memory.guarded)
        #expect(memory.bytes[2 * 4_096] == 1 && guarded.missingByte == nil)
        try file.truncate(to: 4_096)
        #expect(memory.bytes[4_095] == 1 && guarded.missingByte == nil)
        #expect(memory.bytes[2 * 4_096 + 9] == 0 && guarded.missingByte == 2 * 4_096)
        #expect(memory.bytes[4_096] == 0 && guarded.missingByte == 2 * 4_096)
    }

    @Test("Only bytes that are there can be mapped", arguments: Kind.allCases)
    func mappingTooMuch(kind: Kind) throws {
        let file = try FileSystemFixture(kind).makeFile("a", [1, 2, 3, 4])
        for length in [-1, 0, 5] {
            let error = #expect(throws: StrataError.self) { try file.map(length: length) }
            #expect(error?.code == .outOfRange)
            #expect(error?.context.expected == "1 to 4 bytes")
            #expect(error?.context.found == "\(length)")
        }
    }

    @Test("A closed file answers every call with an error, and may be closed again", arguments: Kind.allCases)
    func closed(kind: Kind) throws {
        let fixture = try FileSystemFixture(kind)
        let file = try fixture.makeFile("a", [1, 2])
        file.close()
        file.close()
        #expect(thrownCode { _ = try file.size() } == .inputOutput)
        #expect(thrownCode { _ = try file.read(count: 1, at: 0) } == .inputOutput)
        #expect(thrownCode { try file.write([1], at: 0) } == .inputOutput)
        #expect(thrownCode { try file.sync() } == .inputOutput)
        #expect(thrownCode { try file.truncate(to: 1) } == .inputOutput)
        #expect(thrownCode { try file.allocate(0..<1) } == .inputOutput)
        #expect(thrownCode { _ = try file.map(length: 1) } == .inputOutput)
        #expect(thrownCode { _ = try file.tryLock() } == .inputOutput)
        file.finishWriteback(0..<1)
    }

    @Test("Closing twice does not close a file that was opened in between", arguments: Kind.allCases)
    func doubleClose(kind: Kind) throws {
        let fixture = try FileSystemFixture(kind)
        // The operating system gives the lowest free number, so one of these gets that of the closed file.
        let first = try fixture.makeFile("first")
        first.close()
        let others = try (0..<8).map { try fixture.makeFile("\($0)") }
        first.close()
        for file in others { try file.write([1], at: 0) }
        #expect(try others.allSatisfy { try $0.size() == 1 })
    }
}
