import Glibc
import StrataModel
import StrataSystem
import TestSupport
import Testing

@Suite("File systems, the real and the simulated one: names")
struct FileSystemContractTests {
    typealias Kind = FileSystemFixture.Kind

    @Test("Opening obeys its mode", arguments: Kind.allCases)
    func openModes(kind: Kind) throws {
        let fixture = try FileSystemFixture(kind)
        let files = fixture.files
        let missing = fixture.path("missing")
        #expect(thrownCode { _ = try files.open(missing, .read) } == .notFound)
        #expect(thrownCode { _ = try files.open(missing, .write) } == .notFound)
        #expect(try !files.exists(missing))

        try files.open(fixture.path("a"), .create).write([1, 2], at: 0)
        #expect(try files.exists(fixture.path("a")))
        #expect(thrownCode { _ = try files.open(fixture.path("a"), .create) } == .alreadyExists)
        #expect(try files.open(fixture.path("a"), .writeOrCreate).size() == 2)
        #expect(try files.open(fixture.path("a"), .write).read(count: 9, at: 0) == [1, 2])
        #expect(try files.open(fixture.path("b"), .writeOrCreate).size() == 0)
    }

    @Test("A file without a name is whole, new, and in nobody's way", arguments: Kind.allCases)
    func unnamed(kind: Kind) throws {
        let fixture = try FileSystemFixture(kind)
        let path = fixture.path("scratch")
        try fixture.files.open(path, .create).write([9], at: 0)
        let file = try fixture.files.openUnnamed(path)
        #expect(try !fixture.files.exists(path) && file.size() == 0)
        try file.write([1, 2], at: 0)
        let other = try fixture.files.openUnnamed(path)
        #expect(try file.read(count: 9, at: 0) == [1, 2] && other.size() == 0)
    }

    @Test("An error names the path and has the kernel's number", arguments: Kind.allCases)
    func errorContext(kind: Kind) throws {
        let fixture = try FileSystemFixture(kind)
        let path = fixture.path("missing")
        let error = #expect(throws: StrataError.self) { try fixture.files.open(path, .read) }
        #expect(error?.context.path == path)
        #expect(error?.context.errno == ENOENT)
        #expect(error?.context.found == "open: No such file or directory")
    }

    @Test("A name below a missing directory or below a file is not found", arguments: Kind.allCases)
    func missingParents(kind: Kind) throws {
        let fixture = try FileSystemFixture(kind)
        let files = fixture.files
        try fixture.makeFile("file")
        for path in [fixture.path("nowhere/a"), fixture.path("file/a")] {
            #expect(thrownCode { _ = try files.open(path, .create) } == .notFound, "\(path)")
            #expect(thrownCode { _ = try files.open(path, .read) } == .notFound, "\(path)")
            #expect(thrownCode { try files.makeDirectory(path) } == .notFound, "\(path)")
            #expect(try !files.exists(path))
        }
        #expect(thrownCode { _ = try files.list(fixture.path("nowhere")) } == .notFound)
        #expect(thrownCode { _ = try files.list(fixture.path("file")) } == .notFound)
        #expect(thrownCode { try files.syncDirectory(fixture.path("nowhere")) } == .notFound)
        #expect(thrownCode { try files.remove(fixture.path("nowhere/a")) } == .notFound)
        #expect(thrownCode { try files.rename(fixture.path("nowhere/a"), to: fixture.path("b")) } == .notFound)
        #expect(thrownCode { try files.rename(fixture.path("file"), to: fixture.path("nowhere/b")) } == .notFound)
    }

    @Test("Directories are made once, and are not files", arguments: Kind.allCases)
    func directories(kind: Kind) throws {
        let fixture = try FileSystemFixture(kind)
        let files = fixture.files
        try files.makeDirectory(fixture.path("log"))
        try files.makeDirectory(fixture.path("log"))
        #expect(try files.exists(fixture.path("log")))
        #expect(try files.list(fixture.path("log")).isEmpty)
        #expect(thrownCode { _ = try files.open(fixture.path("log"), .write) } == .inputOutput)
        #expect(thrownCode { _ = try files.open(fixture.path("log"), .create) } == .alreadyExists)
        #expect(thrownCode { try files.remove(fixture.path("log")) } == .inputOutput)
        try fixture.makeFile("a")
        #expect(thrownCode { try files.rename(fixture.path("a"), to: fixture.path("log")) } == .inputOutput)
    }

