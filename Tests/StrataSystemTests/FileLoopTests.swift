import Glibc
import StrataModel
import StrataSystem
import TestSupport
import Testing

@Suite("Reading and writing all, over calls that do less")
struct FileLoopTests {
    private let disk = SimulatedDisk()
    private let file: any File

    init() throws { file = try disk.open("/a", .create) }

    @Test("A short write is continued where it stopped")
    func shortWrites() throws {
        disk.fail(.write, at: 1, with: .shortWrite(3))
        disk.fail(.write, at: 2, with: .shortWrite(1))
        try file.write(Array(0..<10), at: 5)
        #expect(try disk.content(of: "/a") == [0, 0, 0, 0, 0] + Array(0..<10))
        #expect(disk.count(of: .write) == 3)
    }

    @Test("A short read is continued where it stopped, and the end of the file ends it")
    func shortReads() throws {
        try file.write(Array(0..<10), at: 0)
        disk.fail(.read, from: 1, with: .shortRead(3))
        #expect(try file.read(count: 8, at: 1) == Array(1..<9))
        #expect(try file.read(count: 100, at: 1) == Array(1..<10))
    }

    @Test("An interrupted call is made again")
    func interruptions() throws {
        disk.fail(.write, at: 1, with: .interrupted)
        disk.fail(.write, at: 2, with: .interrupted)
        try file.write([1, 2], at: 0)
        disk.fail(.read, at: 1, with: .interrupted)
        #expect(try file.read(count: 2, at: 0) == [1, 2])
        disk.fail(.syncData, at: 1, with: .interrupted)
        try file.sync()
        #expect(try disk.afterPowerLoss(seed: 1, keeping: .everything).content(of: "/a") == [1, 2])
        #expect(disk.count(of: .write) == 3 && disk.count(of: .read) == 2 && disk.count(of: .syncData) == 2)
    }

    @Test("Any other error ends it at once, also in the midst of a write")
    func errors() throws {
        disk.fail(.write, at: 1, with: .shortWrite(4))
        disk.fail(.write, at: 2, with: .errno(ENOSPC))
        #expect(thrownCode { try file.write(Array(0..<10), at: 0) } == .noSpace)
        #expect(disk.count(of: .write) == 2)
        #expect(try disk.content(of: "/a") == [0, 1, 2, 3])
        disk.fail(.read, at: 1, with: .errno(EIO))
        #expect(thrownCode { _ = try file.read(count: 4, at: 0) } == .inputOutput)
        disk.fail(.syncData, at: 1, with: .errno(EIO))
        #expect(thrownCode { try file.sync() } == .inputOutput)
    }

    @Test("A write that makes no progress is an error that names the place, not a loop without end")
    func noProgress() throws {
        disk.fail(.write, at: 1, with: .shortWrite(4))
        disk.fail(.write, from: 2, with: .shortWrite(0))
        let error = #expect(throws: StrataError.self) { try file.write(Array(0..<10), at: 100) }
        #expect(error?.code == .inputOutput)
        #expect(error?.context.position == 104)
        #expect(error?.context.expected == "6 bytes")
        #expect(error?.context.path == "/a")
    }

    @Test("Nothing to write or read makes no call")
    func nothing() throws {
        try file.write([], at: 0)
        #expect(try file.read(count: 0, at: 0).isEmpty)
        #expect(disk.count(of: .write) == 0 && disk.count(of: .read) == 0)
    }

    @Test("On a disk that stutters everything still arrives", arguments: seeds(20))
    func stutter(seed: UInt64) throws {
        disk.stutter(seed: seed)
        var generator = SeededGenerator(seed: seed)
        let bytes = generator.nextBytes(2_000)
        try file.write(bytes, at: 0)
        try file.sync()
        #expect(try file.read(count: 3_000, at: 0) == bytes)
        try disk.replace("/b", in: "/", with: bytes)
        #expect(try disk.content(of: "/b") == bytes)
    }

    @Test(
        "Replacing keeps the old content when any of its calls fails",
        arguments: [
            SimulatedDisk.CallKind.exists, .create, .write, .syncData, .rename,
        ])
    func replaceFails(kind: SimulatedDisk.CallKind) throws {
        disk.setContent([1], of: "/b")
        disk.fail(kind, at: 1, with: .errno(EIO))
        #expect(thrownCode { try disk.replace("/b", in: "/", with: [2]) } == .inputOutput)
        #expect(try disk.content(of: "/b") == [1])
        try disk.replace("/b", in: "/", with: [2])
        #expect(try disk.content(of: "/b") == [2])
    }

    @Test(
        "What the kernel's numbers mean",
        arguments: [
            (ENOENT, StrataError.Code.notFound), (ENOTDIR, .notFound), (EEXIST, .alreadyExists),
            (EACCES, .permissionDenied), (EPERM, .permissionDenied), (EROFS, .readOnlyMedium), (ENOSPC, .noSpace),
            (EDQUOT, .noSpace), (EFBIG, .noSpace), (EINTR, .interrupted), (EIO, .inputOutput), (EISDIR, .inputOutput),
            (EMFILE, .inputOutput),
        ])
    func errorNumbers(number: Int32, code: StrataError.Code) {
        let error = StrataError.systemCall("pwrite", path: "/a", errno: number)
        #expect(error.code == code)
        #expect(error.context.errno == number)
        #expect(error.context.path == "/a")
        #expect(error.context.found == "pwrite: \(String(cString: strerror(number)))")
    }
}
