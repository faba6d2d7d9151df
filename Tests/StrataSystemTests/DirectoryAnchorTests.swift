import Glibc
import StrataModel
import StrataSystem
import TestSupport
import Testing

@Suite("Files that are anchored at a directory")
struct DirectoryAnchorTests {
    private let directory: TestDirectory
    private let path: String
    private let files: any FileSystem

    init() throws {
        directory = try TestDirectory()
        path = directory.path("Anchored")
        try RealFileSystem().makeDirectory(path)
        try RealFileSystem().makeDirectory(path + "/log")
        files = try RealFileSystem().anchored(at: path)
    }

    @Test("They are found where the directory was moved to, and never in what takes its place")
    func moved() throws {
        let away = directory.path("Away")
        try files.checkAnchor()
        try RealFileSystem().rename(path, to: away)
        #expect(thrownCode { try files.checkAnchor() } == .directoryGone)
        try RealFileSystem().makeDirectory(path)
        #expect(thrownCode { try files.checkAnchor() } == .directoryGone)
        try files.open(path + "/log/a.new", .create).write([1], at: 0)
        try files.rename(path + "/log/a.new", to: path + "/log/a")
        try files.makeDirectory(path + "/assets")
        try files.syncDirectory(path + "/log")
        #expect(try RealFileSystem().list(path).isEmpty)
        #expect(try files.list(path + "/log") == ["a"] && files.exists(path + "/log/a"))
        #expect(try RealFileSystem().list(away).sorted() == ["assets", "log"])
        try files.remove(path + "/log/a")
        try RealFileSystem().rename(path, to: directory.path("Other"))
        try RealFileSystem().rename(away, to: path)
        try files.checkAnchor()
    }

    @Test("A directory that was removed takes nothing, also where another one is")
    func removed() throws {
        #expect(rmdir(path + "/log") == 0 && rmdir(path) == 0)
        #expect(thrownCode { try files.checkAnchor() } == .directoryGone)
        try RealFileSystem().makeDirectory(path)
        #expect(thrownCode { try files.checkAnchor() } == .directoryGone)
        #expect(thrownCode { _ = try files.open(path + "/STORE", .writeOrCreate) } == .notFound)
        #expect(try RealFileSystem().list(path).isEmpty)
    }

    @Test("Links are refused, to files and to directories; the directory itself may be one")
    func links() throws {
        let target = directory.path("target")
        try RealFileSystem().makeDirectory(target)
        symlink(target, path + "/assets")
        symlink(target + "/made", path + "/LOCK")
        #expect(thrownCode { _ = try files.open(path + "/LOCK", .writeOrCreate) } == .inputOutput)
        #expect(thrownCode { try files.makeDirectory(path + "/assets") } == .inputOutput)
        #expect(thrownCode { _ = try files.list(path + "/assets") } == .inputOutput)
        #expect(thrownCode { try files.syncDirectory(path + "/assets") } == .inputOutput)
        #expect(try RealFileSystem().list(target).isEmpty)
        let linked = directory.path("Linked")
        symlink(path, linked)
        let throughLink = try RealFileSystem().anchored(at: linked)
        try throughLink.makeDirectory(linked + "/log")
        #expect(try throughLink.exists(linked + "/log") && throughLink.list(linked + "/log").isEmpty)
    }

    @Test("A slash at the end makes no difference")
    func slash() throws {
        let slashed = try RealFileSystem().anchored(at: path + "/")
        try RealFileSystem().rename(path, to: directory.path("Away"))
        #expect(
            try slashed.list(path + "/").count == 1 && slashed.exists(path + "/log") && slashed.exists(path + "//log"))
    }
}