    @Test("A list has the names of one directory alone", arguments: Kind.allCases)
    func lists(kind: Kind) throws {
        let fixture = try FileSystemFixture(kind)
        try fixture.makeFile("one")
        try fixture.makeFile("two")
        try fixture.files.makeDirectory(fixture.path("sub"))
        try fixture.makeFile("sub/three")
        #expect(try fixture.files.list(fixture.directory).sorted() == ["one", "sub", "two"])
        #expect(try fixture.files.list(fixture.directory + "/sub/") == ["three"])
        try fixture.files.remove(fixture.path("one"))
        #expect(try fixture.files.list(fixture.directory).sorted() == ["sub", "two"])
    }

    @Test("Renaming moves a file over an existing one; whoever has that open keeps it", arguments: Kind.allCases)
    func renameOver(kind: Kind) throws {
        let fixture = try FileSystemFixture(kind)
        let old = try fixture.makeFile("target", [1])
        let new = try fixture.makeFile("source", [2])
        try fixture.files.rename(fixture.path("source"), to: fixture.path("target"))
        #expect(try fixture.files.list(fixture.directory) == ["target"])
        #expect(try fixture.content("target") == [2])
        #expect(try old.read(count: 9, at: 0) == [1])
        try new.write([3], at: 1)
        #expect(try fixture.content("target") == [2, 3])
        #expect(thrownCode { try fixture.files.rename(fixture.path("source"), to: fixture.path("x")) } == .notFound)
    }

    @Test("Removing takes the name; whoever has the file open keeps it", arguments: Kind.allCases)
    func remove(kind: Kind) throws {
        let fixture = try FileSystemFixture(kind)
        let file = try fixture.makeFile("a", [1, 2, 3])
        try fixture.files.remove(fixture.path("a"))
        #expect(try !fixture.files.exists(fixture.path("a")))
        #expect(try file.read(count: 9, at: 0) == [1, 2, 3])
        #expect(thrownCode { try fixture.files.remove(fixture.path("a")) } == .notFound)
        #expect(try fixture.makeFile("a").size() == 0)
    }

    @Test("Replacing puts the whole new content in place and leaves no draft", arguments: Kind.allCases)
    func replace(kind: Kind) throws {
        let fixture = try FileSystemFixture(kind)
        try fixture.files.replace(fixture.path("STORE"), in: fixture.directory, with: [1, 2, 3])
        #expect(try fixture.content("STORE") == [1, 2, 3])
        try fixture.makeFile("STORE.new", [9, 9, 9, 9])
        try fixture.files.replace(fixture.path("STORE"), in: fixture.directory, with: [4])
        #expect(try fixture.content("STORE") == [4])
        #expect(try fixture.files.list(fixture.directory) == ["STORE"])
    }

    @Test("Reading all stops at its limit", arguments: Kind.allCases)
    func readAll(kind: Kind) throws {
        let fixture = try FileSystemFixture(kind)
        try fixture.makeFile("a", Array(0..<10))
        #expect(try fixture.files.readAll(fixture.path("a"), atMost: 10) == Array(0..<10))
        #expect(try fixture.files.readAll(fixture.path("a"), atMost: 4) == [0, 1, 2, 3])
    }

    // The superuser may do everything, so the real one is only asked as somebody else.
    @Test("What this user may not do is permissionDenied", arguments: geteuid() == 0 ? [.simulated] : Kind.allCases)
    func permissions(kind: Kind) throws {
        let fixture = try FileSystemFixture(kind)
        try fixture.makeFile("a")
        if let disk = fixture.files as? SimulatedDisk {
            disk.deny(fixture.path("a"))
        } else {
            chmod(fixture.path("a"), 0)
        }
        #expect(thrownCode { _ = try fixture.files.open(fixture.path("a"), .read) } == .permissionDenied)
        #expect(thrownCode { _ = try fixture.files.open(fixture.path("a"), .write) } == .permissionDenied)
        #expect(thrownCode { _ = try fixture.files.open(fixture.path("a"), .writeOrCreate) } == .permissionDenied)
    }
}
