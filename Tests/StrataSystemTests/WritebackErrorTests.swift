import Glibc
import StrataModel
import TestSupport
import Testing

@testable import StrataSystem

@Suite("A write-back that failed")
struct WritebackErrorTests {
    private let directory: TestDirectory
    private let file: RealFile

    init() throws {
        directory = try TestDirectory()
        let opened = try RealFileSystem().open("\(directory.path)/a", .create)
        file = try #require(opened as? RealFile)
        try file.write([1, 2, 3], at: 0)
    }

    @Test("The next sync fails, because the system tells of the error only once", arguments: [EIO, ENOSPC, EDQUOT])
    func syncFails(error: Int32) throws {
        file.noteWriteback(error: error)
        #expect(throws: StrataError.self) { try file.sync() }
        try file.sync()
    }

    @Test("A system without the call has lost nothing", arguments: [ENOSYS, ESPIPE, EINVAL])
    func noCall(error: Int32) throws {
        file.noteWriteback(error: error)
        try file.sync()
    }
}
